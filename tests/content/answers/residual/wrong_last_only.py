# wrong: rs-last-only
import torch


def residual_stream(x, branches, norms, norm_first=True):
    for branch, norm in zip(branches, norms):
        x = x + branch(norm(x)) if norm_first else norm(x + branch(x))
    return x
