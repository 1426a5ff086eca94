# wrong: ?
import torch


def residual_stream(x, branches, norms, norm_first=True):
    stream = [x]
    for branch, norm in zip(branches, norms):
        x = x + branch(norm(x)).relu() if norm_first else norm(x + branch(x).relu())
        stream.append(x)
    return stream
