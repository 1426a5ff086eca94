"""The hidden checks of `moving_average`."""

import numpy as np
import pytest

from grader.api.checks import assert_matches, assert_repeatable, assert_shape, assert_unchanged


@pytest.mark.check(skill="shape", points=1)
def test_shape(submission, rand):
    """Gives one mean for each whole window."""
    assert_shape(submission.moving_average(rand(9), 4), (6,))


@pytest.mark.check(skill="values", points=3, needs="test_shape")
def test_values(submission, reference, rand):
    """Gives the mean of every window."""
    x = rand(9)
    assert_matches(submission.moving_average(x, 4), reference.moving_average(x, 4))


@pytest.mark.check(skill="values", points=1, needs="test_shape")
def test_a_series_by_hand(submission):
    """Averages 1, 2, 6, 7 in pairs to 1.5, 4 and 6.5."""
    assert_matches(submission.moving_average(np.array([1.0, 2.0, 6.0, 7.0]), 2), np.array([1.5, 4.0, 6.5]))


@pytest.mark.check(skill="generality", points=2, needs="test_shape")
@pytest.mark.parametrize("window", [1, 2, 7])
def test_any_window(submission, reference, rand, window):
    """Is right for a window of one, of two and of everything."""
    x = rand(7)
    assert_matches(submission.moving_average(x, window), reference.moving_average(x, window))


@pytest.mark.check(skill="generality", points=1, needs="test_shape")
def test_a_level_far_from_zero(submission, reference, rand):
    """Keeps the level of a series that lies far from zero."""
    x = rand(8) + 50.0
    assert_matches(submission.moving_average(x, 3), reference.moving_average(x, 3), atol=1e-3)


@pytest.mark.check(skill="hygiene", points=1)
def test_input_unchanged(submission, rand):
    """Leaves its input alone."""
    x = rand(9)
    assert_unchanged(submission.moving_average.observe(x, 4), x)


@pytest.mark.check(skill="hygiene", points=1)
def test_repeatable(submission, rand):
    """Gives the same answer twice."""
    assert_repeatable(submission.moving_average, rand(9), 4)


@pytest.mark.check(skill="hygiene", points=1, needs="test_shape")
def test_dtype(submission, reference, rand):
    """Keeps the dtype of its input."""
    x = rand(9, dtype="float64")
    assert_matches(submission.moving_average(x, 4), reference.moving_average(x, 4))
