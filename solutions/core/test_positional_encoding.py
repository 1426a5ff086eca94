"""The hidden checks of `positional_encoding`.

The tolerance is 1e-3: float32 stays within 3e-5 up to 128 positions, angles in half precision are wrong by 1e-2 and
more. A finished table that was only rounded to float16 and back is wrong by 2.4e-4: no reason to fail anybody.
No check with an odd width, which the statement excludes, and none of portability by `elsewhere`: no tensor goes in
whose device could be followed. `test_device` stands for it.
"""

import pytest
import torch

from grader.api.checks import LearnerError, assert_matches, assert_shape, fail

ATOL = 1e-3
FORMULA = (
    "Row p belongs to position p; column 2i is sin(p / 10000^(2i/d_model)), column 2i + 1 the cosine of that angle."
)


def table(submission, seq_len, d_model):
    """The submission's table, once it is known to be a float32 tensor of shape (T, D)."""
    found = submission.sinusoidal_positional_encoding(seq_len, d_model)
    assert_shape(found, (seq_len, d_model))
    if found.dtype != torch.float32:
        fail(f"Wrong dtype: {found.dtype}, expected torch.float32.")
    return found


def assert_equal(submission, reference, seq_len, d_model, hint=""):
    """The whole table equals the reference's."""
    found = table(submission, seq_len, d_model)
    assert_matches(found, reference.sinusoidal_positional_encoding(seq_len, d_model), ATOL, hint)


@pytest.mark.check(skill="shape", points=1, public=True)
def test_shape(submission):
    """Gives a tensor of shape (T, D)."""
    assert_shape(submission.sinusoidal_positional_encoding(5, 6), (5, 6))


@pytest.mark.check(skill="hygiene", points=1, needs="test_shape")
def test_float32(submission):
    """Holds numbers of type float32."""
    table(submission, 5, 6)


@pytest.mark.check(skill="values", points=2, needs="test_float32", public=True)
def test_position_zero(submission):
    """Starts at position 0, whose row is 0, 1, 0, 1, ..."""
    assert_matches(table(submission, 5, 8)[0], torch.tensor([0.0, 1.0] * 4), ATOL)


@pytest.mark.check(skill="values", points=2, needs="test_float32")
def test_first_pair(submission):
    """Puts sin p and cos p into the first two columns."""
    positions = torch.arange(7.0)
    expected = torch.stack((positions.sin(), positions.cos()), dim=1)
    assert_matches(table(submission, 7, 6)[:, :2], expected, ATOL)


@pytest.mark.check(skill="values", points=2, needs="test_float32")
def test_one_frequency_for_each_pair(submission):
    """Gives both columns of a pair the same angle: the squares of its sine and cosine sum to 1."""
    found = table(submission, 9, 10)
    for pair in range(5):
        squares = found[:, 2 * pair] ** 2 + found[:, 2 * pair + 1] ** 2
        hint = f"This is column {2 * pair} squared plus column {2 * pair + 1} squared, a number for each position."
        assert_matches(squares, torch.ones(9), 2 * ATOL, hint)


@pytest.mark.check(skill="values", points=3, needs="test_float32", public=True)
def test_values(submission, reference):
    """Equals the reference, entry by entry."""
    assert_equal(submission, reference, 4, 6, FORMULA)


@pytest.mark.check(skill="values", points=3, needs="test_float32")
def test_more_columns(submission, reference, rand):
    """Gives every pair its own speed, also where there are many."""
    pairs, seq_len = rand.sizes(2, low=5)
    assert_equal(submission, reference, seq_len, 2 * pairs, FORMULA)


@pytest.mark.check(skill="stability", points=2, needs="test_float32")
def test_far_from_the_start(submission, reference):
    """Stays exact far from the start, at positions up to 127."""
    assert_equal(submission, reference, 128, 32, "Compute the angles in float32 or better.")


@pytest.mark.check(skill="generality", points=1, needs="test_float32", stage="with more than 5000 positions")
def test_long(submission, reference, rand):
    """Has no longest length: it works for more than 5000 positions too."""
    [pairs] = rand.sizes(1)
    seq_len = 5000 + rand.large(200)
    assert_equal(submission, reference, seq_len, 2 * pairs, "A table that is cut from a longer one ends somewhere.")


@pytest.mark.check(skill="values", points=1, needs="test_float32", public=True)
def test_examples(submission, reference):
    """Gives what the examples of the exercise show."""
    assert_equal(submission, reference, 2, 4)
    found = submission.sinusoidal_positional_encoding(4, 6)
    assert_matches(found[3], reference.sinusoidal_positional_encoding(4, 6)[3], ATOL)


@pytest.mark.check(skill="generality", points=1, needs="test_float32")
def test_one_position(submission, reference):
    """Works for a single position."""
    assert_equal(submission, reference, 1, 4)


@pytest.mark.check(skill="generality", points=1, needs="test_float32")
def test_one_pair(submission, reference):
    """Works for the smallest width, two columns."""
    assert_equal(submission, reference, 5, 2)


@pytest.mark.check(skill="generality", points=1, needs="test_float32")
@pytest.mark.parametrize(("seq_len", "d_model"), [(8, 8), (3, 10), (50, 16)])
def test_any_size(submission, reference, seq_len, d_model):
    """Follows the number of positions and the width: as many of one as of the other, fewer, more."""
    assert_equal(submission, reference, seq_len, d_model)


@pytest.mark.check(skill="generality", points=1, needs="test_float32", stage="with many columns")
def test_wide(submission, reference, rand):
    """Has no largest width."""
    assert_equal(submission, reference, 3, 2 * rand.large())


@pytest.mark.check(skill="generality", points=1, needs="test_float32")
def test_longer_table(submission):
    """Gives a position the same row however many positions there are."""
    assert_matches(table(submission, 12, 6)[:5], table(submission, 5, 6), ATOL)


@pytest.mark.check(skill="generality", points=1, needs="test_float32")
def test_one_after_another(submission, reference):
    """Remembers nothing from one call to the next."""
    for seq_len, d_model in ((6, 4), (4, 6), (6, 4)):
        assert_equal(submission, reference, seq_len, d_model)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_shape")
def test_not_learned(submission):
    """Holds nothing that is learned: the table asks for no gradient."""
    encode = submission.sinusoidal_positional_encoding
    assert_shape(encode(3, 4), (3, 4))
    try:
        learned = encode.gradients(3, 4, wrt=[], weights=torch.ones(3, 4)) is not None
    except LearnerError:  # it ran without an error just now: what fails is to differentiate by nothing
        learned = True
    if learned:
        fail("The table asks for a gradient. Return a plain tensor: no nn.Parameter, no requires_grad=True.")


@pytest.mark.check(skill="hygiene", points=0.5)
def test_device(submission):
    """Names no device: the table is where torch makes tensors by default."""
    observed = submission.sinusoidal_positional_encoding.observe(4, 6)
    assert_shape(observed.value, (4, 6))
    if observed.devices not in ((), ("cpu",)):
        fail(f"The table is on {', '.join(observed.devices)}. Take out `.cuda()`, `.to(...)` and `device=`.")
