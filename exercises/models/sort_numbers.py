"""An encoder that sorts: a model, the loop that trains it, seconds.

The lesson:          learn read sort_numbers
Your work, checked:  learn check sort_numbers
Your own earlier work may serve here:
    from encoder import Encoder
    from pooling_heads import TokenClassifier
"""

import torch
from torch import nn


class Sorter(nn.Module):
    """An encoder with a head for each place: a list in, its order out.

    Anything that turns ids into logits will do, of whatever it is made:
    your earlier lessons, torch's layers, or both. A run of 600 steps has
    been tried with 2 blocks, d_model = 64, 4 heads, d_ff = 128.

    Sorter(vocab_size, length, positions=True)
        vocab_size: V, how many ids there are, 2 or more.
        length: T, how long every list is, 1 or more. Lists of another
           length are not judged.
        positions: True, and the model is told where each id stands, by
           whatever means, and before any training already: the same ids
           in another order give logits that are more than reordered.
           False, and nothing tells it: if the list is reordered, its
           logits are reordered in the same way and are otherwise the same,
           before training and after it. All else is as with True.
        All sizes inside are yours, with 150,000 numbers in all parameters
        together at most. How it starts is yours as well; untrained, its
        mean loss on random ids must lie below ln(V) + 1.5.
        What it learns is in its parameters: training changes nothing that
        no gradient reaches, and a Sorter that is given the state dict of a
        trained one answers as that one does.

    forward(ids): ids (B, T) int64, 0 ... V - 1, to logits (B, T, V) in
        float32, no softmax: logits[:, t] say which id stands at place t of
        the answer. Each place must depend on the ids of all places, those
        after it too. No row of a batch sees another, ids is not changed,
        and in eval mode the same ids give the same logits twice.

    >>> Sorter(16, 8)(torch.zeros(4, 8, dtype=torch.int64)).shape
    torch.Size([4, 8, 16])
    """

    def __init__(self, vocab_size, length, positions=True):
        super().__init__()
        raise NotImplementedError("Sorter: not written yet")

    def forward(self, ids):
        """Give the logits of the answer at each place."""
        raise NotImplementedError("Sorter: not written yet")


def fit(model, lists, answers, report):
    """Train a model to give the answer at each place: one step a batch.

    For each i = 0 ... steps - 1, in this order:
        take the mean cross-entropy of model(lists[i]) against answers[i],
            over all places of all lists of the batch
        report it: report(loss), with the loss as it was before the step
        take one step of an optimiser of your choice, down its gradient

    Do not sort: take the answers as they are. In the judge's run an id is
    the name of a number, and which number has which is drawn anew each
    time, so that ids are not in the order of their numbers. In a short run
    more, of 150 steps, the places of all answers are exchanged in one way,
    and half of them are to be right.

    Arguments
        model: ids (B, T) to logits (B, T, V). The judge calls this with
           models of its own as well.
        lists: (steps, B, T) int64, ids; steps is 1 or more.
        answers: (steps, B, T) int64, the id that belongs at each place.
        report: takes one number, a float or a tensor of shape ().

    Returns
        nothing that is looked at: the model is trained in place, in train
        mode. lists and answers are not changed. Optimiser, rate, warm-up,
        decay and clipping are yours; len(lists) tells how many steps there
        will be. Count steps, not seconds.

    >>> table, losses = nn.Embedding(4, 4), []
    >>> _ = nn.init.zeros_(table.weight)
    >>> lists = torch.tensor([[[2, 0, 3]]])
    >>> _ = fit(table, lists, lists.sort(-1).values, losses.append)
    >>> [round(float(loss), 4) for loss in losses]
    [1.3863]
    """
    raise NotImplementedError("fit: not written yet")
