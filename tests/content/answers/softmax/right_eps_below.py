# right: adds a tiny number to the denominator out of habit
import torch

EPS = 1e-12


def softmax(x, dim=-1):
    z = torch.exp(x - x.max(dim, True)[0])
    return z / (z.sum(dim, True) + EPS)
