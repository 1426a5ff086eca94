# wrong: sm-wrong-normaliser
import torch


def softmax(x, dim=-1):
    p = 2 ** (x - x.max(dim, keepdim=True)[0])
    return p / p.sum(dim, keepdim=True)
