# wrong: gn-topp-not-unsorted
import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        kth = torch.sort(logits, dim=-1, descending=True)[0][:, min(top_k, logits.shape[-1]) - 1 : min(top_k, logits.shape[-1])]
        logits = torch.where(logits >= kth, logits, torch.tensor(float("-inf"), dtype=logits.dtype))
    probs = torch.softmax(logits, dim=-1)
    if top_p is not None:
        probs, _ = torch.sort(probs, dim=-1, descending=True)
        total = torch.cumsum(probs, dim=-1)
        probs[total - probs >= top_p] = 0.0
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return probs



def sample_token(probs, u):
    cdf = torch.cumsum(probs, dim=-1)
    return torch.searchsorted(cdf, u[:, None], right=True).squeeze(-1).clamp(max=probs.shape[-1] - 1)
