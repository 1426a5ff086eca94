# wrong: sm-dtype
import torch

torch.set_default_dtype(torch.float64)


def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    ones = torch.ones(e.shape)
    return e / (e * ones).sum(dim, keepdim=True)
