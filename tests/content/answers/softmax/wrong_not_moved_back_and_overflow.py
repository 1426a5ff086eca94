# wrong: sm-axis-moved, sm-overflow
import torch


def softmax(x, dim=-1):
    rows = torch.movedim(x, dim, x.dim() - 1)
    e = torch.exp(rows)
    return e / torch.sum(e, dim=-1, keepdim=True)
