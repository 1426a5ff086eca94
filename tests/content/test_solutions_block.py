"""The block reference against torch.nn.TransformerEncoderLayer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.course_files import load

block = load("solutions/core/block.py")

TOLERANCE = {torch.float32: 3e-5, torch.float64: 1e-10}
# our state-dict names, and torch's for the same parameters
TORCH_NAMES = {
    "attn.wo.weight": "self_attn.out_proj.weight",
    "ffn.w1.weight": "linear1.weight",
    "ffn.w1.bias": "linear1.bias",
    "ffn.w2.weight": "linear2.weight",
    "ffn.w2.bias": "linear2.bias",
    "norm1.weight": "norm1.weight",
    "norm1.bias": "norm1.bias",
    "norm2.weight": "norm2.weight",
    "norm2.bias": "norm2.bias",
}
PROJECTIONS = ("attn.wq.weight", "attn.wk.weight", "attn.wv.weight")  # torch stacks them into one


def make_block(
    heads: int, width: int, d_ff: int, norm_first: bool, seed: int, dtype: torch.dtype = torch.float64
) -> torch.nn.Module:
    """Give a block in which every parameter is random, those of the norms included."""
    generator = torch.Generator().manual_seed(seed)
    made = block.TransformerBlock(heads * width, heads, d_ff, norm_first).to(dtype)
    for parameter in made.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=dtype) * 0.5
    return made


def torch_block(made: torch.nn.Module, heads: int, d_ff: int, norm_first: bool) -> torch.nn.Module:
    """Give torch's encoder layer with the same parameters and attention biases of 0."""
    state = made.state_dict()
    d_model = state["norm1.weight"].numel()
    layer = torch.nn.TransformerEncoderLayer(
        d_model, heads, d_ff, dropout=0.0, activation="gelu", batch_first=True, norm_first=norm_first
    ).to(state["norm1.weight"].dtype)
    renamed = {theirs: state[ours] for ours, theirs in TORCH_NAMES.items()}
    renamed["self_attn.in_proj_weight"] = torch.cat([state[name] for name in PROJECTIONS])
    renamed["self_attn.in_proj_bias"] = torch.zeros_like(layer.self_attn.in_proj_bias)
    renamed["self_attn.out_proj.bias"] = torch.zeros_like(layer.self_attn.out_proj.bias)
    layer.load_state_dict(renamed)
    return layer


