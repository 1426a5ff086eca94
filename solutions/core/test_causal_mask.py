"""The hidden checks of `causal_mask`.

No check of portability by `elsewhere`: no tensor goes in whose device could be followed. `test_device` stands for it.
A mask with fewer queries than keys, as a cache of keys needs it, is another exercise: this one is always square.
"""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)

from grader.api.checks import assert_matches, assert_shape, fail


def square_of_bools(submission, seq_len):
    """The submission's mask, once it is known to be a bool tensor of shape (T, T)."""
    mask = submission.causal_mask(seq_len)
    assert_shape(mask, (seq_len, seq_len))
    if mask.dtype != torch.bool:
        fail(f"Wrong dtype: {mask.dtype}, expected torch.bool.")
    return mask


def assert_where(mask, part, allowed):
    """The mask is `allowed` at every place where `part` is True; the first place that is not is told."""
    wrong = (part & (mask != allowed)).nonzero().tolist()
    if wrong:
        query, key = wrong[0]
        fail(f"mask[{query}, {key}] is {not allowed}, expected {allowed}: {len(wrong)} such places with {len(mask)} "
             "tokens. Rows are queries, columns are keys, True = may attend.")  # fmt: skip


def behind(seq_len):
    """How far each key lies behind its query: 0 is the token itself, below 0 the future."""
    positions = torch.arange(seq_len)
    return positions.unsqueeze(1) - positions


@pytest.mark.check(skill="shape", points=1, public=True)
def test_shape(submission):
    """Gives a tensor of shape (T, T)."""
    assert_shape(submission.causal_mask(5), (5, 5))


@pytest.mark.check(skill="hygiene", points=1, needs="test_shape", public=True)
def test_bool(submission):
    """Holds True and False, and no numbers."""
    square_of_bools(submission, 5)


@pytest.mark.check(skill="masking", points=2, needs="test_bool", public=True)
def test_itself(submission):
    """Lets every token attend to itself."""
    assert_where(square_of_bools(submission, 6), behind(6) == 0, allowed=True)


@pytest.mark.check(skill="masking", points=2, needs="test_bool")
def test_past(submission):
    """Shows every token its whole past."""
    assert_where(square_of_bools(submission, 7), behind(7) > 0, allowed=True)


@pytest.mark.check(skill="masking", points=3, needs="test_bool")
def test_future(submission):
    """Hides the whole future from every token."""
    assert_where(square_of_bools(submission, 7), behind(7) < 0, allowed=False)


@pytest.mark.check(skill="values", points=4, needs="test_bool")
def test_values(submission, reference, rand):
    """Equals the reference, entry by entry."""
    seq_len = int(rand.integers(8, 64, 1))  # one of many: a table of those seen before is no mask
    assert_matches(submission.causal_mask(seq_len), reference.causal_mask(seq_len))


@pytest.mark.check(skill="masking", points=2, needs="test_bool")
def test_in_attention(submission, rand):
    """Makes attention causal: used as its mask, it does what torch's own causal attention does."""
    q, k, v = rand(2, 5, 4), rand(2, 5, 4), rand(2, 5, 3)
    mask = square_of_bools(submission, 5)
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert_matches(F.scaled_dot_product_attention(q, k, v, attn_mask=mask), expected)


@pytest.mark.check(skill="generality", points=1, needs="test_bool", public=True)
def test_one_token(submission, reference):
    """Works for a single token, which attends to itself."""
    assert_matches(submission.causal_mask(1), reference.causal_mask(1))


@pytest.mark.check(skill="generality", points=1, needs="test_bool")
@pytest.mark.parametrize("seq_len", [2, 3, 17])
def test_any_length(submission, reference, seq_len):
    """Follows the number of tokens."""
    assert_matches(submission.causal_mask(seq_len), reference.causal_mask(seq_len))


@pytest.mark.check(skill="generality", points=1, needs="test_values")
def test_long(submission, reference, rand):
    """Has no longest length: it works for more than 600 tokens too."""
    seq_len = 600 + rand.sizes(1)[0]  # no more: where each entry is set by itself that takes a second
    assert_matches(submission.causal_mask(seq_len), reference.causal_mask(seq_len))


@pytest.mark.check(skill="generality", points=1, needs="test_bool")
def test_one_after_another(submission, reference, rand):
    """Remembers nothing from one call to the next."""
    short, long = rand.sizes(2)
    for seq_len in (long, short, long):
        assert_matches(submission.causal_mask(seq_len), reference.causal_mask(seq_len))


@pytest.mark.check(skill="hygiene", points=0.4, needs="test_shape")
def test_device(submission):
    """Names no device: the mask is where torch makes tensors by default."""
    observed = submission.causal_mask.observe(4)
    assert_shape(observed.value, (4, 4))
    if observed.devices not in ((), ("cpu",)):
        fail(f"The mask is on {', '.join(observed.devices)}. Take out `.cuda()`, `.to(...)` and `device=`.")
