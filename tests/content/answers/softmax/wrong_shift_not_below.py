# wrong: sm-shift-numerator-only
import torch


def softmax(x, dim=-1):
    m = torch.amax(x, dim=dim, keepdim=True)
    log_sum = torch.log(torch.exp(x).sum(dim=dim, keepdim=True))
    return torch.exp(x - m - log_sum)
