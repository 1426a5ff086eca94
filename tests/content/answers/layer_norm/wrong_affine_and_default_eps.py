# wrong: ln-affine-order, ln-other-eps
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
    return ((x - mean) / torch.sqrt(var + eps) + bias) * weight


def rms_norm(x, weight, eps=1e-5):
    norm = x.pow(2).mean(-1, keepdim=True).add(1e-6).sqrt()
    return x / norm * weight
