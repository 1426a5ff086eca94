# right: a generator turned into a list
import torch


def residual_stream(x, branches, norms, norm_first=True):
    def steps():
        h = x
        yield h
        for f, n in zip(branches, norms):
            h = h + f(n(h)) if norm_first else n(h + f(h))
            yield h

    return list(steps())
