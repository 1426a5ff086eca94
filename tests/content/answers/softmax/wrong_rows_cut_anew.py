# wrong: sm-axis-moved
import torch


def softmax(x, dim=-1):
    table = x.reshape(-1, x.size(dim))
    top, _ = table.max(dim=1, keepdim=True)
    e = torch.exp(table - top)
    return (e / e.sum(1, keepdim=True)).reshape(x.size())
