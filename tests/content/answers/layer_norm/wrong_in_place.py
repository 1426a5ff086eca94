# wrong: ln-in-place
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    x -= x.mean(-1, keepdim=True)
    var = x.square().mean(-1, keepdim=True)
    return x / torch.sqrt(var + eps) * weight + bias


def rms_norm(x, weight, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight
