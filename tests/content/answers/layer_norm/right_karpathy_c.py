# right: llm.c's loops over tokens, with rstd
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    out = []
    for row in x.reshape(-1, D):
        m = row.sum() / D
        shift = row - m
        v = (shift * shift).sum() / D
        s = (v + eps) ** -0.5
        out.append(s * shift * weight + bias)
    return torch.stack(out).reshape(x.shape)


def rms_norm(x, weight, eps=1e-5):
    rows = [r / torch.sqrt((r * r).sum() / r.numel() + eps) * weight for r in x.reshape(-1, x.shape[-1])]
    return torch.stack(rows).reshape(x.shape)
