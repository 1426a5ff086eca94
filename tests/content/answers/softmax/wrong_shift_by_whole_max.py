# wrong: sm-global-max
import torch


def softmax(x, dim=-1):
    x_stable = x - torch.max(x)
    return torch.exp(x_stable) / torch.exp(x_stable).sum(dim, keepdim=True)
