"""The hidden checks of `softmax`."""

import pytest
import torch

from grader.api.checks import (
    assert_gradients_match,
    assert_matches,
    assert_portable,
    assert_shape,
    assert_unchanged,
    fail,
)

HALVES = [torch.float16, torch.bfloat16]


@pytest.mark.check(skill="shape", points=1, public=True)
def test_shape(submission, rand):
    """Gives back the shape of its input."""
    x = rand(3, 5)
    assert_shape(submission.softmax(x), x.shape)


@pytest.mark.check(skill="values", points=3, needs="test_shape", public=True, stage="along the last axis")
def test_last_axis(submission, reference, rand):
    """Equals the reference along the last axis."""
    x = rand(3, 5)
    assert_matches(submission.softmax(x), reference.softmax(x))


@pytest.mark.check(skill="values", points=1, needs="test_shape", public=True, stage="in the examples of the exercise")
def test_examples(submission, reference):
    """Gives what the examples of the exercise show."""
    row, columns = torch.tensor([0.0, 1.0, 2.0]), torch.tensor([[1000.0, 0.0], [1000.0, 0.0]])
    assert_matches(submission.softmax(row), reference.softmax(row))
    assert_matches(submission.softmax(columns, dim=0), reference.softmax(columns, dim=0))


@pytest.mark.check(skill="values", points=1, needs="test_shape", public=True)
def test_sums_to_one(submission, rand):
    """Every slice sums to 1, and no entry is negative."""
    weights = submission.softmax(rand(4, 7), dim=1)
    assert_shape(weights, (4, 7))
    assert_matches(weights.sum(1), torch.ones(4), hint="Slices along `dim` must sum to 1.")
    if (weights < 0).any():
        fail("Some weights are negative.")


@pytest.mark.check(skill="generality", points=3, needs="test_last_axis", stage="along axis {dim}")
@pytest.mark.parametrize("dim", [0, 1, -2])
def test_any_axis(submission, reference, rand, dim):
    """Equals the reference along any axis you name."""
    x = rand(*rand.sizes(3))
    assert_matches(submission.softmax(x, dim=dim), reference.softmax(x, dim=dim))


@pytest.mark.check(
    skill="generality", points=2, needs="test_last_axis", stage="with one axis, four axes, or one of size 1"
)
def test_any_rank(submission, reference, rand):
    """Works for one axis and for four, and where an axis has the size 1."""
    one, four = rand(6), rand(2, 3, 4, 5)
    assert_matches(submission.softmax(one, dim=0), reference.softmax(one, dim=0))
    for row in (rand(1, 6), rand(3, 1, 5)):
        assert_matches(submission.softmax(row), reference.softmax(row))
    for dim in (2, -3):
        assert_matches(submission.softmax(four, dim=dim), reference.softmax(four, dim=dim))


@pytest.mark.check(skill="generality", points=1, needs="test_last_axis", stage="on a long axis, or with many axes")
def test_no_largest(submission, reference, rand):
    """Has no longest axis and no highest number of axes."""
    rows, columns, many = rand(2, rand.large()), rand(rand.large(), 3), rand(*[2] * int(rand.integers(5, 9, 1)))
    for x, dim in ((rows, -1), (columns, 0), (columns, 1), (many, 2), (many, -4)):
        assert_matches(submission.softmax(x, dim=dim), reference.softmax(x, dim=dim))


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="on a square")
def test_square(submission, reference, rand):
    """Is right on a square too, where a wrong broadcast goes unnoticed."""
    x = rand(4, 4)
    assert_matches(submission.softmax(x), reference.softmax(x))


@pytest.mark.check(skill="generality", points=0.5, needs="test_last_axis", stage="on a slice of a larger tensor")
def test_slice(submission, reference, rand):
    """Works for a slice of a larger tensor, whose memory has gaps."""
    x = rand(3, 4, 5)
    assert_matches(submission.softmax.on_slices(x), reference.softmax(x))


@pytest.mark.check(skill="stability", points=2, needs="test_shape", stage="on scores near {offset:+.0f}")
@pytest.mark.parametrize("offset", [1000.0, -1000.0])
def test_large_scores(submission, reference, rand, offset):
    """Survives scores near +1000 and -1000."""
    x = rand(3, 5) + offset
    assert_matches(submission.softmax(x), reference.softmax(x))


@pytest.mark.check(skill="stability", points=2, needs="test_shape", stage="on rows of very different size")
def test_rows_far_apart(submission, reference, rand):
    """Survives rows of very different size in one tensor."""
    x = rand(3, 5) + torch.tensor([[0.0], [400.0], [-900.0]])
    assert_matches(submission.softmax(x), reference.softmax(x))


@pytest.mark.check(skill="stability", points=1, needs="test_shape", stage="on a row with a wide spread")
def test_wide_row(submission, reference):
    """Survives one row that holds 0, 100 and 200, and one that holds minus infinity."""
    x = torch.tensor([[0.0, 100.0, 200.0], [0.5, float("-inf"), 1.5]])
    assert_matches(submission.softmax(x), reference.softmax(x))


@pytest.mark.check(skill="stability", points=0.5, needs="test_wide_row", stage="for minus infinity")
def test_exactly_zero(submission, rand):
    """Gives minus infinity a weight of exactly 0."""
    x = rand(3, 5)
    x[:, 2] = float("-inf")
    least = submission.softmax(x)[:, 2].abs().max().item()
    if least != 0.0:
        fail(f"An entry of -inf has the weight {least:.2g}; it must be exactly 0.")


@pytest.mark.check(skill="gradients", points=2, needs="test_last_axis", stage="in its gradient")
def test_gradient(submission, reference, rand):
    """Lets the right gradient through."""
    x, weights = rand(3, 5), rand(3, 5)
    assert_gradients_match(submission.softmax, reference.softmax, x, wrt=[0], weights=weights)


@pytest.mark.check(skill="hygiene", points=0.5, public=True)
def test_input_unchanged(submission, rand):
    """Leaves its input alone."""
    x = rand(3, 5)
    assert_unchanged(submission.softmax.observe(x), x)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_shape", stage="with float64")
def test_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of its input."""
    x = rand(3, 5, dtype=torch.float64)
    assert_matches(submission.softmax(x), reference.softmax(x))
    assert_portable(submission.softmax, rand(3, 5))


@pytest.mark.check(
    skill="hygiene", points=0.5, needs=("test_last_axis", "test_dtype_and_device"), stage="in half precision"
)
@pytest.mark.parametrize("dtype", HALVES, ids=["float16", "bfloat16"])
def test_half(submission, reference, rand, dtype):
    """Works in half precision, with minus infinity, and with scores of 20, whose power float16 cannot hold."""
    x = rand(3, 1, dtype=dtype).repeat(1, 5)  # weights of 1/4, which every dtype has: asserts of a sum of 1 hold
    x[1] += 20.0
    x[:, 2] = float("-inf")
    assert_matches(submission.softmax(x), reference.softmax(x), atol=0.02)
