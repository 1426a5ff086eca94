# wrong: ?
import torch


def softmax(x, dim=-1, temperature=0.7):
    z = x / temperature
    e = torch.exp(z - z.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
