"""The largest entry of a grid: learn read argmax_2d, then learn check argmax_2d."""

import numpy as np  # noqa: F401  what makes a grid


def argmax_2d(grid):
    """Row and column of the largest entry of `grid`.

    Arguments
        grid: array of numbers of shape (rows, columns), with at least one entry.

    Returns
        a tuple of two whole numbers (Python's or numpy's), row and column, counted from 0. If the largest value
        stands in several places, the first in reading order counts. `grid` is not changed.

    >>> argmax_2d(np.array([[1, 5, 2], [0, 3, 4]]))
    (0, 1)
    """
    raise NotImplementedError("argmax_2d: not written yet")
