"""The feed-forward network: two thirds of a transformer's numbers.

The lesson:          learn read feed_forward
Your work, checked:  learn check feed_forward
"""

import torch
from torch import nn


class FeedForward(nn.Module):
    """Two linear maps with a bend between, the same at every place.

        forward(x) = gelu(x W_1ᵀ + b_1) W_2ᵀ + b_2

    gelu(z) = z · Φ(z), entry by entry, Φ the distribution of the normal
    numbers: what nn.functional.gelu does by default. (Its tanh form, at
    most 5e-4 away, will do too: no check tells the two apart.) There is no
    norm, no residual sum and no dropout, in training mode neither.

    Arguments of the constructor
        d_model: D, the width of a token.
        d_ff: the width between the two maps, often 4 · D.

    `state_dict()` has exactly these names and shapes, weights laid out
    (out, in) as in nn.Linear, because the checks load numbers of their own:

        w1.weight  (d_ff, D)      w1.bias  (d_ff,)
        w2.weight  (D, d_ff)      w2.bias  (D,)

    What they hold at the start is not judged.

    Arguments of the call, ffn(x)
        x: shape (..., D), floating-point, any number of leading axes, also
           none; on the device of the parameters.

    Returns
        a new tensor of the shape of x. Every token is treated by itself:
        what stands beside it makes no difference. x is not changed;
        gradients flow to x and to all four parameters.

    Allowed: everything, nn.Linear and nn.functional.gelu included.

    >>> ffn = FeedForward(2, 3)
    >>> _ = ffn.load_state_dict({
    ...     "w1.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    ...     "w1.bias": torch.zeros(3), "w2.bias": torch.zeros(2),
    ...     "w2.weight": torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])})
    >>> ffn(torch.tensor([[1.0, 0.5], [-1.0, -0.5]])).detach()
    tensor([[ 0.8413,  1.3998],
            [-0.1587, -0.1002]])
    """

    def __init__(self, d_model, d_ff):
        super().__init__()
        raise NotImplementedError("FeedForward: not written yet")

    def forward(self, x):
        raise NotImplementedError("FeedForward: not written yet")
