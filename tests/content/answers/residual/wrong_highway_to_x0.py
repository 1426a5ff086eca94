# wrong: rs-adds-input
import torch


def residual_stream(x, branches, norms, norm_first=True):
    stream, h = [x], x
    for branch, norm in zip(branches, norms):
        h = x + branch(norm(h)) if norm_first else norm(x + branch(h))
        stream.append(h)
    return stream
