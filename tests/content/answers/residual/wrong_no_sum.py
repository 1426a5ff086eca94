# wrong: bl-no-residual
import torch


def residual_stream(x, branches, norms, norm_first=True):
    stream = [x]
    for branch, norm in zip(branches, norms):
        x = branch(norm(x)) if norm_first else norm(branch(x))
        stream.append(x)
    return stream
