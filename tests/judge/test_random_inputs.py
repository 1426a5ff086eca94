"""Inputs of checks are drawn from a seed, of which no part leads to them where it is a key."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.judge.session import random_seed
from grader.judge.values.random_inputs import Rand, derive, is_key

KEYS = st.integers(1 << 65, (1 << 128) - 1)


@given(KEYS, st.integers(0, 127))
def test_every_bit_of_a_key_counts(key, bit):
    """Of what is derived from another one, and of a part of it, torch's generator among others would know 32 bits."""
    whole = derive(key, "softmax", "values")
    drawn = [
        Rand(seed)(8)
        for seed in (whole, whole ^ 1 << bit, whole & 0xFFFFFFFF, derive(key ^ 1 << bit, "softmax", "values"))
    ]

    assert whole.bit_length() > 200
    assert torch.equal(drawn[0], Rand(whole)(8))
    assert not any(torch.equal(drawn[0], other) for other in drawn[1:])


def test_a_run_draws_a_key():
    """What somebody types is none, and its inputs are those of torch's generator."""
    assert sum(is_key(random_seed()) for _ in range(100)) == 100
    assert not is_key(derive(7, "softmax"))
    assert torch.equal(Rand(5)(3), torch.randn(3, generator=torch.Generator().manual_seed(5)))


@pytest.mark.parametrize("arrays", ["torch", "numpy"])
@pytest.mark.parametrize("seed", [7, 1 << 100])
def test_inputs_are_what_is_asked_for(seed, arrays):
    """Their shapes, dtypes and bounds are the same from whichever generator."""
    rand = Rand(derive(seed, "a"), arrays)
    normal, single, scaled = rand(200, 50), rand(), rand(200, 50, scale=3.0)
    whole, mask = rand.integers(2, 5, 100), rand.mask(4, 3, 6)
    sizes = rand.sizes(4)

    assert normal.shape == (200, 50) and single.shape == () and str(normal.dtype).endswith("float32")
    assert abs(float(normal.mean())) < 0.05 and abs(float(scaled.std()) - 3) < 0.1
    assert {*whole.tolist()} == {2, 3, 4} and str(whole.dtype).endswith("int64")
    assert mask.shape == (4, 3, 6) and bool(mask.any(-1).all()) and not bool(mask.all(-1).any())
    assert sorted({*sizes}) == sizes and 350 <= rand.large() <= 700
