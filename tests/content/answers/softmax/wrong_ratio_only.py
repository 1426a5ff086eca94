# wrong: sm-no-exp
import torch


def softmax(x, dim=-1):
    total = torch.sum(x, dim=dim, keepdim=True)
    return torch.true_divide(x, total)
