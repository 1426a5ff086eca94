"""The embedding: a table with one learned vector for each token id.

The lesson:          learn read embedding
Your work, checked:  learn check embedding
"""

import torch
from torch import nn


class Embedding(nn.Module):
    """A table of learned vectors: id i picks row i.

        forward(ids)[..., :] = weight[ids[...], :]

    Arguments of the constructor
        vocab_size: V, how many ids there are: 0 ... V − 1.
        d_model: D, the width of a vector.

    `state_dict()` has exactly one name, because the checks load numbers of
    their own into your table:

        weight    (V, D), a parameter: row i belongs to id i

    What the table holds at the start is not judged; random numbers are
    usual. A subclass of nn.Embedding has this name, too. An nn.Embedding
    that is kept *inside* (`self.table = nn.Embedding(...)`) has another:
    `table.weight`.

    Arguments of the call, embedding(ids)
        ids: int64 tensor of any shape, also of shape (), on the device of
           the table; every id is in 0 ... V − 1. The same id may occur
           many times. (Ids below 0 or from V on are not judged.)

    Returns
        a tensor of shape (*ids.shape, D), with the dtype of the table and
        on its device. Nothing is scaled, normalised or left out: id 0 is
        an id like any other. `ids` is not changed. A gradient flows to the
        rows that were looked up, added up over all places of an id, and to
        no other row.

    Allowed: everything, nn.functional.embedding included.

    >>> embedding = Embedding(3, 2)
    >>> rows = torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    >>> _ = embedding.load_state_dict({"weight": rows})
    >>> embedding(torch.tensor([2, 0, 2])).detach()
    tensor([[4., 5.],
            [0., 1.],
            [4., 5.]])
    """

    def __init__(self, vocab_size, d_model):
        super().__init__()
        raise NotImplementedError("Embedding: not written yet")

    def forward(self, ids):
        raise NotImplementedError("Embedding: not written yet")
