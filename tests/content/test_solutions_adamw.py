"""The reference of `adamw` against torch.optim.AdamW."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.course_files import load

adamw_step = load("solutions/training/adamw.py").adamw_step

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-11}


@st.composite
def runs(draw: st.DrawFn) -> tuple[torch.Tensor, list[torch.Tensor], dict[str, Any]]:
    """Draw a parameter of any shape, the gradients of a few steps, some of them 0, and the options."""
    shape = draw(st.lists(st.integers(1, 4), max_size=3))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from(sorted(TOLERANCE, key=str)))
    scales = draw(st.lists(st.sampled_from([0.0, 1e-3, 1.0, 100.0]), min_size=1, max_size=5))
    param, *grads = (torch.randn(shape, generator=generator, dtype=dtype) * scale for scale in (1.0, *scales))
    choices: dict[str, list[Any]] = {"lr": [1e-3, 0.02], "betas": [(0.9, 0.999), (0.5, 0.8)], "eps": [1e-8, 0.1],
               "weight_decay": [0.0, 0.01, 0.5]}  # fmt: skip
    return param, grads, {name: draw(st.sampled_from(values)) for name, values in choices.items()}


@settings(deadline=None, max_examples=60)
@given(runs())
def test_equals_torch(drawn: tuple[torch.Tensor, list[torch.Tensor], dict[str, Any]]) -> None:
    """Parameter and both means are torch's after each of several steps, and no argument is changed."""
    param, grads, options = drawn
    theirs = param.clone().requires_grad_()
    optimizer = torch.optim.AdamW([theirs], **options)
    mine = (param, torch.zeros_like(param), torch.zeros_like(param))
    for t, grad in enumerate(grads, 1):
        theirs.grad = grad.clone()
        optimizer.step()
        before = [each.clone() for each in (*mine, grad)]
        given_ = mine
        mine = adamw_step(mine[0], grad, *mine[1:], t, **options)
        state = optimizer.state[theirs]
        expected = (theirs.detach(), state["exp_avg"], state["exp_avg_sq"])
        torch.testing.assert_close(mine, expected, atol=TOLERANCE[param.dtype], rtol=1e-5)
        assert all(torch.equal(a, b) for a, b in zip(before, (*given_, grad), strict=True))
