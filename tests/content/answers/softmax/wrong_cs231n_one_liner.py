# wrong: sm-overflow, sm-dim-ignored
import torch


def softmax(x, dim=-1):
    return torch.exp(x) / torch.sum(torch.exp(x), dim=-1, keepdim=True)
