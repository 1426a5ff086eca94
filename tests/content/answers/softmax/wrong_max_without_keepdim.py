# wrong: sm-no-keepdim
import torch


def softmax(x, dim=-1):
    m = x.max(dim)[0]
    e = torch.exp(x - m)
    return e / e.sum(dim, keepdim=True)
