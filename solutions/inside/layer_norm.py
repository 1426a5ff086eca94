"""Normalisation, the reference: statistics over the last axis alone."""

import torch


def layer_norm(x, weight, bias, eps=1e-5):
    """Take each token's mean off, divide by its deviation, rescale."""
    mean = x.mean(dim=-1, keepdim=True)  # (..., 1)  # step: mean
    centred = x - mean  # (..., D)  # step: centre
    var = centred.square().mean(dim=-1, keepdim=True)  # (..., 1)  # step: var
    scale = torch.sqrt(var + eps)  # (..., 1)  # step: root
    y = centred / scale  # (..., D)  # step: divide
    return weight * y + bias  # (D,) broadcasts over tokens  # step: affine


def rms_norm(x, weight, eps=1e-5):
    """Divide each token by the root of its mean square, and rescale."""
    square = x.square().mean(dim=-1, keepdim=True)  # (..., 1)  # step: square
    size = torch.sqrt(square + eps)  # (..., 1)  # step: size
    y = x / size  # (..., D)  # step: shrink
    return weight * y  # step: rescale
