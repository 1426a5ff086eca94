# wrong: rs-scaled, rs-first-missing
import torch


def residual_stream(x, branches, norms, norm_first=True):
    stream = []
    for branch, norm in zip(branches, norms):
        if norm_first:
            x = (x + branch(norm(x))) / 2**0.5
        else:
            x = norm((x + branch(x)) * 0.5**0.5)
        stream.append(x)
    return stream
