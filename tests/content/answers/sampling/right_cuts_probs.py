# right: probabilities are cut, and divided by their sum each time
import torch


def normalise(p):
    return p / p.sum(dim=1, keepdim=True)


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits / temperature, dim=1)
    V = p.shape[1]
    if top_k is not None and top_k < V:
        keep = torch.zeros_like(p)
        keep.scatter_(1, p.topk(top_k, dim=1).indices, 1)
        p = normalise(p * keep)
    if top_p is not None:
        rank = p.argsort(dim=1, descending=True).argsort(dim=1)
        s = p.sort(dim=1, descending=True).values
        count = (s.cumsum(1) < top_p).sum(dim=1, keepdim=True) + 1
        p = normalise(p * (rank < count))
    return p


def sample_token(probs, u):
    B, V = probs.shape
    upper = torch.tril(torch.ones(V, V, dtype=probs.dtype, device=probs.device)) @ probs.T
    return (upper <= u).sum(dim=0).clamp(max=V - 1)
