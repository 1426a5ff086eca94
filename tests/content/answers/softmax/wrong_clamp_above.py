# wrong: sm-clamp
import torch


def softmax(x, dim=-1):
    e = torch.exp(torch.clamp(x, max=80.0))
    return e / e.sum(dim, keepdim=True)
