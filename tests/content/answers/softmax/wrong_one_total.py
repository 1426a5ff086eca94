# wrong: sm-sum-all
import torch


def softmax(x, dim=-1):
    m = x.max(dim=dim, keepdim=True).values
    numerator = torch.exp(x - m)
    denominator = torch.exp(x - m).sum()
    return numerator / denominator
