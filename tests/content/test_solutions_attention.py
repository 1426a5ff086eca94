"""The attention reference against torch's own operator and a float64 loop over single queries in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)
from hypothesis import given, settings
from hypothesis import strategies as st
from support.course_files import load

attention = load("solutions/core/attention.py").scaled_dot_product_attention

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}
examples = settings(deadline=None, max_examples=60)

Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


@st.composite
def inputs(draw: st.DrawFn) -> tuple[Tensors, torch.Tensor | None]:
    """Draw q, k, v with up to two leading axes, and a mask of a random broadcastable shape, or None."""
    lead = draw(st.lists(st.integers(1, 3), max_size=2))
    t, s, d_k, d_v = (draw(st.integers(1, 7)) for _ in range(4))
    dtype = draw(st.sampled_from(sorted(TOLERANCE, key=str)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    q, k, v = (torch.randn(*lead, *size, generator=generator, dtype=dtype) for size in ((t, d_k), (s, d_k), (s, d_v)))
    kept = draw(st.lists(st.booleans(), min_size=len(lead) + 1, max_size=len(lead) + 1))
    shape = [size if keep else 1 for size, keep in zip([*lead, t], kept, strict=True)]
    return (q, k, v), draw(st.sampled_from([None, random_mask((*shape, s), generator), random_mask((t, s), generator)]))


def random_mask(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Give a random mask in which every query has at least one key."""
    some_key = torch.randint(shape[-1], (*shape[:-1], 1), generator=generator)
    return (torch.rand(shape, generator=generator) < 0.5).scatter(-1, some_key, True)


def one_query_at_a_time(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The definition in float64, for one sequence: no matrix product, no −inf, only the keys that are allowed."""
    rows = []
    for query, allowed in zip(q, mask, strict=True):
        powers = np.array([np.exp(sum(query * key) / np.sqrt(len(query))) for key in k[allowed]])
        rows.append(sum(weight * value for weight, value in zip(powers / powers.sum(), v[allowed], strict=True)))
    return np.array(rows)


@examples
@given(inputs())
def test_equals_torch(drawn: tuple[Tensors, torch.Tensor | None]) -> None:
    """Gives the values, shape and dtype of F.scaled_dot_product_attention, with every kind of mask."""
    (q, k, v), mask = drawn
    expected = F.scaled_dot_product_attention(q, k, v, mask)
    torch.testing.assert_close(attention(q, k, v, mask), expected, atol=TOLERANCE[q.dtype], rtol=1e-5)


@examples
@given(inputs())
def test_equals_the_definition(drawn: tuple[Tensors, torch.Tensor | None]) -> None:
    """Gives, for every query, the mean of the allowed values with weights exp(q · k / √d_k) / total."""
    tensors, mask = drawn
    lead, t, s = tensors[0].shape[:-2], tensors[0].size(-2), tensors[1].size(-2)
    whole = torch.ones(*lead, t, s, dtype=torch.bool) if mask is None else mask.expand(*lead, t, s)
    result = attention(*tensors, mask)
    for index in np.ndindex(*lead):
        q, k, v = (tensor[index].double().numpy() for tensor in tensors)
        expected = one_query_at_a_time(q, k, v, whole[index].numpy())
        np.testing.assert_allclose(result[index].double().numpy(), expected, atol=TOLERANCE[result.dtype])


@examples
@given(inputs())
def test_gradients_equal_torch(drawn: tuple[Tensors, torch.Tensor | None]) -> None:
    """The gradients of a weighted sum of the output with respect to q, k and v are torch's."""
    tensors, mask = drawn
    gradients = []
    for function in (attention, F.scaled_dot_product_attention):
        leaves = [tensor.clone().requires_grad_() for tensor in tensors]
        q, k, v = leaves
        out = function(q, k, v, mask)
        (out * torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)).sum().backward()
        gradients.append([leaf.grad for leaf in leaves])
    torch.testing.assert_close(*gradients, atol=10 * TOLERANCE[tensors[0].dtype], rtol=1e-4)


@examples
@given(inputs())
def test_leaves_its_inputs_alone(drawn: tuple[Tensors, torch.Tensor | None]) -> None:
    """Neither q, k, v nor the mask is changed, and a second call gives the same."""
    tensors, mask = drawn
    before = [tensor.clone() for tensor in (*tensors, *([] if mask is None else [mask]))]
    first, second = attention(*tensors, mask), attention(*tensors, mask)
    after = (*tensors, *([] if mask is None else [mask]))
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert torch.equal(first, second)


def test_a_blocked_key_weighs_nothing_even_against_very_low_scores() -> None:
    """With allowed scores near −200 a blocked key still gets weight exactly 0."""
    q, k = torch.tensor([[1.0]]), torch.tensor([[-200.0], [5.0], [-201.0]])
    weights = attention(q, k, torch.eye(3), torch.tensor([True, False, True]))
    torch.testing.assert_close(weights, torch.tensor([[0.7311, 0.0, 0.2689]]), atol=1e-4, rtol=0)
    assert weights[0, 1] == 0


def test_blocked_values_send_no_gradient_back() -> None:
    """A key that is blocked for every query gets a gradient of zero, not NaN."""
    q, k, v = (torch.randn(2, 4, 3, requires_grad=True) for _ in range(3))
    attention(q, k, v, torch.tensor([True, True, False, True])).square().sum().backward()
    for leaf in (k, v):
        assert leaf.grad is not None
        assert (leaf.grad[:, 2] == 0).all()
        assert leaf.grad.isfinite().all()


@pytest.mark.parametrize("masked", [False, True])
def test_works_without_data(masked: bool) -> None:
    """On the meta device the shape, dtype and device come out without a single number."""
    shapes = ((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 11))
    q, k, v = (torch.empty(shape, dtype=torch.float64, device="meta") for shape in shapes)
    mask = torch.empty(5, 7, dtype=torch.bool, device="meta") if masked else None
    out = attention(q, k, v, mask)
    assert (out.shape, out.dtype, out.device.type) == ((2, 3, 5, 11), torch.float64, "meta")
