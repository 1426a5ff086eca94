"""Batches of text: windows of one long row of ids, and what comes next.

The lesson:          learn read language_batches
Your work, checked:  learn check language_batches
"""

import torch


def split(data, share=0.9):
    """Cut a row of ids into its beginning and its end.

    The first `share` of the ids is for training, the rest is held out: it
    measures what the model has learned. The order stays as it is.

    Arguments
        data: shape (N,), int64.
        share: the part for training, larger than 0 and smaller than 1.
           Where share · N is no whole number, the cut may lie on either
           side of it: that is not judged.

    Returns
        (train, held_out), of share · N and N − share · N ids. They may be
        views of data, which is not changed.

    Allowed: everything.

    >>> split(torch.arange(10), share=0.8)
    (tensor([0, 1, 2, 3, 4, 5, 6, 7]), tensor([8, 9]))
    """
    raise NotImplementedError("split: not written yet")


def get_batch(data, starts, block_size):
    """Cut one window out of the row for each start; and what comes next.

        inputs[b, t]  = data[starts[b] + t]
        targets[b, t] = data[starts[b] + t + 1]

    for t = 0 ... T − 1: the target of each id is the id behind it.

    Arguments
        data: shape (N,), int64.
        starts: shape (B,), int64, where the windows begin: any numbers from
           0 to N − T − 1, in any order, also one twice, on the device of
           data. (Others are not judged.)
        block_size: T, at least 1.

    Returns
        (inputs, targets), each of shape (B, T), int64, on the device of
        data. They are new tensors: who writes into them later changes no
        text. (Inputs and targets may share memory with each other.) Nothing
        is drawn at random; data and starts are not changed.

    Allowed: everything.

    >>> data = torch.arange(10, 20)
    >>> inputs, targets = get_batch(data, torch.tensor([0, 6]), 3)
    >>> inputs
    tensor([[10, 11, 12],
            [16, 17, 18]])
    >>> targets
    tensor([[11, 12, 13],
            [17, 18, 19]])
    """
    raise NotImplementedError("get_batch: not written yet")
