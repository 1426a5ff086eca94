# wrong: sm-dim-hard-coded
import torch


def softmax(x, dim=-1):
    z = x - x.max(0).values
    return z.exp() / z.exp().sum(0)
