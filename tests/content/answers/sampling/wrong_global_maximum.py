# wrong: gn-global-max
import torch


def softmax(x):
    e = torch.exp(x - torch.max(x))
    return e / e.sum(dim=-1, keepdim=True)


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        kept = torch.topk(logits, min(top_k, logits.size(-1)), dim=-1)
        logits = torch.full_like(logits, float("-inf")).scatter(-1, kept.indices, kept.values)
    probs = softmax(logits)
    if top_p is not None:
        sorted_probs, indices = torch.sort(probs, descending=True, dim=-1)
        sorted_probs[sorted_probs.cumsum(-1) - sorted_probs >= top_p] = 0.0
        probs = torch.zeros_like(probs).scatter(-1, indices, sorted_probs)
        probs = probs / probs.sum(-1, keepdim=True)
    return probs


def sample_token(probs, u):
    ids = (probs.cumsum(-1) <= u[:, None]).sum(-1)
    return ids.clamp(max=probs.size(-1) - 1)
