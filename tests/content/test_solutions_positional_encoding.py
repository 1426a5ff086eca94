"""The positional encoding reference against the formula, entry by entry in float64, and the laws of rotations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.course_files import load

encoding = load("solutions/core/positional_encoding.py").sinusoidal_positional_encoding

examples = settings(deadline=None, max_examples=40)
lengths = st.integers(1, 128)
widths = st.integers(1, 32).map(lambda pairs: 2 * pairs)


@examples
@given(lengths, widths)
def test_equals_the_formula(seq_len: int, d_model: int) -> None:
    """Gives sin(p / 10000^(2i/D)) in column 2i and the cosine of the same angle in column 2i + 1, as float32."""
    expected = np.zeros((seq_len, d_model))
    for p in range(seq_len):
        for i in range(d_model // 2):
            angle = p / math.pow(10000, 2 * i / d_model)
            expected[p, 2 * i], expected[p, 2 * i + 1] = math.sin(angle), math.cos(angle)
    result = encoding(seq_len, d_model)
    assert (result.shape, result.dtype) == ((seq_len, d_model), torch.float32)
    np.testing.assert_allclose(result.numpy(), expected, atol=3e-5)


@examples
@given(lengths, widths)
def test_every_row_has_the_same_length(seq_len: int, d_model: int) -> None:
    """Every row has the norm √(D/2), and every entry lies between −1 and 1."""
    result = encoding(seq_len, d_model)
    torch.testing.assert_close(result.norm(dim=1), torch.full((seq_len,), math.sqrt(d_model / 2)))
    assert result.abs().max() <= 1


@examples
@given(st.integers(2, 100), widths, st.integers(1, 20))
def test_a_step_is_one_rotation(seq_len: int, d_model: int, step: int) -> None:
    """One rotation of each pair, the same for all positions, takes row p to row p + k."""
    table = encoding(seq_len + step, d_model).double().view(-1, d_model // 2, 2)
    turn = step / 10000.0 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    sines, cosines = table[:seq_len].unbind(-1)
    rotated = torch.stack(
        (turn.cos() * sines + turn.sin() * cosines, turn.cos() * cosines - turn.sin() * sines), dim=-1
    )
    torch.testing.assert_close(rotated, table[step:], atol=5e-5, rtol=0)


def test_a_longer_table_begins_with_the_shorter_one() -> None:
    """A row depends on its position and on the width, not on how many rows there are."""
    assert torch.equal(encoding(50, 16)[:7], encoding(7, 16))


def test_all_rows_differ() -> None:
    """No two of the first thousand positions have the same row."""
    assert encoding(1000, 8).unique(dim=0).size(0) == 1000


@pytest.mark.slow
@pytest.mark.parametrize("d_model", [2, 10])
def test_is_made_on_the_default_device(d_model: int) -> None:
    """It names no device: under another default device it is made there, without a single number."""
    with torch.device("meta"):
        result = encoding(5, d_model)
    assert (result.shape, result.dtype, result.device.type) == ((5, d_model), torch.float32, "meta")
    assert not result.requires_grad
