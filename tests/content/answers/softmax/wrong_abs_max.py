# wrong: sm-shift-absolute
import torch


def softmax(x, dim=-1):
    c = x.abs().amax(dim, keepdim=True)
    e = torch.exp(x - c)
    return e / e.sum(dim, keepdim=True)
