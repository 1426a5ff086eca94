"""Training: predict the next token, measure the surprise, step downhill.

The lesson:          learn read training
Your work, checked:  learn check training
Your file may import torch, numpy, Python's standard library, and your
own earlier lessons.
"""

import torch


def train_step(model, optimizer, inputs, targets):
    """Improve the model by one step on one batch, and return the loss.

    The loss is the cross-entropy of the next token, the mean over all B·T
    positions:

        loss = −1/(B·T) · Σ_b Σ_t log softmax(logits[b, t])[targets[b, t]]

    Arguments
        model: a torch.nn.Module; model(inputs) gives raw logits of shape
           (B, T, V), one row of V scores for each position, which may lie
           hundreds apart. It may arrive
           in train or eval mode; it runs in train mode and is left in train
           mode.
        optimizer: a torch.optim.Optimizer that holds the model's
           parameters. Use this one: a new optimiser would forget what it
           has gathered.
        inputs: token ids, shape (B, T), int64; a slice such as ids[:, :-1],
           not contiguous, will do.
        targets: token ids, shape (B, T), int64, each in 0 ... V − 1; also a
           slice. Every token counts: none stands for padding.
           targets[b, t] is the token that follows inputs[b, t]: already
           shifted, do not shift again.

    Returns
        the loss as a Python float (not a tensor), as it was before the
        step: the loss whose gradient was used.

    Nothing is added to the loss (no label smoothing, no penalty), and the
    gradient is not clipped.
    Each step uses the gradient of its own batch alone. You may clear the
    old gradients before the backward pass or after the step. `inputs` and
    `targets` are not changed.

    Allowed: everything in torch, including
    torch.nn.functional.cross_entropy.

    The example trains a bigram model: row i of an embedding table holds the
    logits of what follows token i. All are 0 at first, so each of the 4
    tokens has probability 1/4 and the loss is ln 4.

    >>> table = torch.zeros(4, 4)
    >>> model = torch.nn.Embedding.from_pretrained(table, freeze=False)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    >>> inputs = torch.tensor([[0, 1, 2]])
    >>> targets = torch.tensor([[1, 2, 3]])
    >>> round(train_step(model, optimizer, inputs, targets), 4)
    1.3863
    >>> round(train_step(model, optimizer, inputs, targets), 4)
    1.1473
    """
    raise NotImplementedError("train_step: not written yet")


def train(model, optimizer, batches):
    """Take one `train_step` on each batch, in order, and return the losses.

    Arguments
        model, optimizer: as for `train_step`; the same optimiser serves all
           steps.
        batches: an iterable of pairs (inputs, targets), shape (B, T) and
           int64 each. It may be a generator, and empty: go through it once,
           in its order and to its end, with one step for each batch. B and
           T may differ from one batch to the next.

    Returns
        a list with one Python float for each batch, in order: what
        `train_step` returned. The model is left in train mode; with no
        batch it may stay as it came.

    Allowed: everything in torch, and your own `train_step`.

    >>> table = torch.zeros(4, 4)
    >>> model = torch.nn.Embedding.from_pretrained(table, freeze=False)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    >>> batch = (torch.tensor([[0, 1, 2]]), torch.tensor([[1, 2, 3]]))
    >>> [round(loss, 4) for loss in train(model, optimizer, [batch] * 3)]
    [1.3863, 1.1473, 0.9506]
    """
    raise NotImplementedError("train: not written yet")
