"""The largest entry of a grid, the reference: its place in reading order, split into row and column."""


def argmax_2d(grid):
    """Row and column of the largest entry of `grid`."""
    row, column = divmod(int(grid.argmax()), grid.shape[1])
    return row, column
