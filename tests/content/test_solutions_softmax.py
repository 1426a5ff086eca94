"""The softmax reference against torch.softmax, a float64 formula in numpy, and the laws that softmax obeys."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.course_files import load

softmax = load("solutions/core/softmax.py").softmax

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-14}
DTYPES = st.sampled_from(sorted(TOLERANCE, key=str))
examples = settings(deadline=None, max_examples=60)


@st.composite
def scores_and_dim(draw: st.DrawFn) -> tuple[torch.Tensor, int]:
    """Draw a tensor of one to four axes, of ordinary or extreme size, and one of its axes, either sign."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    dim = draw(st.integers(-len(shape), len(shape) - 1))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.sampled_from([1e-3, 1.0, 30.0, 1000.0]))
    return torch.randn(shape, generator=generator, dtype=draw(DTYPES)) * size, dim


@examples
@given(scores_and_dim())
def test_equals_torch(drawn: tuple[torch.Tensor, int]) -> None:
    """Gives torch's values, shape and dtype for any shape, axis and size of the scores."""
    x, dim = drawn
    torch.testing.assert_close(softmax(x, dim), torch.softmax(x, dim), atol=TOLERANCE[x.dtype], rtol=1e-5)


@examples
@given(scores_and_dim())
def test_equals_the_formula(drawn: tuple[torch.Tensor, int]) -> None:
    """Gives exp(x_i) over the sum of exp(x_j), computed by numpy in float64 on scores that cannot overflow."""
    x, dim = drawn
    x = x.clamp(-50, 50)
    powers = np.exp(x.double().numpy())
    expected = powers / powers.sum(axis=dim, keepdims=True)
    np.testing.assert_allclose(softmax(x, dim).double().numpy(), expected, atol=TOLERANCE[x.dtype])


@examples
@given(scores_and_dim())
def test_slices_are_distributions_and_only_differences_count(drawn: tuple[torch.Tensor, int]) -> None:
    """Every slice is non-negative and sums to 1, and a constant added to a slice changes nothing."""
    x, dim = drawn
    x = x.double()
    weights = softmax(x, dim)
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(dim), torch.ones_like(weights.sum(dim)))
    torch.testing.assert_close(softmax(x + 7.0, dim), weights)


@examples
@given(scores_and_dim())
def test_gradient_equals_torch(drawn: tuple[torch.Tensor, int]) -> None:
    """The gradient of a weighted sum of the result is torch's."""
    x, dim = drawn
    gradients = []
    for function in (softmax, torch.softmax):
        leaf = x.clone().requires_grad_()
        result = function(leaf, dim)
        (result * torch.linspace(-1, 1, result.numel(), dtype=x.dtype).view_as(result)).sum().backward()
        gradients.append(leaf.grad)
    torch.testing.assert_close(*gradients, atol=10 * TOLERANCE[x.dtype], rtol=1e-4)


def test_blocked_scores_get_no_weight_and_no_nan() -> None:
    """An entry of −inf gets weight 0, and the gradient of its slice stays finite."""
    x = torch.tensor([[0.5, float("-inf"), -1.0], [2.0, 1.0, float("-inf")]], requires_grad=True)
    weights = softmax(x)
    torch.testing.assert_close(weights, torch.softmax(x, -1))
    weights.square().sum().backward()
    assert (weights[x.isinf()] == 0).all()
    assert x.grad is not None
    assert x.grad.isfinite().all()


def test_rows_a_thousand_apart_stay_finite() -> None:
    """Rows of very different size are shifted by their own maximum, not by a common one."""
    x = torch.tensor([[0.0, 1.0], [1000.0, 1001.0], [-1000.0, -999.0]])
    torch.testing.assert_close(softmax(x), softmax(x[:1]).expand(3, 2))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_leaves_its_input_alone(dim: int) -> None:
    """The input is not changed, also when it is a transposed view."""
    x = torch.arange(15.0).view(3, 5).t()
    before = x.clone()
    torch.testing.assert_close(softmax(x, dim), torch.softmax(before, dim))
    assert torch.equal(x, before)


def test_works_without_data() -> None:
    """On the meta device the shape, dtype and device come out without a single number."""
    result = softmax(torch.empty(2, 3, 5, dtype=torch.float64, device="meta"), dim=1)
    assert (result.shape, result.dtype, result.device.type) == ((2, 3, 5), torch.float64, "meta")
