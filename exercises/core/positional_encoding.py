"""Sinusoidal positional encoding: a vector for each place in the sequence.

The lesson:          learn read positional_encoding
Your work, checked:  learn check positional_encoding
Your file may import torch, numpy and Python's standard library.
"""

import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    """Give every position its vector of sines and cosines.

    For position p = 0, 1, ..., seq_len - 1
    and pair     i = 0, 1, ..., d_model/2 - 1:

        column 2i      is  sin(p / 10000^(2i/d_model))
        column 2i + 1  is  cos(p / 10000^(2i/d_model))

    Both columns of a pair have the same frequency, and sines and cosines
    alternate: sin, cos, sin, cos, ...

    Arguments
        seq_len: the number of positions T, an int, at least 1; there is no
           largest.
        d_model: the width D of the embedding, an even int, at least 2.

    Returns
        a float32 tensor of shape (T, D); row p belongs to position p, and
        positions start at 0. Nothing in it is learned: it is not
        an nn.Parameter.

    Allowed: everything in torch. Compute the angles in float32 or better,
    and make the tensor where torch makes tensors by default: name no
    device.

    >>> sinusoidal_positional_encoding(2, 4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    >>> sinusoidal_positional_encoding(4, 6)[3]
    tensor([ 0.1411, -0.9900,  0.1388,  0.9903,  0.0065,  1.0000])
    """
    raise NotImplementedError(
        "sinusoidal_positional_encoding: not written yet",
    )
