# wrong: sm-global-max, sm-sum-all
import torch


def softmax(x, dim=-1):
    e = torch.exp(x - x.max())
    return e / e.sum()
