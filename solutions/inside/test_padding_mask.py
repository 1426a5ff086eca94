"""The hidden checks of `padding_mask`: batches, queries and keys of different sizes, and once all the same."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)

from grader.api.checks import assert_matches, assert_portable, assert_shape, assert_unchanged, fail

LENGTHS = torch.tensor([3, 7, 1, 4])


def bools(mask, *shape):
    """The mask, once it is known to be a bool tensor of this shape."""
    assert_shape(mask, shape)
    if mask.dtype != torch.bool:
        fail(f"Wrong dtype: {mask.dtype}, expected torch.bool.")
    return mask


def assert_where(mask, part, allowed):
    """The mask is `allowed` at every place where `part` is True; the first place that is not is told."""
    wrong = (part & (mask != allowed)).nonzero().tolist()
    if wrong:
        fail(f"mask{wrong[0]} is {not allowed}, expected {allowed}: {len(wrong)} such places for lengths = "
             f"{LENGTHS.tolist()}, max_len = {mask.size(-1)}. True = may attend.")  # fmt: skip


def lengths_of(rand, texts, max_len):
    """Lengths of texts, none of which fills all places."""
    return rand.integers(1, max_len, texts)


def real_keys(max_len):
    """Which keys of the fixed batch are tokens: (4, 1, 1, S)."""
    return (torch.arange(max_len) < LENGTHS[:, None])[:, None, None]


# --- padding_mask -----------------------------------------------------------------------------------------------------


@pytest.mark.check(function="padding_mask", skill="shape", points=1, public=True)
def test_padding_shape(submission):
    """Gives a tensor of shape (B, 1, 1, S)."""
    assert_shape(submission.padding_mask(LENGTHS, 9), (4, 1, 1, 9))


@pytest.mark.check(function="padding_mask", skill="hygiene", points=1, needs="test_padding_shape", public=True)
def test_padding_bool(submission):
    """Holds True and False, and no numbers."""
    bools(submission.padding_mask(LENGTHS, 9), 4, 1, 1, 9)


@pytest.mark.check(function="padding_mask", skill="masking", points=2, needs="test_padding_bool", public=True)
def test_padding_tokens(submission):
    """Shows every token of every text."""
    assert_where(bools(submission.padding_mask(LENGTHS, 8), 4, 1, 1, 8), real_keys(8), allowed=True)


@pytest.mark.check(function="padding_mask", skill="masking", points=2, needs="test_padding_bool")
def test_padding_hidden(submission):
    """Hides all padding."""
    assert_where(bools(submission.padding_mask(LENGTHS, 8), 4, 1, 1, 8), ~real_keys(8), allowed=False)


@pytest.mark.check(function="padding_mask", skill="values", points=3, needs="test_padding_bool")
def test_padding_values(submission, reference, rand):
    """Equals the reference, entry by entry, in sizes that nobody knows by heart."""
    _, texts, _, max_len = rand.sizes(4, low=3)
    lengths = lengths_of(rand, texts, max_len)
    assert_matches(submission.padding_mask(lengths, max_len), reference.padding_mask(lengths, max_len))


@pytest.mark.check(function="padding_mask", skill="masking", points=2, needs="test_padding_bool", stage="in attention")
def test_padding_in_attention(submission, rand):
    """Makes a text in a batch what it is alone: attention with 3 heads and 5 queries reads no padding."""
    q, k, v = rand(4, 3, 5, 2), rand(4, 3, 8, 2), rand(4, 3, 8, 6)
    mask = bools(submission.padding_mask(LENGTHS, 8), 4, 1, 1, 8)
    found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    for text, length in enumerate(LENGTHS.tolist()):
        alone = F.scaled_dot_product_attention(q[text], k[text, :, :length], v[text, :, :length])
        assert_matches(found[text], alone, hint=f"This is text {text}, of length {length}.")


@pytest.mark.check(function="padding_mask", skill="generality", points=1, needs="test_padding_bool", stage="{name}")
@pytest.mark.parametrize(("name", "lengths", "max_len"), [
    ("where nothing is padded", [6, 6, 6], 6), ("where every text has length 1", [1, 1], 5),
    ("for a single text", [3], 7), ("with as many texts as places", [4, 1, 3, 2], 4),
    ("where no text is as long as max_len", [2, 5, 3], 12), ("with a single place", [1, 1, 1], 1),
])  # fmt: skip
def test_padding_any_batch(submission, reference, name, lengths, max_len):
    """Works for any lengths and any number of places."""
    given = torch.tensor(lengths)
    assert_matches(submission.padding_mask(given, max_len), reference.padding_mask(given, max_len))


@pytest.mark.check(
    function="padding_mask", skill="generality", points=1, needs="test_padding_values",
    stage="for long or many texts",
)  # fmt: skip
def test_padding_no_largest(submission, reference, rand):
    """Has no longest text and no largest batch."""
    for texts, max_len in ((3, 2048 + rand.large(300)), (rand.large(), 5)):
        lengths = lengths_of(rand, texts, max_len)
        assert_matches(submission.padding_mask(lengths, max_len), reference.padding_mask(lengths, max_len))


@pytest.mark.check(function="padding_mask", skill="hygiene", points=0.3, needs="test_padding_shape")
def test_padding_unchanged_and_portable(submission):
    """Leaves the lengths alone, and works where they are."""
    assert_unchanged(submission.padding_mask.observe(LENGTHS, 8), LENGTHS)
    assert_portable(submission.padding_mask, LENGTHS, 8)


# --- causal_padding_mask ----------------------------------------------------------------------------------------------


@pytest.mark.check(function="causal_padding_mask", skill="shape", points=1, public=True)
def test_causal_shape(submission):
    """Gives a tensor of shape (B, 1, T, T)."""
    assert_shape(submission.causal_padding_mask(LENGTHS, 9), (4, 1, 9, 9))


@pytest.mark.check(function="causal_padding_mask", skill="hygiene", points=1, needs="test_causal_shape", public=True)
def test_causal_bool(submission):
    """Holds True and False, and no numbers."""
    bools(submission.causal_padding_mask(LENGTHS, 9), 4, 1, 9, 9)


@pytest.mark.check(function="causal_padding_mask", skill="masking", points=2, needs="test_causal_bool")
def test_causal_padding_hidden(submission):
    """Hides all padding, from padded queries, too."""
    mask = bools(submission.causal_padding_mask(LENGTHS, 8), 4, 1, 8, 8)
    assert_where(mask, (~real_keys(8)).expand(4, 1, 8, 8), allowed=False)


@pytest.mark.check(function="causal_padding_mask", skill="masking", points=2, needs="test_causal_bool")
def test_causal_future_hidden(submission):
    """Hides the future from every query."""
    mask = bools(submission.causal_padding_mask(LENGTHS, 8), 4, 1, 8, 8)
    assert_where(mask, torch.ones(8, 8).triu(1).bool().expand(4, 1, 8, 8), allowed=False)


@pytest.mark.check(function="causal_padding_mask", skill="masking", points=2, needs="test_causal_bool")
def test_causal_past_shown(submission):
    """Shows every query the tokens up to its place, and leaves no row without a key."""
    mask = bools(submission.causal_padding_mask(LENGTHS, 8), 4, 1, 8, 8)
    assert_where(mask, torch.ones(8, 8).tril().bool() & real_keys(8), allowed=True)


@pytest.mark.check(function="causal_padding_mask", skill="values", points=3, needs="test_causal_bool", public=True)
def test_causal_values(submission, reference, rand):
    """Equals the reference, entry by entry, in sizes that nobody knows by heart."""
    _, texts, _, max_len = rand.sizes(4, low=3)
    lengths = lengths_of(rand, texts, max_len)
    assert_matches(submission.causal_padding_mask(lengths, max_len), reference.causal_padding_mask(lengths, max_len))


@pytest.mark.check(
    function="causal_padding_mask", skill="masking", points=2, needs="test_causal_bool", stage="in attention"
)
def test_causal_in_attention(submission, rand):
    """Makes a text in a batch what it is alone under a causal mask, and leaves no softmax without a key."""
    q, k, v = (rand(4, 3, 8, 2) for _ in "qkv")
    mask = bools(submission.causal_padding_mask(LENGTHS, 8), 4, 1, 8, 8)
    found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    for text, length in enumerate(LENGTHS.tolist()):
        alone = F.scaled_dot_product_attention(*(each[text, :, :length] for each in (q, k, v)), is_causal=True)
        assert_matches(found[text, :, :length], alone, hint=f"This is text {text}, of length {length}.")
    if not mask.any(dim=-1).all():
        fail("A padded query has no key: its softmax is 0/0, and NaN spreads from there.")


@pytest.mark.check(
    function="causal_padding_mask", skill="generality", points=1, needs="test_causal_bool", stage="{name}"
)
@pytest.mark.parametrize(("name", "lengths", "max_len"), [
    ("where nothing is padded", [6, 6, 6], 6), ("where every text has length 1", [1, 1], 5),
    ("for a single text", [3], 7), ("with as many texts as places", [4, 1, 3, 2], 4),
    ("where no text is as long as max_len", [2, 5, 3], 12), ("with a single place", [1, 1, 1], 1),
])  # fmt: skip
def test_causal_any_batch(submission, reference, name, lengths, max_len):
    """Works for any lengths and any number of places."""
    given = torch.tensor(lengths)
    assert_matches(submission.causal_padding_mask(given, max_len), reference.causal_padding_mask(given, max_len))


@pytest.mark.check(
    function="causal_padding_mask", skill="generality", points=1, needs="test_causal_values",
    stage="for long or many texts",
)  # fmt: skip
def test_causal_no_largest(submission, reference, rand):
    """Has no longest text and no largest batch."""
    for texts, max_len in ((1, 1024 + rand.sizes(1)[0]), (rand.large(), 5)):
        lengths = lengths_of(rand, texts, max_len)
        assert_matches(
            submission.causal_padding_mask(lengths, max_len), reference.causal_padding_mask(lengths, max_len)
        )


@pytest.mark.check(function="causal_padding_mask", skill="hygiene", points=0.3, needs="test_causal_shape")
def test_causal_unchanged_and_portable(submission):
    """Leaves the lengths alone, and works where they are."""
    assert_unchanged(submission.causal_padding_mask.observe(LENGTHS, 8), LENGTHS)
    assert_portable(submission.causal_padding_mask, LENGTHS, 8)
