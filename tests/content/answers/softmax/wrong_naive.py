# wrong: sm-overflow
import torch


def softmax(x, dim=-1):
    """Softmax, following the formula."""
    exp_x = torch.e**x
    return exp_x / exp_x.sum(dim=dim, keepdim=True)
