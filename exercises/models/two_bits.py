"""Your first transformer: a model, the loop that trains it, ten seconds.

The lesson:          learn read two_bits
Your work, checked:  learn check two_bits
"""

import torch
from torch import nn


class TwoBits(nn.Module):
    """A causal language model that is small enough to train in seconds.

    Anything that turns ids into logits will do, of whatever it is made:
    the pieces of your earlier lessons (`from block import
    TransformerBlock`), torch's layers, or both. A run of 800 steps has
    been tried with 2 blocks, d_model = 32, 2 heads, d_ff = 128.

    TwoBits(vocab_size, max_len)
        vocab_size: how many ids there are, 2 or more.
        max_len: the longest text that it will be given.
        All sizes inside are yours, with 100,000 numbers in all parameters
        together at most. How it starts is yours as well; untrained, its
        mean loss on random ids must lie below ln(vocab_size) + 1.5.
        What it learns is in its parameters, by steps of descent: training
        changes nothing that no gradient reaches, and a TwoBits that is
        given the state dict of a trained one answers as that one does.

    forward(ids): ids (B, T) int64, 1 <= T <= max_len, to logits
        (B, T, vocab_size) in float32, no softmax. logits[:, t] may depend
        on ids[:, : t + 1] alone, and must depend on earlier ids too. No row
        of a batch sees another, ids is not changed, and in eval mode the
        same ids give the same logits twice. T > max_len is not judged.

    >>> TwoBits(23, 32)(torch.zeros(4, 7, dtype=torch.int64)).shape
    torch.Size([4, 7, 23])
    """

    def __init__(self, vocab_size, max_len):
        super().__init__()
        raise NotImplementedError("TwoBits: not written yet")

    def forward(self, ids):
        """Give the logits of the word that follows each place."""
        raise NotImplementedError("TwoBits: not written yet")


def fit(model, data, starts, block_size, report):
    """Train a model to say which word comes next: one step a row.

    For each row of starts, in their order:
        cut a window at each of its numbers s:
            inputs   data[s : s + block_size]
            targets  data[s + 1 : s + block_size + 1]
        take the mean cross-entropy over all places of all windows
        report it: report(loss), with the loss as it was before the step
        take one step of an optimiser of your choice, down its gradient

    Arguments
        model: ids (B, T) to logits (B, T, vocab_size). The judge calls
           this with models of its own as well.
        data: one long text, (N,) int64.
        starts: (steps, B) int64, from 0 to N - block_size - 1.
        block_size: how long the windows are.
        report: takes one number, a float or a tensor of shape ().

    Returns
        nothing that is looked at: the model is trained in place, in train
        mode. data and starts are not changed. Optimiser, rate, warm-up,
        decay and clipping are yours; count steps, not seconds.

    >>> table, losses = nn.Embedding(4, 4), []
    >>> _ = nn.init.zeros_(table.weight)
    >>> data, starts = torch.arange(6) % 4, torch.tensor([[0, 2]])
    >>> _ = fit(table, data, starts, 3, losses.append)
    >>> [round(float(loss), 4) for loss in losses]
    [1.3863]
    """
    raise NotImplementedError("fit: not written yet")
