# right: a module as in Llama's code, called by the function
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, weight, eps):
        super().__init__()
        self.eps = eps
        self.weight = weight

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        return self._norm(x).type_as(x) * self.weight


def rms_norm(x, weight, eps=1e-5):
    return RMSNorm(weight, eps)(x)


def layer_norm(x, weight, bias, eps=1e-5):
    return rms_norm(x - x.mean(dim=-1, keepdim=True), weight, eps) + bias
