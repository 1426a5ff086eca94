"""The moving average in a picture."""

import numpy

from grader.api.pictures import curves, first_difference, picture


@picture
def smoothed(submission, reference, rand):
    """A step, smoothed"""
    step = numpy.repeat([0.0, 1.0], 10)
    asks = {f"moving_average(step, {w})": lambda subject, w=w: subject.moving_average(step, w) for w in (5, 2)}
    return curves(first_difference(submission, reference, asks), "place", of="average")
