"""Moving average: learn read moving_average, then learn check moving_average."""

import numpy as np  # noqa: F401  the answer will need it


def moving_average(x, window):
    """The mean of every run of `window` neighbours in `x`.

    Arguments
        x: floating-point array of shape (n,).
        window: a whole number from 1 to n.

    Returns
        a new array of shape (n - window + 1,) with the dtype of `x`; entry i is the mean of x[i : i + window].
        Only whole windows count. `x` is not changed.

    Not allowed: np.convolve and np.correlate, which do it whole.

    >>> moving_average(np.array([1.0, 2.0, 6.0, 7.0]), 2)
    array([1.5, 4. , 6.5])
    """
    raise NotImplementedError("moving_average: not written yet")
