"""Cross-entropy, the reference: log-probabilities, one picked, one mean."""

import math


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    """Return the mean loss of the positions that count."""
    counted = targets != ignore_index  # (...), bool  # step: counted
    # any class will do where nothing counts: its loss is dropped below
    classes = targets.masked_fill(~counted, 0)  # step: classes
    total = logits.logsumexp(dim=-1, keepdim=True)  # (..., 1)  # step: total
    log_probs = logits - total  # (..., V)  # step: normalise
    picked = log_probs.gather(-1, classes.unsqueeze(-1))  # (..., 1)  # step: pick
    right = -picked.squeeze(-1)  # (...)  # step: right
    spread = -log_probs.mean(dim=-1)  # (...)  # step: spread
    losses = (1 - label_smoothing) * right + label_smoothing * spread  # step: blend
    return losses[counted].mean()  # ()  # step: reduce


def perplexity(losses, counts):
    """Return the perplexity of a text that was measured in batches."""
    # a mean times its count is the sum that it came from
    pairs = zip(losses, counts, strict=True)
    sums = [loss * count for loss, count in pairs]  # step: sums
    mean = sum(sums) / sum(counts)  # step: mean
    return math.exp(mean)  # step: exp
