# wrong: ?
import torch


def softmax(x, dim=-1):
    out = []
    for row in x:
        e = torch.exp(row - row.max())
        out.append(e / e.sum())
    return torch.stack(out)
