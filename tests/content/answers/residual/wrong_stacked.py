# wrong: rs-concatenated
import torch


def residual_stream(x, branches, norms, norm_first=True):
    stream = [x]
    for branch, norm in zip(branches, norms):
        x = x + branch(norm(x)) if norm_first else norm(x + branch(x))
        stream.append(x)
    return torch.stack(stream)
