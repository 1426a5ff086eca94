"""Gradient clipping, the reference: one norm, one factor."""

import torch


def clip_gradients(grads, max_norm):
    """Scale all gradients by one factor if they are too long together."""
    kept = [grad for grad in grads if grad is not None]  # step: kept
    squares = [grad.square().sum() for grad in kept]  # step: squares
    total = torch.stack(squares).sum()  # step: total
    norm = torch.sqrt(total)  # of all numbers together  # step: norm
    factor = max_norm / norm  # step: factor
    factor = torch.clamp(factor, max=1.0)  # never longer  # step: limit
    # every gradient keeps its shape
    clipped = [None if grad is None else grad * factor for grad in grads]  # step: scale
    return clipped, norm  # step: give
