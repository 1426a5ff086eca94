# right: the mean taken off by a matrix, in float64 inside
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    d = x.size(-1)
    eye = torch.eye(d, dtype=torch.float64, device=x.device)
    centre = eye - torch.full_like(eye, 1 / d)
    z = x.double() @ centre
    z = z / (z.square().mean(-1, keepdim=True) + eps).sqrt()
    return (z * weight + bias).to(x.dtype)


def rms_norm(x, weight, eps=1e-5):
    z = x.double()
    return (weight * z / (z.square().mean(-1, keepdim=True) + eps).sqrt()).to(x.dtype)
