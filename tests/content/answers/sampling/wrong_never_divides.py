# wrong: gn-no-renormalise
import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits / temperature, dim=-1)
    if top_k is not None:
        values, ids = p.topk(min(top_k, p.size(-1)))
        p = torch.zeros_like(p).scatter(-1, ids, values / values.sum(-1, keepdim=True))
    if top_p is not None:
        order = p.argsort(dim=-1, descending=True)
        for b in range(p.size(0)):
            total = 0.0
            for i in order[b].tolist():
                share = p[b, i].item()
                if total >= top_p:
                    p[b, i] = 0.0
                total += share
    return p



def sample_token(probs, u):
    cdf = torch.cumsum(probs, dim=-1)
    return torch.searchsorted(cdf, u[:, None], right=True).squeeze(-1).clamp(max=probs.shape[-1] - 1)
