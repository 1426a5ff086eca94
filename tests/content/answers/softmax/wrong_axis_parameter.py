# wrong: wrong-signature
import torch


def softmax(x, axis=-1):
    e = torch.exp(x - x.amax(axis, keepdim=True))
    return e / e.sum(axis, keepdim=True)
