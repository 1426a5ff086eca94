"""Cross-entropy: what a prediction costs, and what a whole text costs.

The lesson:          learn read cross_entropy
Your work, checked:  learn check cross_entropy
"""

import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    """Return the mean loss of the positions that count.

    With p = softmax(logits[i]) over the V classes of position i, ε the
    label smoothing and y its target, the loss of the position is

        loss_i = −(1 − ε) · ln p[y]  −  ε · (ln p[0] + ... + ln p[V−1]) / V

    and the result is the mean of loss_i over all positions i whose target
    is not `ignore_index`: one mean over all of them together, however they
    are spread over the rows of a batch.

    Arguments
        logits: float32 or float64, of shape (..., V), the classes on the
           last axis; any number of leading axes, also none. Entries are
           finite and may be as large as ±1000.
        targets: int64 tensor of the shape of `logits` without its last
           axis. Each is a class, 0 ... V − 1, or `ignore_index`.
        ignore_index: the target of positions that do not count: padding,
           or a prompt. Any whole number. If it is itself one of the
           classes, the positions with this class do not count.
        label_smoothing: ε, from 0 to 1.

    Returns
        a tensor of shape (), with the dtype and device of `logits`, in
        nats. No position counts: NaN, the mean of nothing, as in torch.
        `logits` and `targets` are not changed; gradients flow to `logits`,
        and none to positions that do not count.

    Allowed: logsumexp, log_softmax, softmax, exp, log, gather, one_hot, and
    any tensor arithmetic.
    Not allowed: a call that does it whole (cross_entropy, nll_loss,
    ctc_loss, kl_div and their modules; log_prob or kl_divergence of a
    distribution).

    >>> logits = torch.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> cross_entropy(logits, torch.tensor([0, 2]))
    tensor(0.6691)
    >>> cross_entropy(logits, torch.tensor([0, -100]))
    tensor(0.2395)
    >>> cross_entropy(logits[0], torch.tensor(0), label_smoothing=0.1)
    tensor(0.3729)
    """
    raise NotImplementedError("cross_entropy: not written yet")


def perplexity(losses, counts):
    """Return the perplexity of a text that was measured in batches.

        perplexity = exp( mean loss of all tokens together )

    Arguments
        losses: a list of floats, one for each batch: the mean loss of its
           tokens, in nats, as `cross_entropy(...).item()` gives it.
        counts: a list of ints, as long: how many tokens each mean is of.
           Every count is at least 1, and there is at least one batch.

    Returns
        a Python float, 1.0 or more. The lists are not changed.

    Allowed: everything in torch and math.

    >>> round(perplexity([1.0, 3.0], [30, 10]), 4)
    4.4817
    """
    raise NotImplementedError("perplexity: not written yet")
