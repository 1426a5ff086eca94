# wrong: ?
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    c = x - x.median(-1, keepdim=True).values
    return weight * c / torch.sqrt(c.square().mean(-1, keepdim=True) + eps) + bias


def rms_norm(x, weight, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight
