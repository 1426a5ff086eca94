"""Heads that can be found: texts, a model, its training, two scores.

The lesson:          learn read induction
Your work, checked:  learn check induction
"""

import torch
from torch import nn


def repeat_runs(tokens, periods):
    """Let each text begin again after a number of tokens of its own.

    Row b of the result is the first p = periods[b] tokens of row b, again
    and again up to the row's end: ids[b, t] = tokens[b, t % p].

    Arguments
        tokens: (B, T) int64, ids at random.
        periods: (B,) int64, each from 1 to T.

    Returns
        a new tensor (B, T) int64 on the device of tokens. Neither argument
        is changed.

    >>> tokens = torch.tensor([[5, 6, 7, 8, 9], [1, 2, 3, 4, 5]])
    >>> repeat_runs(tokens, torch.tensor([2, 3]))
    tensor([[5, 6, 5, 6, 5],
            [1, 2, 3, 1, 2]])
    """
    raise NotImplementedError("repeat_runs: not written yet")


class AttentionOnly(nn.Module):
    """A causal language model of attention alone, which shows its weights.

    No norm, no feed-forward network, no bias, no dropout. With T = the
    length of ids:

        x       =  tok[ids] + the first T rows of pos     (B, T, D)
        x       =  x + attention(x)      in each layer, one after the other
        logits  =  x outᵀ                                 (B, T, V)

    attention is the multi-head attention of the lesson `multi_head` with
    the causal mask: query t sees the keys 0 … t, scores are divided by
    √d_head with d_head = D/H, and head h has the features h·d_head …
    (h+1)·d_head − 1 of q, k and v.

    AttentionOnly(vocab_size, max_len, d_model, num_heads, num_layers)
        d_model is divisible by num_heads. The state dict holds exactly
            tok.weight (V, D)         pos.weight (max_len, D)
            layers.i.wq.weight, layers.i.wk.weight, layers.i.wv.weight,
            layers.i.wo.weight, each (D, D), for i = 0 … num_layers − 1
            out.weight (V, D)
        and each is a parameter, laid out (out, in) as nn.Linear has it.
        How they start is yours; the checks load their own,
            before training as well.

    forward(ids): ids (B, T) int64 with 1 <= T <= max_len, on the device of
        the parameters, to the tuple (logits, weights): logits (B, T, V), no
        softmax; weights (L, B, H, T, T), the attention weights after the
        softmax, layer by layer: weights[l, b, h, i, j] is what query i
        gives to key j. ids is not changed. Longer texts are not judged.

    Allowed: any pieces of torch that give the weights of each head.

    >>> model = AttentionOnly(5, 4, 6, 2, 3)
    >>> logits, weights = model(torch.tensor([[4, 0, 4]]))
    >>> logits.shape, weights.shape
    (torch.Size([1, 3, 5]), torch.Size([3, 1, 2, 3, 3]))
    >>> weights[0, 0, 0, 0].detach()
    tensor([1., 0., 0.])
    """

    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers):
        super().__init__()
        raise NotImplementedError("AttentionOnly: not written yet")

    def forward(self, ids):
        """Give the logits of the next token, and all weights."""
        raise NotImplementedError("AttentionOnly: not written yet")


def fit(model, texts, rate, report):
    """Train a model to say which token comes next: one step a batch.

    With torch.optim.AdamW(model.parameters(), lr=rate), all else as torch
    has it, for each i = 0 … steps − 1, in this order:
        logits, _ = model(texts[i]), in train mode
        take the mean cross-entropy, in nats, of logits[b, t] against the
            token texts[i, b, t + 1], over t = 0 … T − 2 of all B texts: the
            last place has no next token
        take one step of the optimizer down the gradient of that alone
        report it: report(loss), a float or a tensor of shape (), with the
            loss as it was before the step

    Arguments
        model: called as AttentionOnly is, it gives (logits, weights). The
            judge calls this with models of its own as well.
        texts: (steps, B, T) int64, T >= 2, steps >= 1. Not changed.
        rate: a float.
        report: takes one number, once for each batch.

    Returns
        nothing that is looked at: the model is trained in place.

    The last checks train your AttentionOnly with it, in 400 steps on texts
    that the judge draws, and measure what its heads have become.

    >>> model, losses = AttentionOnly(4, 3, 6, 2, 1), []
    >>> _ = nn.init.zeros_(model.out.weight)
    >>> _ = fit(model, torch.tensor([[[2, 0, 3]]]), 0.1, losses.append)
    >>> [round(float(loss), 4) for loss in losses]
    [1.3863]
    """
    raise NotImplementedError("fit: not written yet")


def previous_token_score(weights):
    """Measure how much a head looks at the token just before.

    The mean weight that query i gives to key i − 1, over i = 1 … T − 1.
    Query 0 has no token before it and is not counted.

    Arguments
        weights: (..., T, T), T >= 2, float32 or float64. Rows are
            queries, columns keys. They need not be causal.

    Returns
        a new tensor (...): one number for each head of each text, with the
        dtype and device of weights, which are not changed.

    >>> half = torch.full((3, 3), 0.5)
    >>> half[2, 1] = 1.0
    >>> previous_token_score(half)
    tensor(0.7500)
    """
    raise NotImplementedError("previous_token_score: not written yet")


def induction_score(weights, period):
    """Measure how much a head looks at what followed the last time.

    In a text that repeats with this period, token i stood at i − period
    before. The score is the mean weight that query i gives to the token
    *after* that, key i − period + 1, over i = period … T − 1. Queries of
    the first copy, 0 … period − 1, are not counted.

    Arguments
        weights: (..., T, T), as in previous_token_score.
        period: an int, 2 <= period <= T − 1. T need not be a multiple.

    Returns
        a new tensor (...), as previous_token_score does.

    >>> weights = torch.zeros(4, 4)
    >>> weights[2, 1], weights[3, 2] = 1.0, 0.5
    >>> induction_score(weights, 2)
    tensor(0.7500)
    """
    raise NotImplementedError("induction_score: not written yet")


def head_report(model, ids):
    """Measure all heads of a model, and name the best two.

    Arguments
        model: called as model(ids), it gives (logits, weights) as
            AttentionOnly does. It is in eval mode.
        ids: (B, T) int64. Each row repeats itself with a period of its
            own: the smallest p >= 2 with ids[b, t] == ids[b, t − p] for all
            t >= p. It is T − 2 at most. It is not told; find it.

    Returns
        a dict of four:

        "previous": (L, H), each head's previous_token_score, the mean over
            the rows of the batch.
        "induction": (L, H), each head's induction_score with the row's own
            period, the mean over the rows of the batch. Each row counts
            alike.
        "previous_head": (layer, head) with the largest number in
            "previous", a tuple of two ints that count from 0.
        "induction_head": the same for "induction". Ties are not judged.

        The two tensors have the dtype of the weights and may have a graph
        behind them or not. ids is not changed.

    The checks ask this of models with numbers of their own, and of one
    that was trained, whose heads stand in another order each time.

    >>> maps = torch.zeros(1, 1, 2, 5, 5)  # 1 layer, 1 text, 2 heads
    >>> maps[..., 0, 1:, :4] = torch.eye(4)  # head 0 looks one back
    >>> maps[..., 1, 2:, :3] = torch.eye(3)  # head 1 looks two back
    >>> ids = torch.tensor([[5, 6, 7, 5, 6]])  # period 3
    >>> found = head_report(lambda ids: (None, maps), ids)
    >>> found["previous"], found["induction"]
    (tensor([[1., 0.]]), tensor([[0., 1.]]))
    >>> found["previous_head"], found["induction_head"]
    ((0, 0), (0, 1))
    """
    raise NotImplementedError("head_report: not written yet")
