# wrong: sm-dim-ignored
import torch


def softmax(x, dim=-1):
    biggest, _ = torch.max(x, -1)
    e = torch.exp(x - biggest.unsqueeze(-1))
    return e / torch.einsum("...i->...", e).unsqueeze(-1)
