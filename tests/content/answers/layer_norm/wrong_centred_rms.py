# wrong: ln-centred
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    x = x - x.mean(-1, keepdim=True)
    return weight * x / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) + bias


def rms_norm(x, weight, eps=1e-5):
    centered = x - x.mean(-1, keepdim=True)
    return weight * centered / torch.sqrt((centered**2).mean(-1, keepdim=True) + eps)
