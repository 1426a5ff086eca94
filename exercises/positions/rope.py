"""Rotary positions: queries and keys are turned, by angles that grow.

The lesson:          learn read rope
Your work, checked:  learn check rope
"""

import torch


def apply_rope(x, positions, base=10000.0):
    """Turn each pair by an angle that grows with the position.

    Pair i = 0, 1, ..., d_head/2 − 1 is made of the neighbours 2i and
    2i + 1. At position p it is turned by the angle

        a = p · base^(−2i/d_head)

        y[2i]     =  x[2i] · cos(a)  −  x[2i + 1] · sin(a)
        y[2i + 1] =  x[2i] · sin(a)  +  x[2i + 1] · cos(a)

    Arguments
        x: queries or keys, (..., T, d_head): of any number of axes in
           front, as (B, H, T, d_head), or none. float32 or float64,
           contiguous or not (a slice, say). d_head is even, at least 2.
        positions: an int64 tensor (T,), the positions of the T tokens, at
           least 0: in any order, also twice the same; there is no largest.
        base: a float above 1.

    Returns
        a new tensor with the shape, dtype and device of x. Row t of every
        text and head is turned by positions[t]. x and positions are not
        changed; gradients flow to x. For x in float64 the angles are
        float64, too. (In float32 angles are rounded: at positions of 1000
        an error of 1e-3 is no mistake.)

    Allowed: any tensor arithmetic, complex numbers too.

    >>> x = torch.tensor([[1.0, 0.0, 1.0, 0.0]])
    >>> apply_rope(x, torch.tensor([3]))
    tensor([[-0.9900,  0.1411,  0.9996,  0.0300]])
    """
    raise NotImplementedError("apply_rope: not written yet")
