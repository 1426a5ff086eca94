"""Positional encoding in pictures: the table, and how alike two positions are by their distance."""

from grader.api.pictures import curves, first_difference, grids, picture

LENGTH, WIDTH = 64, 32


def table(length, width):
    return lambda subject: subject.sinusoidal_positional_encoding(length, width)


def similarity(subject):
    """The dot products of all positions with the first, as shares of its own."""
    found = table(LENGTH, WIDTH)(subject)
    return found @ found[0] / (WIDTH / 2)


@picture
def waves(submission, reference, rand):
    """The table: a position a row, fast waves on the left, slow ones on the right"""
    asks = {f"sinusoidal_positional_encoding({n}, {d})": table(n, d) for n, d in ((16, 16), (20, 6), (1, 2))}
    return grids(first_difference(submission, reference, asks), across=("position", "feature"))


@picture
def alike_by_distance(submission, reference, rand):
    """How alike two positions are, by how far apart they stand"""
    asks = {f"p = sinusoidal_positional_encoding({LENGTH}, {WIDTH}); p @ p[0] / {WIDTH // 2}": similarity}
    return curves(first_difference(submission, reference, asks), "distance", of="similarity")
