# wrong: sm-dtype
import torch


def softmax(x, dim=-1):
    out = torch.zeros(x.shape)
    out[...] = torch.exp(x - x.amax(dim, keepdim=True))
    out = out / out.sum(dim, keepdim=True)
    return out
