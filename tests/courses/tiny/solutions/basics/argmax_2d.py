"""The largest entry of a grid, the reference: its place in reading order, split into row and column."""


def argmax_2d(grid):
    """Row and column of the largest entry of `grid`."""
    place = int(grid.argmax())  # step: pick
    row, column = divmod(place, grid.shape[1])  # step: split
    return row, column  # step: give
