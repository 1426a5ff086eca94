"""Evaluation: what is the model worth on text that it has not seen?

The lesson:          learn read evaluation
Your work, checked:  learn check evaluation
"""

import torch


def evaluate(model, batches):
    """Return the mean loss of a model over all tokens of some text.

    The loss of a token is the cross-entropy, in nats. The mean is over all
    tokens that count, of all batches together:

        −1/N · Σ log softmax(logits[b, t])[targets[b, t]]

    where N is the number of targets, over all batches, that are not −100.

    Arguments
        model: a torch.nn.Module; model(inputs) gives raw logits of shape
           (B, T, V). It arrives in train or in eval mode, and is left in
           the mode in which it came: what model.training says is asked,
           and not the modes of single parts. What becomes of it after an
           error is not judged.
        batches: an iterable of pairs (inputs, targets), int64 tensors
           (B, T). It may be a generator: go through it once. B and T may
           differ from batch to batch. A target is a token, or −100, which
           does not count. There may be batches in which nothing counts;
           over all of them at least one token does.

    Returns
        a Python float. The model runs in eval mode, and no gradient is
        recorded. Neither parameters nor their gradients, nor the batches,
        are changed.

    Allowed: everything in torch, including
    torch.nn.functional.cross_entropy.

    In the example all 4 tokens are equally likely: the loss is ln 4.

    >>> model = torch.nn.Embedding.from_pretrained(torch.zeros(4, 4))
    >>> batch = (torch.tensor([[0, 1, 2]]), torch.tensor([[1, 2, -100]]))
    >>> round(evaluate(model, [batch, batch]), 4)
    1.3863
    """
    raise NotImplementedError("evaluate: not written yet")


def should_stop(losses, patience):
    """Say whether training has stopped getting better.

    True if the last `patience` losses brought nothing that is strictly
    below the best before them; False if one of them did, and as long as
    there are no more than `patience` losses.

    Arguments
        losses: a list of floats, the held-out loss of each evaluation so
           far, in order; it may be empty. All are finite.
        patience: how many evaluations in a row may bring nothing, an int of
           at least 1.

    Returns
        a bool. losses is not changed.

    Here the best is 2.1. Two evaluations brought nothing below it: with
    patience 2 that is the end, with patience 3 it is not.

    >>> should_stop([2.5, 2.1, 2.3, 2.1], 2)
    True
    >>> should_stop([2.5, 2.1, 2.3, 2.1], 3)
    False
    """
    raise NotImplementedError("should_stop: not written yet")
