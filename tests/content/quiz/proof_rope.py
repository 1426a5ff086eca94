"""The questions on rotary positions, answered with matrices of rotation and complex numbers."""

from __future__ import annotations

import math

import torch
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def by_matrix(x, positions, base):
    """RoPE of x as one matrix for each position, with blocks of 2 · 2."""
    d_head = x.size(-1)
    blocks = []
    for p in positions:
        angles = [p * base ** (-2 * i / d_head) for i in range(d_head // 2)]
        turns = [torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]).double() for a in angles]
        blocks.append(torch.block_diag(*turns))
    return torch.einsum("tij,...tj->...ti", torch.stack(blocks), x.double())


def angle(question):
    """How far a rotation of tiny parts adds up: the angle of the rate, position by position."""
    values = question.values
    rates = torch.logspace(0, -1, values["d_head"] // 2 + 1, base=values["base"], dtype=torch.float64)[:-1]
    return rates[values["pair"]].repeat(values["position"]).cumsum(0)[-1].item()


def turned(question):
    """The matrix of one step, to the power of the position."""
    values = question.values
    step = torch.tensor([[values["c"], -values["s"]], [values["s"], values["c"]]], dtype=torch.float64)
    pair = torch.matrix_power(step, values["position"]) @ torch.tensor(values["x"][:2], dtype=torch.float64)
    return pair[values["place"]].item()


def whole_turn(question):
    """The place at which the pair's sine comes back to 0 from below, on a fine grid."""
    values = question.values
    rate = torch.logspace(0, -1, values["d_head"] // 2 + 1, base=values["base"], dtype=torch.float64)[values["pair"]]
    grid = torch.linspace(0.05, 7.0, 100_000, dtype=torch.float64)
    sine = grid.sin()
    back = ((sine[:-1] < 0) & (sine[1:] >= 0)).nonzero()[0, 0]
    return (grid[back] / rate).item()


def same_score(question):
    """The scores of random vectors at all these positions."""
    torch.manual_seed(0)
    q, k = torch.randn(2, 5, 1, 8, dtype=torch.float64)

    def score(m, n):
        return (by_matrix(q, [m], 10000.0) * by_matrix(k, [n], 10000.0)).sum(-1)

    expected = score(question.values["m"], question.values["n"])
    found = []
    for place, option in enumerate(question.options):
        m, n = (int(word.strip(",")) for word in option.text.split() if word.strip(",").isdigit())
        found += [place] * bool(torch.allclose(score(m, n), expected))
    return found


def wrong_line(question):
    """The line whose repair gives the rotation of each position."""
    torch.manual_seed(0)

    def works(code):
        rope = run(code)["rope"]
        for shape, positions in (((2, 3, 4, 6), [0, 9, 2, 5]), ((1, 3, 3, 8), [1, 2, 3]), ((2, 2, 1, 4), [9])):
            x = torch.randn(shape)
            found = rope(x, torch.tensor(positions))
            if found.shape != x.shape or not torch.allclose(found.double(), by_matrix(x, positions, 1e4), atol=1e-4):
                return False
        return True

    return wrong_line_of(question, works)
