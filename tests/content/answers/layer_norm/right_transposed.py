# right: the features brought to the front, and back
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    t = x.movedim(-1, 0)
    v, m = torch.var_mean(t, dim=0, correction=0)
    t = (t - m) / (v + eps).sqrt()
    return t.movedim(0, -1) * weight + bias


def rms_norm(x, weight, eps=1e-5):
    rms = torch.linalg.vector_norm(x, dim=-1, keepdim=True).square().div(x.size(-1)).add(eps).sqrt()
    return (x / rms).mul(weight)
