# wrong: gn-topp-before-topk
import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    probs = torch.softmax(logits / temperature, dim=-1)
    ranked, ids = probs.sort(dim=-1, descending=True)
    keep = torch.ones_like(ranked, dtype=torch.bool)
    if top_k is not None:
        keep[:, top_k:] = False
    if top_p is not None:
        keep &= ranked.cumsum(dim=-1) - ranked < top_p
    ranked = ranked * keep
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return ranked.gather(-1, ids.argsort(dim=-1))



def sample_token(probs, u):
    cdf = torch.cumsum(probs, dim=-1)
    return torch.searchsorted(cdf, u[:, None], right=True).squeeze(-1).clamp(max=probs.shape[-1] - 1)
