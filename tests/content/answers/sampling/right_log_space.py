# right: log-probabilities, and a comparison of all pairs in place of sorting
import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    z = torch.log_softmax(logits / temperature, -1)
    above = z.unsqueeze(1) > z.unsqueeze(2)  # (B, V, V): is j likelier than i?
    if top_k is not None:
        z = torch.log_softmax(torch.where(above.sum(-1) < top_k, z, -torch.inf), -1)
    if top_p is not None:
        likelier = (above * z.exp().unsqueeze(1)).sum(-1)
        z = torch.log_softmax(torch.where(likelier < top_p, z, -torch.inf), -1)
    return z.exp()


def sample_token(probs, u):
    starts = probs.cumsum(-1) - probs
    inside = (starts <= u[:, None]) & (probs.cumsum(-1) > u[:, None])
    return torch.stack([torch.nonzero(row).flatten()[0] for row in inside])
