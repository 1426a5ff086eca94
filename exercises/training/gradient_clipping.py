"""Gradient clipping: a step that is too long is shortened, not turned.

The lesson:          learn read gradient_clipping
Your work, checked:  learn check gradient_clipping
"""

import torch


def clip_gradients(grads, max_norm):
    """Scale all gradients by one factor if they are too long together.

    With g_1 ... g_n all numbers of all gradients:

        norm = √(g_1² + ... + g_n²)
        every gradient  ←  gradient · max_norm / norm   if norm > max_norm
                           gradient                     else

    so that the joint norm is at most max_norm afterwards. (A number
    added to the denominator, no larger than torch's 1e-6, will do as well.)

    Arguments
        grads: a list of floating-point tensors of one dtype, of any shapes,
           and of None: a parameter that got no gradient. At least one is a
           tensor. They may be as large as 1e15, or all be 0.
        max_norm: a float above 0.

    Returns
        the tuple (clipped, norm). clipped: a list as long as grads, with
        new tensors of the same shapes and dtype, or the gradients
        themselves where nothing is to be changed; None where None was.
        norm: the joint norm *before* clipping, a float or a tensor of
        shape (). If a gradient holds NaN, so does the norm. Neither grads
        nor a gradient in it is changed.

    Allowed: any tensor arithmetic, norms too.
    Not allowed: a call that does it whole (torch's own clip_grad_norm_ and
    its relatives, renorm, normalize).

    >>> grads = [torch.tensor([3.0, 0.0]), None, torch.tensor([[4.0]])]
    >>> clip_gradients(grads, 1.0)
    ([tensor([0.6000, 0.0000]), None, tensor([[0.8000]])], tensor(5.))
    """
    raise NotImplementedError("clip_gradients: not written yet")
