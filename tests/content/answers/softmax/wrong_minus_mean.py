# wrong: sm-shift-min-or-mean
import torch


def softmax(x, dim=-1):
    centred = x - x.mean(dim, keepdim=True)
    e = torch.exp(centred)
    return e / e.sum(dim, keepdim=True)
