# right: everything in a row, cut apart again
import math

import torch


def clip_gradients(grads, max_norm):
    flat = torch.cat([g.reshape(-1) for g in grads if g is not None])
    norm = flat.pow(2).sum().sqrt().item()
    if norm > max_norm:
        flat = flat * (max_norm / norm)
    out, start = [], 0
    for g in grads:
        if g is None:
            out.append(None)
            continue
        out.append(flat[start : start + g.numel()].view(g.shape))
        start += g.numel()
    return out, norm
