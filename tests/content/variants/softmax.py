"""Lines that people write in `softmax` in place of the reference's, with the mistake that each makes."""

import torch
from torch.nn import functional as F  # noqa: F401, N812

INF = float("inf")
SMALL = 1e-7


def to_four_decimals(tensor):
    return torch.tensor([float(f"{value:.4f}") for value in tensor.flatten()], dtype=tensor.dtype).view(tensor.shape)


# fmt: off
WRONG = {
    "softmax": [
        ("sm-never-zero", {"give": "(powers / total).clamp(min=1e-7)"}),
        ("sm-never-zero", {"give": "(powers + SMALL) / (powers + SMALL).sum(dim, keepdim=True)"}),
        ("sm-never-zero", {"power": "torch.exp(shifted).clamp_min(1e-6)"}),
        ("sm-never-zero", {"result": "value + 1e-9"}),
        ("sm-rounded", {"result": "value.round(decimals=4)"}),
        ("sm-rounded", {"result": "torch.round(value * 1e4) / 1e4"}),
        ("sm-rounded", {"result": "torch.round(value, decimals=3)"}),
        ("sm-rounded, sm-detached", {"result": "to_four_decimals(value)"}),
        ("sm-z-scores", {"shift": "(x - x.mean(dim, keepdim=True)) / x.std(dim, keepdim=True)"}),
        ("sm-z-scores", {
            "take_x": "(x - x.mean(dim, keepdim=True)) / (x.std(dim, keepdim=True, correction=0) + 1e-8)"}),
        ("sm-sigmoid", {"version": "x.sigmoid() / x.sigmoid().sum(dim, keepdim=True)"}),
        ("sm-sigmoid", {"version": "F.normalize(torch.sigmoid(x), p=1.0, dim=dim)"}),
        ("sm-view", {"take_x": "x.view(x.numel()).view(x.shape)"}),
        ("sm-view", {"take_x": "x.view(-1, x.size(-1)).view(x.shape)"}),
        ("sm-half", {"take_x": "x.masked_fill(x == -INF, -1e9)"}),
        ("sm-half", {"take_x": "x.clamp(min=-1e5)"}),
    ],
}
# fmt: on
