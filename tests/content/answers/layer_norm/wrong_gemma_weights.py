# wrong: ln-one-plus-gamma
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    d = x - x.mean(-1, keepdim=True)
    x_hat = d / (d.pow(2).mean(-1, keepdim=True) + eps).sqrt()
    return x_hat * weight + bias


def rms_norm(x, weight, eps=1e-5):
    out = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return out * (1.0 + weight)
