"""The references of `cross_entropy` against torch's own loss and the definition of perplexity."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)
from hypothesis import given, settings
from hypothesis import strategies as st
from support.course_files import load

lesson = load("solutions/training/cross_entropy.py")

TOLERANCE = {torch.float32: 2e-4, torch.float64: 1e-11}
examples = settings(deadline=None, max_examples=60)


@st.composite
def questions(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    """Draw logits with up to three leading axes, targets of which some are left out, and the two options."""
    lead, classes = draw(st.lists(st.integers(1, 4), max_size=3)), draw(st.integers(1, 9))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    dtype, scale = draw(st.sampled_from(sorted(TOLERANCE, key=str))), draw(st.sampled_from([1.0, 20.0, 1000.0]))
    ignore, smoothing = draw(st.sampled_from([-100, -1, 0, 3])), draw(st.sampled_from([0.0, 0.1, 1.0]))
    logits = torch.randn(*lead, classes, generator=generator, dtype=dtype) * scale
    targets = torch.randint(classes, lead, generator=generator)
    left_out = torch.rand(lead, generator=generator) < draw(st.sampled_from([0.0, 0.4, 1.0]))
    return logits, targets.masked_fill(left_out, ignore), {"ignore_index": ignore, "label_smoothing": smoothing}


def torch_loss(logits: torch.Tensor, targets: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
    """Give torch's loss: it takes one leading axis."""
    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1), **options)


@examples
@given(questions())
def test_equals_torch(drawn: tuple[torch.Tensor, torch.Tensor, dict[str, Any]]) -> None:
    """Gives the loss and the gradient of F.cross_entropy, NaN where nothing counts, and changes no argument."""
    logits, targets, options = drawn
    before, leaves = targets.clone(), [logits.clone().requires_grad_() for _ in range(2)]
    mine, torchs = lesson.cross_entropy(leaves[0], targets, **options), torch_loss(leaves[1], targets, options)
    torch.testing.assert_close(mine, torchs, atol=TOLERANCE[logits.dtype], rtol=1e-5, equal_nan=True)
    if not mine.isnan():
        mine.backward()
        torchs.backward()
        torch.testing.assert_close(leaves[0].grad, leaves[1].grad, atol=TOLERANCE[logits.dtype], rtol=1e-5)
    assert torch.equal(targets, before)


@given(st.lists(st.tuples(st.floats(0.0, 8.0), st.integers(1, 60)), min_size=1, max_size=6))
def test_perplexity_is_that_of_all_tokens_together(batches: list[tuple[float, int]]) -> None:
    """However the tokens are batched, the perplexity is the geometric mean of 1/p over all of them."""
    losses, counts = map(list, zip(*batches, strict=True))
    tokens = [loss for loss, count in batches for _ in range(count)]
    assert lesson.perplexity(losses, counts) == pytest.approx(math.exp(math.fsum(tokens) / len(tokens)))
