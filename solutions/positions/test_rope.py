"""The hidden checks of `rope`: axes of different sizes, once all the same, and positions in any order."""

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

FAR = 1e-3  # float32 itself rounds angles near 1000 by some 1e-4


def compare(submission, reference, x, positions, atol=1e-4, hint="", **base):
    """Both turn x alike."""
    found = submission.apply_rope(x, positions, **base)
    assert_matches(found, reference.apply_rope(x, positions, **base), atol, hint)


@pytest.mark.check(skill="shape", points=1, public=True)
def test_shape(submission, rand):
    """Gives back the shape of its input."""
    assert_shape(submission.apply_rope(rand(2, 3, 5, 8), torch.arange(5)), (2, 3, 5, 8))


@pytest.mark.check(skill="values", points=1, needs="test_shape", public=True, stage="on the example")
def test_example(submission, reference):
    """Gives what the example of the exercise shows."""
    compare(submission, reference, torch.tensor([[1.0, 0.0, 1.0, 0.0]]), torch.tensor([3]))


@pytest.mark.check(skill="values", points=1, needs="test_shape", stage="at position 0")
def test_position_zero(submission, rand):
    """Turns nothing at position 0."""
    x = rand(2, 3, 1, 6)
    assert_matches(submission.apply_rope(x, torch.zeros(1, dtype=torch.long)), x)


@pytest.mark.check(skill="values", points=2, needs="test_shape", public=True)
def test_lengths(submission, rand):
    """Keeps the length of every pair: it is turned, and nothing else."""
    x = rand(3, 5, 8)
    found = submission.apply_rope(x, torch.arange(5))
    assert_shape(found, (3, 5, 8))
    for pair in range(4):
        both = slice(2 * pair, 2 * pair + 2)
        hint = f"This is the length of the pair of features {2 * pair} and {2 * pair + 1}."
        assert_matches(found[..., both].norm(dim=-1), x[..., both].norm(dim=-1), 1e-3, hint)


@pytest.mark.check(skill="values", points=3, needs="test_shape", stage="on positions 0, 1, 2, ...")
def test_values(submission, reference, rand):
    """Equals the reference, entry by entry."""
    compare(submission, reference, rand(2, 3, 5, 8), torch.arange(5))


@pytest.mark.check(skill="values", points=2, needs="test_shape", stage="on positions in any order")
def test_positions(submission, reference, rand):
    """Turns each row by its own position: in any order, far apart, also twice the same."""
    compare(submission, reference, rand(2, 3, 5, 6), torch.tensor([7, 2, 30, 2, 11]))


@pytest.mark.check(skill="values", points=2, needs="test_shape", stage="in the scores")
@pytest.mark.parametrize("shift", [1, 9])
def test_relative(submission, reference, rand, shift):
    """Makes scores that depend on distances alone: all positions moved by as much give the same."""
    q, k = rand(2, 5, 8), rand(2, 7, 8)
    at = torch.arange(5), torch.arange(7)
    expected = reference.apply_rope(q, at[0]) @ reference.apply_rope(k, at[1]).mT
    moved = [submission.apply_rope(x, places + shift) for x, places in zip((q, k), at, strict=True)]
    assert_shape(moved[0], (2, 5, 8))
    assert_shape(moved[1], (2, 7, 8))
    assert_matches(moved[0] @ moved[1].mT, expected, 1e-3, "These are the scores q·k.")


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="with base {base}")
@pytest.mark.parametrize("base", [100.0, 500000.0])
def test_base(submission, reference, rand, base):
    """Takes any base."""
    compare(submission, reference, rand(3, 4, 8), torch.tensor([0, 5, 9, 20]), base=base)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="on x with {axes} axes")
@pytest.mark.parametrize("axes", [2, 3, 4, 5])
def test_any_axes(submission, reference, rand, axes):
    """Takes any number of axes in front, in sizes that nobody knows by heart."""
    *front, pairs = rand.sizes(axes)
    compare(submission, reference, rand(*front, 2 * pairs), rand.integers(0, 31, front[-1]))


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="where one size is large")
def test_no_largest(submission, reference, rand):
    """Has no longest text, widest head, largest position or highest number of axes."""
    large = rand.large()
    compare(submission, reference, rand(large, 4), torch.arange(large) + 1800, FAR)
    compare(submission, reference, rand(3, 2 * large), rand.integers(0, 31, 3), FAR)
    # a single pair, so that the angle is the position itself, which float32 does not round
    compare(submission, reference, rand(*[2] * int(rand.integers(6, 9, 1))), torch.tensor([(1 << 20) + large, 1]), FAR)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="with as many heads as tokens and pairs")
def test_square(submission, reference, rand):
    """Lets the angle follow the tokens, and not the heads: here all axes are 4 long."""
    compare(submission, reference, rand(4, 4, 4, 8), torch.tensor([1, 2, 5, 9]))


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="on the smallest input")
def test_small(submission, reference, rand):
    """Works for one token of one pair."""
    compare(submission, reference, rand(1, 2), torch.tensor([5]))


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="on a slice of a larger tensor")
def test_slices(submission, reference, rand):
    """Works where x is a slice of a larger tensor."""
    x, positions = rand(3, 5, 6), torch.arange(5)
    assert_matches(submission.apply_rope.on_slices(x, positions), reference.apply_rope(x, positions))


@pytest.mark.check(skill="stability", points=1, needs="test_shape", stage="at positions near 1000")
def test_far(submission, reference, rand):
    """Stays right far from the start, at positions up to 1200."""
    compare(submission, reference, rand(2, 4, 8, scale=0.5), torch.tensor([600, 1200, 1023, 1100]), FAR)


@pytest.mark.check(skill="gradients", points=2, needs="test_values", stage="in its gradient")
def test_gradient(submission, reference, rand):
    """Lets the right gradient through: turned back by the same angle."""
    x, weights, positions = rand(2, 5, 6), rand(2, 5, 6), torch.tensor([3, 0, 8, 1, 20])
    assert_gradients_match(submission.apply_rope, reference.apply_rope, x, positions, wrt=[0], weights=weights)


@pytest.mark.check(skill="hygiene", points=0.5)
def test_unchanged_and_portable(submission, rand):
    """Leaves its arguments alone, and works where they are: names no device."""
    x, positions = rand(2, 4, 6), torch.arange(4)
    assert_unchanged(submission.apply_rope.observe(x, positions), x, positions)
    assert_portable(submission.apply_rope, x, positions)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_shape", stage="with float64")
def test_float64(submission, reference, rand):
    """Computes in float64 where x is float64: to nine decimals."""
    x, positions = rand(2, 4, 8, dtype=torch.float64), torch.tensor([30, 7, 19, 25])
    found, expected = submission.apply_rope(x, positions), reference.apply_rope(x, positions)
    assert_matches(found, expected)
    if (found - expected).abs().max() > 1e-9:
        fail("x is float64, and the angles have the precision of float32 only.")
