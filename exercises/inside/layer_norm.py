"""Normalisation: bring every token to one scale, by itself.

The lesson:          learn read layer_norm
Your work, checked:  learn check layer_norm
"""

import torch


def layer_norm(x, weight, bias, eps=1e-5):
    """Take each token's mean off, divide by its deviation, rescale.

    For one token, that is for the D numbers x_1 ... x_D on the last axis:

        mean = (x_1 + ... + x_D) / D
        var  = ((x_1 − mean)² + ... + (x_D − mean)²) / D
        y_i  = weight_i · (x_i − mean) / √(var + eps)  +  bias_i

    The variance divides by D, not by D − 1, and eps stands inside the root.

    Arguments
        x: float32 or float64, of shape (..., D): any number of leading
           axes, also none. Tokens may be far from 0 (near 1000) and their
           spread may be tiny (1e-3 and below).
        weight, bias: shape (D,), dtype and device of x: γ and β.
        eps: keeps the root away from 0; it is a part of the formula.

    Returns
        a new tensor with the shape, dtype and device of x. A token whose
        entries are all equal becomes `bias`. No argument is changed;
        gradients flow to x, weight and bias.

    Allowed: mean, var, sqrt, rsqrt and any tensor arithmetic.
    Not allowed: a call that does it whole (layer_norm, rms_norm,
    group_norm, batch_norm, instance_norm, local_response_norm and their
    modules).

    >>> x = torch.tensor([1.0, 2.0, 3.0, 6.0])
    >>> layer_norm(x, torch.ones(4), torch.zeros(4))
    tensor([-1.0690, -0.5345,  0.0000,  1.6036])
    >>> layer_norm(x, torch.full((4,), 2.0), torch.full((4,), 5.0))
    tensor([2.8619, 3.9310, 5.0000, 8.2071])
    """
    raise NotImplementedError("layer_norm: not written yet")


def rms_norm(x, weight, eps=1e-5):
    """Divide each token by the root of its mean square, and rescale.

        y_i = weight_i · x_i / √((x_1² + ... + x_D²) / D + eps)

    The mean stays where it is, and there is no bias.

    Arguments
        x: float32 or float64, of shape (..., D), as for `layer_norm`.
        weight: shape (D,), dtype and device of x: γ.
        eps: inside the root, as for `layer_norm`.

    Returns
        a new tensor with the shape, dtype and device of x. No argument is
        changed; gradients flow to x and weight.

    Allowed and not allowed: as for `layer_norm`.

    >>> rms_norm(torch.tensor([1.0, 2.0, 3.0, 6.0]), torch.ones(4))
    tensor([0.2828, 0.5657, 0.8485, 1.6971])
    """
    raise NotImplementedError("rms_norm: not written yet")