def torch_gradients(layer: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Give the layer's gradients under our names."""
    theirs = {name: parameter.grad for name, parameter in layer.named_parameters()}
    found = {ours: theirs[name] for ours, name in TORCH_NAMES.items()}
    return found | dict(zip(PROJECTIONS, theirs["self_attn.in_proj_weight"].chunk(3), strict=True))


def make_mask(kind: str, batch: int, heads: int, length: int, seed: int) -> torch.Tensor | None:
    """Give no mask, the causal one, or a random one for each head, in which every query may see itself."""
    if kind == "none":
        return None
    if kind == "causal":
        return torch.ones(length, length, dtype=torch.bool).tril()
    generator = torch.Generator().manual_seed(seed)
    shape = (batch, heads, length, length)
    return (torch.rand(shape, generator=generator) < 0.5) | torch.eye(length, dtype=torch.bool)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("norm_first", [True, False])
@settings(deadline=None, max_examples=40)
@given(
    kind=st.sampled_from(["none", "causal", "random"]),
    batch=st.integers(1, 3),
    length=st.integers(1, 6),
    heads=st.integers(1, 3),
    width=st.integers(2, 5),
    d_ff=st.integers(1, 9),
    seed=st.integers(0, 2**32 - 1),
)
def test_matches_torch(
    norm_first: bool,
    dtype: torch.dtype,
    kind: str,
    batch: int,
    length: int,
    heads: int,
    width: int,
    d_ff: int,
    seed: int,
) -> None:
    """Values, the input's gradient and every parameter's gradient equal those of torch's encoder layer."""
    ours = make_block(heads, width, d_ff, norm_first, seed, dtype)
    theirs = torch_block(ours, heads, d_ff, norm_first)
    mask = make_mask(kind, batch, heads, length, seed)
    theirs_mask = mask if mask is None or mask.dim() == 2 else mask.flatten(0, 1)
    x = torch.randn(batch, length, heads * width, generator=torch.Generator().manual_seed(seed), dtype=dtype)
    ours_x, theirs_x = x.clone().requires_grad_(), x.clone().requires_grad_()
    out = ours(ours_x, mask)
    expected = theirs(theirs_x, src_mask=None if theirs_mask is None else ~theirs_mask)
    close: dict[str, Any] = {"atol": TOLERANCE[dtype], "rtol": TOLERANCE[dtype]}
    torch.testing.assert_close(out, expected, **close)

    slope = torch.linspace(-1, 1, out.numel(), dtype=dtype).view_as(out)
    (out * slope).sum().backward()
    (expected * slope).sum().backward()
    # gradients pass 1/σ of LayerNorm, which a nearly constant token makes large
    close = {"atol": 1e3 * TOLERANCE[dtype], "rtol": 1e2 * TOLERANCE[dtype]}
    torch.testing.assert_close(ours_x.grad, theirs_x.grad, **close)
    expected_gradients = torch_gradients(theirs)
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(parameter.grad, expected_gradients[name], **close)


def test_names_and_shapes_are_those_of_the_statement() -> None:
    """The state dict has the twelve promised entries, and nothing else."""
    shapes = {name: tuple(value.shape) for name, value in block.TransformerBlock(12, 3, 20).state_dict().items()}
    square = dict.fromkeys((*PROJECTIONS, "attn.wo.weight"), (12, 12))
    network = {"ffn.w1.weight": (20, 12), "ffn.w1.bias": (20,), "ffn.w2.weight": (12, 20), "ffn.w2.bias": (12,)}
    norms = dict.fromkeys(("norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"), (12,))
    assert shapes == square | network | norms


@pytest.mark.parametrize("d_model", [16, 128])
def test_parameters_are_twelve_d_squared_and_a_little(d_model: int) -> None:
    """With d_ff = 4·d a block has 12·d² weights in matrices and 9·d in vectors."""
    made = block.TransformerBlock(d_model, 4, 4 * d_model)
    assert sum(parameter.numel() for parameter in made.parameters()) == 12 * d_model**2 + 9 * d_model


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_causal_mask_makes_the_block_causal(norm_first: bool) -> None:
    """Later tokens change no earlier output, and the changed token's own output does change."""
    made = make_block(3, 4, 20, norm_first, seed=1)
    x = torch.randn(2, 5, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    changed = x.clone()
    changed[:, 3] += 1.0
    changed[:, 3, 0] -= 2.0
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    before, after = made(x, mask), made(changed, mask)
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.isclose(before[:, 3:], after[:, 3:]).all(-1).any()


def test_ffn_keeps_positions_apart() -> None:
    """The feed-forward network gives a token the same result in any company."""
    made = make_block(3, 4, 20, True, seed=3)
    x = torch.randn(2, 5, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    torch.testing.assert_close(made.get_submodule("ffn")(x)[:, 2], made.get_submodule("ffn")(x[:, 2]))


@pytest.mark.parametrize("norm_first", [True, False])
def test_changes_nothing_and_repeats(norm_first: bool) -> None:
    """The input is the same afterwards, and a second call in either mode gives the same output."""
    made = make_block(2, 3, 7, norm_first, seed=5)
    x = torch.randn(2, 4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(6))
    before = x.clone()
    first = made.train()(x)
    second = made.eval()(x)
    assert torch.equal(x, before) and torch.equal(first, second)


def test_runs_without_data() -> None:
    """On the meta device, where tensors have shapes and no numbers, it gives a tensor of the right shape."""
    made = block.TransformerBlock(12, 3, 20).to("meta")
    out = made(torch.empty(2, 5, 12, device="meta"), torch.ones(5, 5, dtype=torch.bool, device="meta"))
    assert out.device.type == "meta" and out.shape == (2, 5, 12)
