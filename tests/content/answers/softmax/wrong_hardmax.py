# wrong: ?
import torch


def softmax(x, dim=-1):
    return (x == x.amax(dim, keepdim=True)).to(x.dtype)
