# wrong: sm-overflow
import torch


def softmax(x, dim=-1):
    e = x.exp()
    return e / (e.sum(dim=dim, keepdim=True) + 1e-8)
