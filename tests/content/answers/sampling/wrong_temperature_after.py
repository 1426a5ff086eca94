# wrong: gn-temperature-last
import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    if top_k is not None:
        least = logits.topk(min(top_k, logits.size(-1)), dim=-1).values[:, -1].unsqueeze(1)
        logits = logits.masked_fill(logits < least, float("-inf"))
    if top_p is not None:
        p = logits.softmax(-1)
        s, ids = p.sort(-1, descending=True)
        drop = (s.cumsum(-1) - s) >= top_p
        logits = logits.masked_fill(torch.zeros_like(drop).scatter(-1, ids, drop), float("-inf"))
    return (logits / temperature).softmax(-1)



def sample_token(probs, u):
    cdf = torch.cumsum(probs, dim=-1)
    return torch.searchsorted(cdf, u[:, None], right=True).squeeze(-1).clamp(max=probs.shape[-1] - 1)
