"""The learning rate over a run: a warm-up, then half a cosine.

The lesson:          learn read learning_rate
Your work, checked:  learn check learning_rate
"""


def lr_at(step, max_lr, min_lr, warmup, total):
    """Give the rate of step number `step`, which counts from 1.

        step ≤ warmup:   max_lr · step / warmup
        in between:      min_lr + ½ (1 + cos(π · s)) · (max_lr − min_lr)
                         where s = (step − warmup) / (total − warmup)
        step ≥ total:    min_lr

    So the rate is max_lr exactly at step = warmup, min_lr at step = total,
    and stays there.

    Arguments
        step: an int, 1 for the first step. It may be larger than total.
        max_lr, min_lr: floats, max_lr ≥ min_lr ≥ 0.
        warmup: an int ≥ 0, how many steps the rise takes. With 0 there is
           none: the cosine begins at once.
        total: an int, larger than warmup. (warmup = total is not judged.)

    Returns
        a float; a tensor of shape () will do as well.

    Allowed: everything but torch's own schedulers.

    >>> rates = [lr_at(t, 1e-3, 1e-4, 10, 110) for t in (1, 5, 10, 35, 60)]
    >>> [round(rate, 7) for rate in rates]
    [0.0001, 0.0005, 0.001, 0.0008682, 0.00055]
    >>> lr_at(200, 1e-3, 1e-4, 10, 110)
    0.0001
    """
    raise NotImplementedError("lr_at: not written yet")
