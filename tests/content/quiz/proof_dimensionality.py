"""The questions on width and rank, answered by torch."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from grader.quiz.model import Question


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def printed(code: str, **names: Any) -> list[str]:
    """What the code prints, as if it stood in a terminal."""
    lines: list[str] = []
    exec(code, {"torch": torch, "nn": nn, "print": lambda *parts: lines.append(" ".join(map(str, parts))), **names})
    return lines


def chain_rank(question: Question) -> int:
    sizes = [question.values[name] for name in ("first", "middle", "last")]
    x = drawn(100, sizes[0])
    for number, (before, after) in enumerate(pairwise(sizes), 1):
        x = x @ drawn(before, after, seed=number)
    return int(torch.linalg.matrix_rank(x))


def softmax_rank(question: Question) -> str:
    return printed(question.code)[0]


def linear_maps(question: Question) -> list[int]:
    """Tries the equation with random numbers."""
    x, y, fixed = drawn(5, 4, seed=1), drawn(5, 4, seed=2), {"A": drawn(3, 5), "W": drawn(4, 3), "c": drawn(3, seed=3)}
    found = []
    for place, option in enumerate(question.options):
        f = eval(f"lambda x: {option.text}", {"F": functional, **fixed})
        if torch.allclose(f(0.3 * x - 2 * y), 0.3 * f(x) - 2 * f(y)):
            found.append(place)
    return found


def true_projection(question: Question) -> int:
    matrices = [torch.tensor(eval(option.text), dtype=torch.double) for option in question.options]
    (right,) = [place for place, p in enumerate(matrices) if torch.allclose(p @ p, p)]
    return right


def cosine_spread(question: Question) -> float:
    """Exact: the distribution of the dot product, put together from d coins by convolution."""
    d = question.values["d"]
    coin = torch.fft.rfft(torch.tensor([0.5, 0.5] + [0.0] * d, dtype=torch.double))
    chances = torch.fft.irfft(coin**d, n=d + 2)[: d + 1]
    cosines = torch.linspace(-1, 1, d + 1, dtype=torch.double)
    return float((chances * cosines.square()).sum().sqrt())


def length_spread(question: Question) -> float:
    """Mean and variance from the derivatives of the cumulant generating function of a squared normal number."""
    t = torch.zeros((), dtype=torch.double, requires_grad=True)
    cumulants = -question.values["d"] / 2 * torch.log1p(-2 * t)
    (mean,) = torch.autograd.grad(cumulants, t, create_graph=True)
    (variance,) = torch.autograd.grad(mean, t)
    return float((100 * variance.sqrt() / mean).detach())


def how_wide(question: Question) -> list[int]:
    """Reads the sizes off a model that runs."""
    numbers = read_sizes(*(question.values[name] for name in ("d", "h", "n", "d_ff", "V")))
    texts = [option.text for option in question.options]
    return [texts.index(str(numbers[left])) for left in question.details["lefts"]]


@cache
def read_sizes(d: int, h: int, n: int, d_ff: int, vocabulary: int) -> dict[str, int]:
    attention = nn.MultiheadAttention(d, h, batch_first=True, device="meta")
    ids = torch.zeros(1, n, dtype=torch.long, device="meta")
    x = nn.Embedding(vocabulary, d, device="meta")(ids)
    weights = attention(x, x, x, average_attn_weights=False)[1]
    return {
        "numbers that a token has between two blocks": x.shape[-1],
        "products that are added up in one query-key score": attention.head_dim,
        "weights that one query hands out in one head": weights.shape[-1],
        "hidden units of the FFN": nn.Linear(d, d_ff, device="meta").out_features,
        "logits at one position": nn.Linear(d, vocabulary, device="meta")(x).shape[-1],
    }


def low_rank(question: Question) -> int:
    """Counts what gets a gradient; what is added has the rank r."""
    d, m, r = (question.values[name] for name in "dmr")
    kept = drawn(d, m)
    a, b = drawn(d, r, seed=1).requires_grad_(), drawn(r, m, seed=2).requires_grad_()
    (kept + a @ b).sum().backward()
    assert torch.linalg.matrix_rank((a @ b).detach()) == r
    return sum(each.grad.numel() for each in (kept, a, b) if each.grad is not None)


def affine_sum(question: Question) -> str:
    """Runs the code with a layer that does what is printed beside its lines."""
    bias, of_u, of_v = (torch.tensor(question.values[name], dtype=torch.double) for name in ("bias", "of_u", "of_v"))
    inputs = torch.stack([drawn(16, seed=1), drawn(16, seed=2)], dim=1)
    layer = nn.Linear(16, 2).double()
    layer.weight.data = torch.stack([of_u - bias, of_v - bias], dim=1) @ torch.linalg.pinv(inputs)
    layer.bias.data = bias
    code = question.code.replace("g = nn.Linear(16, 2)\n", "").replace(
        ".tolist()", ".round(decimals=6).add(0.0).tolist()"
    )
    lines = printed(code, g=layer, u=inputs[:, 0], v=inputs[:, 1])
    assert lines[:3] == [question.values[name] for name in ("shown_u", "shown_v", "shown_bias")]
    return lines[3]
