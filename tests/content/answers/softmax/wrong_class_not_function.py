# wrong: ?
import torch


class softmax:
    def __init__(self, dim=-1):
        self.dim = dim

    def __call__(self, x):
        e = torch.exp(x - x.amax(self.dim, keepdim=True))
        return e / e.sum(self.dim, keepdim=True)
