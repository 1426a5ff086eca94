# wrong: bl-other-placement
import torch


def residual_stream(x, branches, norms, norm_first=True):
    stream = [x]
    for branch, norm in zip(branches, norms):
        x = x + branch(norm(x))
        stream.append(x)
    return stream
