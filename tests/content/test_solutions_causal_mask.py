"""The causal mask reference against torch.tril, and by what it does inside torch's attention."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)
from hypothesis import given, settings
from hypothesis import strategies as st
from support.course_files import load

causal_mask = load("solutions/core/causal_mask.py").causal_mask

examples = settings(deadline=None, max_examples=40)
lengths = st.integers(1, 65)


@examples
@given(lengths)
def test_equals_tril(seq_len: int) -> None:
    """Gives a bool tensor of shape (T, T) that is True on and below the diagonal."""
    mask = causal_mask(seq_len)
    assert mask.dtype == torch.bool
    assert torch.equal(mask, torch.ones(seq_len, seq_len).tril().bool())


@examples
@given(lengths)
def test_row_i_allows_the_first_i_plus_1_keys(seq_len: int) -> None:
    """Query i may attend to i + 1 keys, which makes T(T + 1)/2 in all."""
    mask = causal_mask(seq_len)
    assert mask.sum(dim=1).tolist() == list(range(1, seq_len + 1))
    assert mask.sum().item() == seq_len * (seq_len + 1) // 2


@examples
@given(st.integers(1, 17), st.integers(0, 2**32 - 1))
def test_has_the_polarity_of_torchs_attention(seq_len: int, seed: int) -> None:
    """As a mask it does what F.scaled_dot_product_attention does when it is told to be causal."""
    q, k, v = torch.randn(3, 2, seq_len, 4, generator=torch.Generator().manual_seed(seed))
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(F.scaled_dot_product_attention(q, k, v, causal_mask(seq_len)), expected)


def test_is_the_complement_of_torchs_additive_mask() -> None:
    """It is True exactly where torch's own causal mask for nn.Transformer adds 0 and not −inf."""
    additive = torch.nn.Transformer.generate_square_subsequent_mask(6)
    assert torch.equal(causal_mask(6), additive == 0)


def test_is_made_on_the_default_device() -> None:
    """It names no device: under another default device it is made there."""
    with torch.device("meta"):
        mask = causal_mask(5)
    assert (mask.shape, mask.dtype, mask.device.type) == ((5, 5), torch.bool, "meta")
