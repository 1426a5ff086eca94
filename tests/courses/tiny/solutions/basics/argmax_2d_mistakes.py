"""What people get wrong in `argmax_2d`, executable; and other right ways to write it."""

import numpy as np

from grader.api.checks import MistakeSet


def make_argmax_2d(*, measure, pick, split, give):
    """The place of the largest entry from four steps: measure entries, pick a flat place, split it, give it back."""

    def argmax_2d(grid):
        return give(split(pick(measure(grid)), grid.shape))

    return argmax_2d


def as_it_is(value):
    return value


def first_largest(values):
    return int(values.argmax())


def by_columns(place, shape):
    return divmod(place, shape[1])


argmax_2d = MistakeSet(
    "argmax_2d", make_argmax_2d, measure=as_it_is, pick=first_largest, split=by_columns, give=as_it_is
)

MISTAKE_SETS = [argmax_2d]


def plain(answer):
    """Whole numbers as Python's, so that numpy's are no other answer."""
    if isinstance(answer, tuple):
        return tuple(plain(part) for part in answer)
    is_number = hasattr(answer, "dtype") and answer.ndim == 0 and answer.dtype.kind == "i"
    return int(answer) if is_number else answer


# --- probes -----------------------------------------------------------------------------------------------------------

GRIDS = {
    "a single entry": [[7.0]],
    "one row": [[1.0, 3.0, 2.0, 8.0, -9.0]],
    "one column": [[1.0], [3.0], [-9.0], [8.0], [2.0]],
    "a wide grid": [[1.0, 2.0, 3.0, 0.0, 4.0], [0.0, 9.0, 8.0, -20.0, -6.0], [1.0, 9.0, 5.0, 8.0, 7.0]],
    "a square": [[2.0, 1.0, 0.0], [-5.0, 4.0, 6.0], [3.0, 5.0, 5.5]],
    "all negative": [[-5.0, -3.0], [-4.0, -2.0], [-7.0, -6.0]],
}


def add_probe(name, values):
    @argmax_2d.probe(name, stage=f"on {name}" if name != "all negative" else "where all are negative")
    def _(subject, rand):
        return plain(subject.argmax_2d(np.array(values)))


for grid_name, grid_values in GRIDS.items():
    add_probe(grid_name, grid_values)


@argmax_2d.probe("the grid afterwards")
def _(subject, rand):
    return subject.argmax_2d.observe(rand(3, 4)).args


argmax_2d.example(np.array([[1.0, 5.0, 2.0], [0.0, 3.0, 4.0]]))
argmax_2d.example(np.array([[1.0, 5.0], [5.0, 0.0]]))
argmax_2d.example(np.array([[-2.0, -1.0], [-4.0, -3.0]]))

# --- mistakes ---------------------------------------------------------------------------------------------------------

argmax_2d.mistake(
    "am-flat-place",
    says="You give back one number: the place in reading order.",
    suggests="Split it with `divmod` by the number of columns.",
    split=lambda place, shape: place,
)
argmax_2d.mistake(
    "am-column-first",
    says="Column and row are exchanged in what you give back.",
    suggests="Give back the row first, then the column.",
    give=lambda place: place[::-1],
)
argmax_2d.mistake(
    "am-counted-from-one",
    says="You count rows and columns from 1.",
    suggests="Count from 0, as Python does.",
    give=lambda place: (place[0] + 1, place[1] + 1),
)
argmax_2d.mistake(
    "am-divided-by-rows",
    says="You divide by the number of rows: right on a square, wrong on every other grid.",
    suggests="Divide by the number of columns, `grid.shape[1]`.",
    split=lambda place, shape: divmod(place, shape[0]),
)
argmax_2d.mistake(
    "am-smallest",
    says="You look for the smallest entry.",
    suggests="Look for the largest: `argmax`, or `>` in your loop.",
    pick=lambda values: int(values.argmin()),
)
argmax_2d.mistake(
    "am-last-of-several",
    says="Where the largest value stands in several places, you take the last.",
    suggests="Take the first in reading order: replace an entry only by a larger one, `>` and not `>=`.",
    pick=lambda values: values.size - 1 - int(values.ravel()[::-1].argmax()),
)
argmax_2d.mistake(
    "am-farthest-from-zero",
    says="You look for the entry farthest from zero: -9 wins over 8.",
    suggests="Leave the signs as they are.",
    measure=abs,
)
argmax_2d.mistake(
    "am-begins-at-zero",
    says="Your search begins with 0 as the largest so far, so it finds nothing where all are negative.",
    suggests="Begin with the first entry.",
    measure=lambda grid: np.maximum(grid, 0.0),
)
argmax_2d.mistake(
    "am-sums",
    says="You take the row and the column with the largest sums, which is not where the largest entry stands.",
    suggests="Compare single entries.",
    version=lambda grid: (int(grid.sum(axis=1).argmax()), int(grid.sum(axis=0).argmax())),
)


def scale_in_place(grid):
    grid /= abs(grid).max()
    return grid


argmax_2d.mistake(
    "am-in-place",
    says="You change the caller's grid (`grid /= ...`).",
    suggests="Make a new array, or leave the entries as they are: no scaling is needed.",
    measure=scale_in_place,
)

# --- alternatives -----------------------------------------------------------------------------------------------------


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


argmax_2d.alternative("unravel_index", version=lambda grid: np.unravel_index(np.argmax(grid), grid.shape))
argmax_2d.alternative("two loops", version=by_two_loops)
argmax_2d.alternative("the best of each row", version=by_best_of_each_row)
