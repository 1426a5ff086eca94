"""The hidden checks of `argmax_2d`."""

import numpy as np
import pytest

from grader.api.checks import assert_unchanged, fail, is_array, kind_of


def is_whole_scalar(value):
    """Whether it is one of numpy's whole numbers."""
    return is_array(value) and value.shape == () and value.dtype.kind == "i"


def assert_place(answer, row, column):
    """A tuple of two whole numbers, whichever kind of whole number they are."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        fail(f"It returned {kind_of(answer)}; expected a tuple of row and column.")
    if not all(
        type(part) is int or (is_array(part) and part.shape == () and part.dtype.kind == "i") for part in answer
    ):
        fail(f"It returned {kind_of(answer)}; expected two whole numbers.")
    found = tuple(int(part) for part in answer)
    if found != (row, column):
        fail(f"It returned {found}; the largest entry stands at {(row, column)}.")


@pytest.mark.check(skill="shape", points=1)
def test_two_numbers(submission):
    """Gives back a row and a column."""
    assert_place(submission.argmax_2d(np.array([[7]])), 0, 0)


@pytest.mark.check(skill="values", points=3, needs="test_two_numbers")
def test_random_grid(submission, reference, rand):
    """Finds the largest entry of a grid of random numbers."""
    grid = rand(3, 5)
    assert_place(submission.argmax_2d(grid), *reference.argmax_2d(grid))


@pytest.mark.check(skill="values", points=2, needs="test_two_numbers")
@pytest.mark.parametrize("row, column", [(0, 4), (2, 0), (1, 3)])
def test_every_corner(submission, rand, row, column):
    """Finds it in a corner and in the middle."""
    grid = rand(3, 5)
    grid[row, column] = 100.0
    assert_place(submission.argmax_2d(grid), row, column)


@pytest.mark.check(skill="values", points=1, needs="test_two_numbers")
def test_all_negative(submission, reference, rand):
    """Finds the largest where all are negative."""
    grid = -abs(rand(4, 3)) - 1.0
    assert_place(submission.argmax_2d(grid), *reference.argmax_2d(grid))


@pytest.mark.check(skill="values", points=1, needs="test_two_numbers")
def test_largest_not_farthest_from_zero(submission):
    """Takes the largest entry, not the one farthest from zero."""
    assert_place(submission.argmax_2d(np.array([[-9.0, 2.0], [3.0, 1.0]])), 1, 0)


@pytest.mark.check(skill="generality", points=1, needs="test_two_numbers")
@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (4, 4)])
def test_any_shape(submission, reference, rand, shape):
    """Works for one row, one column and a square."""
    grid = rand(*shape)
    assert_place(submission.argmax_2d(grid), *reference.argmax_2d(grid))


@pytest.mark.check(skill="generality", points=1, needs="test_two_numbers")
def test_first_of_several(submission):
    """Takes the first in reading order where several are largest."""
    assert_place(submission.argmax_2d(np.array([[1, 0, 4], [4, 2, 4]])), 0, 2)


@pytest.mark.check(skill="hygiene", points=1)
def test_input_unchanged(submission, rand):
    """Leaves its input alone."""
    grid = rand(3, 5)
    assert_unchanged(submission.argmax_2d.observe(grid), grid)
