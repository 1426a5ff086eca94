"""The causal mask: no position may look into its own future.

The lesson:          learn read causal_mask
Your work, checked:  learn check causal_mask
Your file may import torch, numpy and Python's standard library.
"""

import torch


def causal_mask(seq_len):
    """Say which position may attend to which, from left to right.

        mask[i, j] is True  when j <= i:  query i may attend to key j
        mask[i, j] is False when j >  i:  key j lies in query i's future

    Arguments
        seq_len: the number of positions T, an int, at least 1; there is no
           largest.

    Returns
        a bool tensor of shape (T, T): rows are queries, columns are keys,
        and True = may attend (the meaning that `mask` has in the attention
        lesson). A position may attend to itself: the diagonal is True.

    Allowed: everything in torch, torch.tril and torch.triu included. Make
    the tensor where torch makes tensors by default: name no device.

    >>> causal_mask(3)
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])
    >>> causal_mask(1)
    tensor([[True]])
    """
    raise NotImplementedError("causal_mask: not written yet")
