# wrong: bl-in-place
import torch


def residual_stream(x, branches, norms, norm_first=True):
    stream = [x]
    for branch, norm in zip(branches, norms):
        if norm_first:
            x += branch(norm(x))
        else:
            x += branch(x)
            x = norm(x)
        stream.append(x)
    return stream
