# wrong: bl-residual-from-norm
import torch


def residual_stream(x, branches, norms, norm_first=True):
    stream = [x]
    for branch, norm in zip(branches, norms):
        if norm_first:
            x = norm(x)
            x = x + branch(x)
        else:
            x = norm(x + branch(x))
        stream.append(x)
    return stream
