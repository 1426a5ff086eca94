"""The references of `layer_norm` against torch's own operators."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)
from hypothesis import given, settings
from hypothesis import strategies as st
from support.course_files import load

lesson = load("solutions/inside/layer_norm.py")

# where a token is constant, its gradient grows by 1/√eps = 316
TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-10}
examples = settings(deadline=None, max_examples=60)

Given = tuple[list[torch.Tensor], float]


@st.composite
def tokens(draw: st.DrawFn) -> Given:
    """Draw x with up to three leading axes and of some size, a weight, a bias, and eps."""
    shape = [*draw(st.lists(st.integers(1, 4), max_size=3)), draw(st.integers(1, 9))]
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    dtype, scale = draw(st.sampled_from(sorted(TOLERANCE, key=str))), draw(st.sampled_from([1e-3, 1.0, 30.0]))
    x, weight, bias = (torch.randn(size, generator=generator, dtype=dtype) for size in (shape, shape[-1:], shape[-1:]))
    return [x * scale, weight, bias], draw(st.sampled_from([1e-5, 1e-3, 0.5]))


def values_and_gradients(function: object, given: list[torch.Tensor]) -> list[torch.Tensor]:
    """Give a function's value and the gradients of a weighted sum of it."""
    leaves = [each.clone().requires_grad_() for each in given]
    y = function(*leaves)  # type: ignore[operator]
    (y * torch.linspace(-1, 2, y.numel(), dtype=y.dtype).view_as(y)).sum().backward()
    return [y.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]


@examples
@given(tokens())
def test_layer_norm_equals_torch(drawn: Given) -> None:
    """Gives the values and gradients of F.layer_norm, and changes no argument."""
    given_, eps = drawn
    before = [each.clone() for each in given_]
    mine = values_and_gradients(lambda *given: lesson.layer_norm(*given, eps=eps), given_)
    theirs = values_and_gradients(lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, eps), given_)
    torch.testing.assert_close(mine, theirs, atol=TOLERANCE[mine[0].dtype], rtol=1e-4)
    assert all(torch.equal(a, b) for a, b in zip(before, given_, strict=True))


@examples
@given(tokens())
def test_rms_norm_equals_torch(drawn: Given) -> None:
    """Gives the values and gradients of F.rms_norm, whose eps is passed on: its own default is another."""
    (x, weight, _), eps = drawn
    mine = values_and_gradients(lambda *given: lesson.rms_norm(*given, eps=eps), [x, weight])
    theirs = values_and_gradients(lambda a, w: F.rms_norm(a, a.shape[-1:], w, eps), [x, weight])
    torch.testing.assert_close(mine, theirs, atol=TOLERANCE[x.dtype], rtol=1e-4)


def test_tokens_far_from_zero_keep_their_digits() -> None:
    """Near 10,000, where E[x²] − E[x]² has lost every digit, the values are torch's within float32's own rounding."""
    x = torch.randn(50, 8, generator=torch.Generator().manual_seed(0)) + 10_000
    one, zero = torch.ones(8), torch.zeros(8)
    torch.testing.assert_close(lesson.layer_norm(x, one, zero), F.layer_norm(x, (8,), one, zero), atol=1e-2, rtol=0)
