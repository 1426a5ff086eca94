"""What people write in `moving_average` in place of the reference's lines; and other right ways to write it."""

import numpy as np

from grader.api.checks import MistakeSet

moving_average = MistakeSet("moving_average", globals())
mistake, right = moving_average.mistake, moving_average.alternative
MISTAKE_SETS = [moving_average]

moving_average.ask("a float64 series", np.linspace(-1.0, 2.0, 7) ** 3, 3)
moving_average.example(np.array([1.0, 2.0, 6.0]), 1)
moving_average.example(np.array([1.0, 2.0, 6.0, 7.0]), 2)


def lower_in_place(x):
    x -= x.min()
    return x


def mean_of_each(parts, x):
    return np.array([np.mean(part) for part in parts], dtype=x.dtype)


def by_running_total(x, window):
    total = np.concatenate([[0.0], np.cumsum(x, dtype="float64")])
    return ((total[window:] - total[:-window]) / window).astype(x.dtype)


def by_shifted_copies(x, window):
    n = len(x) - window + 1
    return (sum(x[shift : shift + n] for shift in range(window)) / window).astype(x.dtype)


# fmt: off
mistake("ma-last-window-lost", "The last window is missing: your windows stop one too early.",
        "There are n - window + 1 whole windows: `range(len(x) - window + 1)`.",
        cut="np.lib.stride_tricks.sliding_window_view(x, window)[:-1]")
mistake("ma-broken-windows", "You also average what is left at the end, where a whole window no longer fits.",
        "Stop at the last whole window: `range(len(x) - window + 1)`.",
        cut="[x[start : start + window] for start in range(len(x))]", centre="mean_of_each(windows, x)")
mistake("ma-from-the-start", "Every mean runs from the first value on: this is the running mean of everything so far.",
        "Let each window begin at its own place: `x[i : i + window]`.",
        cut="[x[: start + window] for start in range(len(x) - window + 1)]", centre="mean_of_each(windows, x)")
mistake("ma-sum", "Your entries are the sums of the windows; they are not divided by `window`.",
        "Divide each sum by `window`.", centre="windows.sum(axis=1)")
mistake("ma-divided-by-n", "You divide by the length of the whole series.",
        "Divide each sum by `window`, the number of values in it.", centre="windows.sum(axis=1) / len(x)")
mistake("ma-median", "You take the median of each window.",
        "Add the values of the window and divide by their number.", centre="np.median(windows, axis=1)")
mistake("ma-dtype", "The answer's dtype is float64 whatever the input's is.", "Give back the dtype of `x`.",
        result="value.astype('float64')")
mistake("ma-in-place", "You move the caller's series itself (`x -= ...`), and give its means from the new level.",
        "Make a new array: `x = x - ...`; here no shift is needed at all.", take_x="lower_in_place(x)")

right("differences of a running total", version=by_running_total)
right("shifted copies added", version=by_shifted_copies)
right("numpy's mean of each", centre="mean_of_each(windows, x)")
# fmt: on
