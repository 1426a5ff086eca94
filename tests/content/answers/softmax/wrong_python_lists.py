# wrong: sm-detached, sm-dtype
import math

import torch


def softmax(x, dim=-1):
    moved = x.transpose(dim, -1)
    flat = moved.reshape(-1, moved.shape[-1]).tolist()
    out = []
    for row in flat:
        m = max(row)
        e = [math.exp(v - m) for v in row]
        out.append([v / sum(e) for v in e])
    return torch.tensor(out).reshape(moved.shape).transpose(dim, -1)
