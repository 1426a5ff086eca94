# wrong: wrong-signature
import torch


def softmax(dim, x):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
