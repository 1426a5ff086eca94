# wrong: sm-in-place
import torch


def softmax(x, dim=-1):
    y = x.clone()
    y -= y.amax(dim=dim, keepdim=True)
    e = y.exp()
    return e / e.sum(dim=dim, keepdim=True)
