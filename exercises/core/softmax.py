"""Softmax: turn scores into weights.

The lesson:          learn read softmax
Your work, checked:  learn check softmax
Your file may import torch, numpy and Python's standard library.
"""

import torch


def softmax(x, dim=-1):
    """Turn each slice of `x` along `dim` into weights that sum to 1.

    For a slice with entries x_1 ... x_n:

        softmax(x)_i = exp(x_i) / (exp(x_1) + ... + exp(x_n))

    Arguments
        x: floating-point tensor (float16 and bfloat16 too) of any shape
           with at least one axis, contiguous or a slice of a larger tensor.
           Entries may be as large as ±1000, rows may differ by thousands,
           and single entries may be -inf (their weight is exactly 0). Every
           slice holds a finite entry.
        dim: the axis that is normalised, counted from the front or
           (negative) from the back. Every other axis is left alone.

    Returns
        a new tensor with the shape, dtype and device of `x`: no NaN, every
        entry between 0 and 1, every slice along `dim` sums to 1. `x` is not
        changed, and gradients flow through the result.

    Allowed: any tensor arithmetic, exp, max, amax, sum, logsumexp.
    Not allowed: a call that does it whole (torch.softmax, log_softmax,
    softmin, or their forms in torch.nn.functional and torch.special).

    >>> softmax(torch.tensor([0.0, 1.0, 2.0]))
    tensor([0.0900, 0.2447, 0.6652])
    >>> softmax(torch.tensor([[1000.0, 0.0], [1000.0, 0.0]]), dim=0)
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    raise NotImplementedError("softmax: not written yet")
