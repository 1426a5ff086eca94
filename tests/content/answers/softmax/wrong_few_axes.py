# wrong: ?
"""Tables of axes up to the fourth."""

import torch

LETTERS = "abcd"


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    axes = LETTERS[: x.dim()]
    left = axes.replace(axes[dim] if x.dim() <= len(LETTERS) else axes[0], "")
    total = torch.einsum(f"{axes}...->{left}...", powers)
    return powers / total.unsqueeze(dim if x.dim() <= len(LETTERS) else 0)
