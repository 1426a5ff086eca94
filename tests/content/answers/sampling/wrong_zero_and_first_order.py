# wrong: gn-fill-zero, gn-topp-batch-order
import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    scaled = logits / temperature
    if top_k is not None:
        k = min(top_k, scaled.size(-1))
        bound = scaled.topk(k).values[:, -1:]
        scaled = scaled.masked_fill(scaled < bound, 0.0)
    probs = scaled.softmax(dim=-1)
    if top_p is not None:
        ranked, order = probs.sort(dim=-1, descending=True)
        ranked = ranked * (ranked.cumsum(-1) - ranked < top_p)
        back = order[:1].expand_as(order)
        probs = torch.zeros_like(probs).scatter(-1, back, ranked)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return probs


def sample_token(probs, u):
    return (probs.cumsum(-1) <= u[:, None]).sum(-1)
