"""The multi_head reference against torch.nn.MultiheadAttention and against the element formula."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.course_files import load

multi_head = load("solutions/core/multi_head.py")

TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-11}
SIZES = {
    "batch": st.integers(1, 3),
    "length": st.integers(1, 7),
    "heads": st.integers(1, 4),
    "width": st.integers(1, 5),
    "seed": st.integers(0, 2**32 - 1),
}
examples = settings(deadline=None, max_examples=40)


def make_inputs(
    batch: int, length: int, heads: int, width: int, seed: int, dtype: torch.dtype
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Give x (B, T, D) and the four weights (D, D), all requiring gradients."""
    generator = torch.Generator().manual_seed(seed)
    d_model = heads * width
    x = torch.randn(batch, length, d_model, generator=generator, dtype=dtype)
    weights = [torch.randn(d_model, d_model, generator=generator, dtype=dtype) / d_model**0.5 for _ in range(4)]
    return x.requires_grad_(), [weight.requires_grad_() for weight in weights]


def make_mask(shape: tuple[int, ...], seed: int) -> torch.Tensor:
    """Give a random, asymmetric mask in which every query has at least one key."""
    generator = torch.Generator().manual_seed(seed)
    some_key = torch.randint(shape[-1], (*shape[:-1], 1), generator=generator)
    return (torch.rand(shape, generator=generator) < 0.5).scatter(-1, some_key, True)


def torch_attention(
    x: torch.Tensor, weights: list[torch.Tensor], heads: int, mask: torch.Tensor | None = None
) -> torch.Tensor:
    """The same by torch's own module, whose mask says True = blocked, (T, T) or (B·H, T, T)."""
    d_model = x.size(-1)
    out, _ = torch.nn.functional.multi_head_attention_forward(
        x.transpose(0, 1),
        x.transpose(0, 1),
        x.transpose(0, 1),
        d_model,
        heads,
        in_proj_weight=None,
        in_proj_bias=None,
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=weights[3],
        out_proj_bias=None,
        use_separate_proj_weight=True,
        q_proj_weight=weights[0],
        k_proj_weight=weights[1],
        v_proj_weight=weights[2],
        attn_mask=None if mask is None else ~mask,
        need_weights=False,
    )
    return out.transpose(0, 1)


def gradients(out: torch.Tensor, inputs: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Differentiate a sum that weighs every output differently."""
    weight = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)
    return torch.autograd.grad((out * weight).sum(), inputs)


@examples
@given(**SIZES)
def test_split_follows_the_element_formula(batch: int, length: int, heads: int, width: int, seed: int) -> None:
    """out[b, h, t, i] is x[b, t, h·d + i], with or without contiguous memory."""
    numbers = np.random.default_rng(seed).normal(size=(batch, heads * width, length))
    x = torch.from_numpy(numbers).transpose(1, 2)  # not contiguous
    expected = np.stack(np.split(numbers.transpose(0, 2, 1), heads, axis=-1), axis=1)
    for source in (x, x.contiguous()):
        np.testing.assert_array_equal(multi_head.split_heads(source, heads).numpy(), expected)


@examples
@given(**SIZES)
def test_merge_follows_the_element_formula(batch: int, length: int, heads: int, width: int, seed: int) -> None:
    """out[b, t, h·d + i] is x[b, h, t, i] for a tensor that never was split."""
    x = torch.from_numpy(np.random.default_rng(seed).normal(size=(batch, heads, length, width)))
    assert torch.equal(multi_head.merge_heads(x), torch.cat(list(x.unbind(1)), dim=-1))


@examples
@given(**SIZES)
def test_merge_undoes_split(batch: int, length: int, heads: int, width: int, seed: int) -> None:
    """Splitting and merging gives the same tensor back, and integers stay integers."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(1000, (batch, length, heads * width), generator=generator)
    back = multi_head.merge_heads(multi_head.split_heads(x, heads))
    assert back.dtype == x.dtype and torch.equal(back, x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("masked", ["none", "shared", "each head"])
@settings(deadline=None, max_examples=30)
@given(**SIZES)
def test_matches_torch(
    masked: str, dtype: torch.dtype, batch: int, length: int, heads: int, width: int, seed: int
) -> None:
    """Values and all five gradients equal those of torch's own multi-head attention."""
    x, weights = make_inputs(batch, length, heads, width, seed, dtype)
    mask = torch_mask = None
    if masked == "shared":
        mask = torch_mask = make_mask((length, length), seed)
    elif masked == "each head":
        mask = make_mask((batch, heads, length, length), seed)
        torch_mask = mask.flatten(0, 1)
    out = multi_head.multi_head_attention(x, *weights, heads, mask)
    expected = torch_attention(x, weights, heads, torch_mask)
    assert out.dtype == dtype and out.shape == x.shape
    tolerance = TOLERANCE[dtype]
    torch.testing.assert_close(out, expected, atol=tolerance, rtol=tolerance)
    for ours, theirs in zip(gradients(out, [x, *weights]), gradients(expected, [x, *weights]), strict=True):
        torch.testing.assert_close(ours, theirs, atol=20 * tolerance, rtol=20 * tolerance)


@pytest.mark.parametrize("shape", [(2, 1, 1, 5), (2, 1, 5, 5), (1, 3, 5, 5), (1, 5), (5,)])
def test_masks_broadcast(shape: tuple[int, ...]) -> None:
    """A mask with missing or single axes acts like the same mask written out in full."""
    x, weights = make_inputs(2, 5, 3, 4, seed=1, dtype=torch.float64)
    mask = make_mask(shape, seed=2)
    in_full = mask.broadcast_to(2, 3, 5, 5)
    expected = torch_attention(x, weights, 3, in_full.flatten(0, 1))
    torch.testing.assert_close(multi_head.multi_head_attention(x, *weights, 3, mask), expected)


def test_padding_reaches_no_one() -> None:
    """Tokens that every query must ignore can hold anything."""
    x, weights = make_inputs(2, 6, 2, 4, seed=3, dtype=torch.float64)
    mask = (torch.arange(6) < torch.tensor([[4], [3]]))[:, None, None, :]
    other = x.detach().clone()
    other[0, 4:] = 1e3
    other[1, 3:] = -7.0
    first, second = (multi_head.multi_head_attention(each, *weights, 2, mask) for each in (x, other))
    torch.testing.assert_close(first[0, :4], second[0, :4])
    torch.testing.assert_close(first[1, :3], second[1, :3])


def test_changes_no_argument() -> None:
    """All tensors that go in are the same afterwards."""
    x, weights = make_inputs(2, 5, 3, 4, seed=4, dtype=torch.float32)
    mask = make_mask((5, 5), seed=5)
    before = [tensor.detach().clone() for tensor in (x, *weights, mask)]
    multi_head.multi_head_attention(x, *weights, 3, mask)
    assert all(torch.equal(was, now) for was, now in zip(before, (x, *weights, mask), strict=True))


def test_runs_without_data() -> None:
    """On the meta device, where tensors have shapes and no numbers, it gives a tensor of the right shape."""
    x = torch.empty(2, 5, 12, device="meta")
    weights = [torch.empty(12, 12, device="meta") for _ in range(4)]
    out = multi_head.multi_head_attention(x, *weights, 3, torch.ones(5, 5, dtype=torch.bool, device="meta"))
    assert out.device.type == "meta" and out.shape == x.shape
