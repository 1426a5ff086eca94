# right: by number, into a list made beforehand
import torch


def residual_stream(x, branches, norms, norm_first=True):
    out = [None] * (len(branches) + 1)
    out[0] = x.clone()
    for i in range(len(branches)):
        if norm_first:
            y = norms[i](out[i])
            out[i + 1] = branches[i](y) + out[i]
        else:
            out[i + 1] = norms[i](torch.add(out[i], branches[i](out[i])))
    return out
