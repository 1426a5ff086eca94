# wrong: sm-dim-ignored, sm-dtype
import torch


def softmax(x, dim=-1):
    x = x.to(torch.float64)
    x = x - x.max(axis=-1, keepdims=True).values
    return x.exp() / x.exp().sum(axis=-1, keepdims=True)
