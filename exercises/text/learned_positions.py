"""Learned positions: a second table, with one row for each place.

The lesson:          learn read learned_positions
Your work, checked:  learn check learned_positions
"""

import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    """Add to each token the learned vector of its place.

        forward(x)[b, t, :] = x[b, t, :] + weight[t, :]

    Arguments of the constructor
        max_len: the longest text that there will be.
        d_model: D, the width of a token.

    `state_dict()` has exactly one name, because the checks load numbers of
    their own into your table:

        weight    (max_len, D), a parameter: row t belongs to place t

    What the table holds at the start is not judged. A subclass of
    nn.Embedding has this name, too; an nn.Embedding that is kept *inside*
    (`self.table = nn.Embedding(...)`) has another: `table.weight`.

    Arguments of the call, positions(x)
        x: shape (B, T, D), the tokens' vectors (never their ids), with the
           dtype and on the device of the table; T is at most max_len,
           whatever B is. The places are 0, 1, ..., T − 1.

    Returns
        a new tensor of the shape of x. Nothing is scaled. x is not
        changed; a gradient flows to x and to the rows 0 ... T − 1, added
        up over the batch, and to no other row.

    Raises
        ValueError: T is larger than max_len.

    Allowed: everything.

    >>> positions = LearnedPositionalEmbedding(4, 2)
    >>> rows = torch.arange(4.0).view(4, 1) + torch.tensor([0.0, 0.1])
    >>> _ = positions.load_state_dict({"weight": rows})
    >>> positions(torch.full((1, 3, 2), 10.0)).detach()
    tensor([[[10.0000, 10.1000],
             [11.0000, 11.1000],
             [12.0000, 12.1000]]])
    """

    def __init__(self, max_len, d_model):
        super().__init__()
        raise NotImplementedError(
            "LearnedPositionalEmbedding: not written yet"
        )  # fmt: skip

    def forward(self, x):
        raise NotImplementedError(
            "LearnedPositionalEmbedding: not written yet"
        )  # fmt: skip
