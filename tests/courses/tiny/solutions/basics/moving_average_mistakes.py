"""What people get wrong in `moving_average`, executable; and other right ways to write it."""

import numpy as np

from grader.api.checks import MistakeSet


def make_moving_average(*, take, windows, centre, give):
    """A moving average from its four steps: take the series, cut the windows, find each one's centre, give back."""

    def moving_average(x, window):
        return give(centre(windows(take(x), window), x), x)

    return moving_average


def as_it_is(x):
    return x


def whole_windows(x, window):
    return [x[start : start + window] for start in range(len(x) - window + 1)]


def mean(windows, x):
    return [part.sum() / len(part) for part in windows]


def same_dtype(means, x):
    return np.array(means, dtype=x.dtype)


moving_average = MistakeSet(
    "moving_average", make_moving_average, take=as_it_is, windows=whole_windows, centre=mean, give=same_dtype
)

MISTAKE_SETS = [moving_average]

# --- probes -----------------------------------------------------------------------------------------------------------


@moving_average.probe("a window of one", stage="with a window of one")
def _(subject, rand):
    return subject.moving_average(rand(5), 1)


@moving_average.probe("a window of three", stage="with a window of three")
def _(subject, rand):
    return subject.moving_average(rand(7), 3)


@moving_average.probe("one window for all", stage="with one window for all")
def _(subject, rand):
    return subject.moving_average(rand(6), 6)


@moving_average.probe("a float64 series")
def _(subject, rand):
    return subject.moving_average(rand(7, dtype="float64"), 3)


@moving_average.probe("the series afterwards")
def _(subject, rand):
    return subject.moving_average.observe(rand(7), 3).args


moving_average.example(np.array([1.0, 2.0, 6.0]), 1)
moving_average.example(np.array([1.0, 2.0, 6.0, 7.0]), 2)

# --- mistakes ---------------------------------------------------------------------------------------------------------

moving_average.mistake(
    "ma-last-window-lost",
    says="The last window is missing: your windows stop one too early.",
    suggests="There are n - window + 1 whole windows: `range(len(x) - window + 1)`.",
    windows=lambda x, window: [x[start : start + window] for start in range(len(x) - window)],
)
moving_average.mistake(
    "ma-broken-windows",
    says="You also average what is left at the end, where a whole window no longer fits.",
    suggests="Stop at the last whole window: `range(len(x) - window + 1)`.",
    windows=lambda x, window: [x[start : start + window] for start in range(len(x))],
)
moving_average.mistake(
    "ma-from-the-start",
    says="Every mean runs from the first value on: this is the running mean of everything so far.",
    suggests="Let each window begin at its own place: `x[i : i + window]`.",
    windows=lambda x, window: [x[: start + window] for start in range(len(x) - window + 1)],
)
moving_average.mistake(
    "ma-sum",
    says="Your entries are the sums of the windows; they are not divided by `window`.",
    suggests="Divide each sum by `window`.",
    centre=lambda windows, x: [part.sum() for part in windows],
)
moving_average.mistake(
    "ma-divided-by-n",
    says="You divide by the length of the whole series.",
    suggests="Divide each sum by `window`, the number of values in it.",
    centre=lambda windows, x: [part.sum() / len(x) for part in windows],
)
moving_average.mistake(
    "ma-median",
    says="You take the median of each window.",
    suggests="Add the values of the window and divide by their number.",
    centre=lambda windows, x: [np.median(part) for part in windows],
)
moving_average.mistake(
    "ma-dtype",
    says="The answer's dtype is float64 whatever the input's is.",
    suggests="Give back the dtype of `x`.",
    give=lambda means, x: np.array(means, dtype="float64"),
)


def add_up_in_place(x):
    x -= x.min()
    return x


moving_average.mistake(
    "ma-in-place",
    says="You move the caller's series itself (`x -= ...`), and give its means from the new level.",
    suggests="Make a new array: `x = x - ...`; here no shift is needed at all.",
    take=add_up_in_place,
)

# --- alternatives -----------------------------------------------------------------------------------------------------


def by_running_total(x, window):
    total = np.concatenate([[0.0], np.cumsum(x, dtype="float64")])
    return ((total[window:] - total[:-window]) / window).astype(x.dtype)


def by_shifted_copies(x, window):
    n = len(x) - window + 1
    return (sum(x[shift : shift + n] for shift in range(window)) / window).astype(x.dtype)


moving_average.alternative("differences of a running total", version=by_running_total)
moving_average.alternative("shifted copies added", version=by_shifted_copies)
moving_average.alternative("numpy's mean of each", centre=lambda windows, x: [np.mean(part) for part in windows])
