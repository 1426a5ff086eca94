"""Padding masks: nobody reads what fills a text up.

The lesson:          learn read padding_mask
Your work, checked:  learn check padding_mask
"""

import torch


def padding_mask(lengths, max_len):
    """Hide the keys that only fill a text up.

    Text b has lengths[b] tokens, at the places 0 ... lengths[b] − 1. What
    stands to their right, up to place max_len − 1, is padding.

        mask[b, 0, 0, j] is True  when j < lengths[b]:  a token
        mask[b, 0, 0, j] is False when j >= lengths[b]: padding

    Arguments
        lengths: an int64 tensor (B,); each is at least 1 and at most
           max_len. There may be no text as long as max_len.
        max_len: the number of places S, an int.

    Returns
        a new bool tensor of exactly the shape (B, 1, 1, S), on the device
        of lengths; True = may attend. The axes of size 1 are for the heads
        and the queries: it broadcasts over scores (B, H, T, S), and every
        query of a text sees the same keys.

    Allowed: everything in torch.

    >>> padding_mask(torch.tensor([2, 3]), 4)[:, 0, 0]
    tensor([[ True,  True, False, False],
            [ True,  True,  True, False]])
    """
    raise NotImplementedError("padding_mask: not written yet")


def causal_padding_mask(lengths, max_len):
    """Hide the padding, and from every query its future, too.

        mask[b, 0, i, j] is True  when j <= i and j < lengths[b]
                            False else

    Padded queries follow the same rule: query i, although it is padding,
    sees the tokens of its text up to its place, and no padding. So every
    row has a True at key 0, and no softmax is 0/0.

    Arguments
        lengths, max_len: as in padding_mask; T = S = max_len.

    Returns
        a bool tensor of exactly the shape (B, 1, T, T), on the device of
        lengths; True = may attend. Whether it is a view that broadcasting
        has expanded is not judged.

    Allowed: everything in torch, and your own padding_mask.

    >>> causal_padding_mask(torch.tensor([2, 4]), 4)[0, 0]
    tensor([[ True, False, False, False],
            [ True,  True, False, False],
            [ True,  True, False, False],
            [ True,  True, False, False]])
    """
    raise NotImplementedError("causal_padding_mask: not written yet")
