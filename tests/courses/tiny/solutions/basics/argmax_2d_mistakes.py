"""What people write in `argmax_2d` in place of the reference's lines; and other right ways to write it."""

import numpy as np

from grader.api.checks import MistakeSet


def plain(answer):
    """Whole numbers as Python's, so that numpy's are no other answer."""
    if isinstance(answer, tuple):
        return tuple(plain(part) for part in answer)
    is_number = hasattr(answer, "dtype") and answer.ndim == 0 and answer.dtype.kind == "i"
    return int(answer) if is_number else answer


argmax_2d = MistakeSet("argmax_2d", globals(), read=plain)
mistake, right = argmax_2d.mistake, argmax_2d.alternative
MISTAKE_SETS = [argmax_2d]

argmax_2d.example(np.array([[1.0, 5.0, 2.0], [0.0, 3.0, 4.0]]))
argmax_2d.example(np.array([[1.0, 5.0], [5.0, 0.0]]))
argmax_2d.example(np.array([[-2.0, -1.0], [-4.0, -3.0]]))


def scale_in_place(grid):
    grid /= abs(grid).max()
    return grid


def by_two_loops(grid):
    row, column = 0, 0
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            if grid[i, j] > grid[row, column]:
                row, column = i, j
    return row, column


def by_best_of_each_row(grid):
    row = grid.max(axis=1).argmax()
    return row, grid[row].argmax()


# fmt: off
mistake("am-flat-place", "You give back one number: the place in reading order.",
        "Split it with `divmod` by the number of columns.", give="place")
mistake("am-column-first", "Column and row are exchanged in what you give back.",
        "Give back the row first, then the column.", give="column, row")
mistake("am-counted-from-one", "You count rows and columns from 1.", "Count from 0, as Python does.",
        give="row + 1, column + 1")
mistake("am-divided-by-rows", "You divide by the number of rows: right on a square, wrong on every other grid.",
        "Divide by the number of columns, `grid.shape[1]`.", split="divmod(place, grid.shape[0])")
mistake("am-smallest", "You look for the smallest entry.", "Look for the largest: `argmax`, or `>` in your loop.",
        pick="int(grid.argmin())")
mistake("am-last-of-several", "Where the largest value stands in several places, you take the last.",
        "Take the first in reading order: replace an entry only by a larger one, `>` and not `>=`.",
        pick="grid.size - 1 - int(grid.ravel()[::-1].argmax())")
mistake("am-farthest-from-zero", "You look for the entry farthest from zero: -9 wins over 8.",
        "Leave the signs as they are.", take_grid="abs(grid)")
mistake("am-begins-at-zero",
        "Your search begins with 0 as the largest so far, so it finds nothing where all are negative.",
        "Begin with the first entry.", take_grid="np.maximum(grid, 0.0)")
mistake("am-sums",
        "You take the row and the column with the largest sums, which is not where the largest entry stands.",
        "Compare single entries.", version="int(grid.sum(axis=1).argmax()), int(grid.sum(axis=0).argmax())")
mistake("am-in-place", "You change the caller's grid (`grid /= ...`).",
        "Make a new array, or leave the entries as they are: no scaling is needed.", take_grid="scale_in_place(grid)")

right("unravel_index", version=lambda grid: np.unravel_index(np.argmax(grid), grid.shape))
right("two loops", version=by_two_loops)
right("the best of each row", version=by_best_of_each_row)
# fmt: on
