# wrong: ln-e-of-square
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    m = x.mean(dim=-1, keepdim=True)
    m2 = (x * x).mean(dim=-1, keepdim=True)
    rstd = torch.rsqrt(m2 - m * m + eps)
    return (x - m) * rstd * weight + bias


def rms_norm(x, weight, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight
