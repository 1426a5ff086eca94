# wrong: ln-unit-length
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    c = x - x.mean(-1, keepdim=True)
    return weight * c / torch.sqrt(c.square().mean(-1, keepdim=True) + eps) + bias


def rms_norm(x, weight, eps=1e-5):
    return weight * x / torch.sqrt((x * x).sum(-1, keepdim=True) + eps)
