# wrong: sm-overflow, sm-no-keepdim
import torch


def softmax(x, dim=-1):
    exps = torch.exp(x)
    return exps / exps.sum(dim)
