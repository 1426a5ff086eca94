# wrong: gn-temperature-on-probs
import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    z = logits
    order = z.argsort(dim=-1, descending=True)
    rank = order.argsort(dim=-1)
    p = z.softmax(-1) / temperature
    if top_k is not None:
        p = p * (rank < top_k)
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        sorted_p = p.gather(-1, order)
        before = torch.nn.functional.pad(sorted_p.cumsum(-1), (1, 0))[:, :-1]
        keep = (before < top_p).gather(-1, rank)
        p = p * keep
        p = p / p.sum(-1, keepdim=True)
    return p


def sample_token(probs, u):
    below = probs.cumsum(1) <= u.unsqueeze(1)
    return below.sum(1).clamp(max=probs.size(1) - 1)
