"""AdamW: two running means for each number, and a step of the same size.

The lesson:          learn read adamw
Your work, checked:  learn check adamw
"""

import torch


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8,
               weight_decay=0.01):  # fmt: skip
    """Take step number `t` of AdamW, and return what is to be kept.

    For every entry by itself, with (β1, β2) = betas and λ = weight_decay:

        m     ←  β1 · m + (1 − β1) · grad
        v     ←  β2 · v + (1 − β2) · grad²
        m̂     =  m / (1 − β1ᵗ)
        v̂     =  v / (1 − β2ᵗ)
        param ←  param − lr · λ · param − lr · m̂ / (√v̂ + eps)

    The decay uses the parameter as it comes in. (To decay before or after
    the step makes a difference of lr² · λ, far below what is checked.) eps
    is added after the root is taken, and after the corrections.

    Arguments
        param, grad, m, v: floating-point tensors of one shape, any shape;
           no entry of v is negative.
        t: the number of this step, an int that counts from 1.
        lr, betas, eps, weight_decay: as above.

    Returns
        the tuple (param, m, v): three new tensors with the shape, dtype and
        device of param; m and v as they are before the corrections, to be
        handed to step t + 1. No argument is changed. Gradients need not
        flow.

    Allowed: any tensor arithmetic. Not allowed: torch.optim.

    >>> w, g, zero = torch.tensor(1.0), torch.tensor(0.5), torch.tensor(0.0)
    >>> adamw_step(w, g, zero, zero, 1, lr=0.01)
    (tensor(0.9899), tensor(0.0500), tensor(0.0003))
    """
    raise NotImplementedError("adamw_step: not written yet")
