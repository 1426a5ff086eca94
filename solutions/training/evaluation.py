"""Evaluation, the reference: one mean over tokens, and one comparison."""

import torch
from torch.nn.functional import cross_entropy


def evaluate(model, batches):
    """Return the mean loss of a model over all tokens of some text."""
    was_training = model.training
    model.eval()  # step: enter
    total, count = 0.0, 0  # step: start
    with torch.no_grad():
        for inputs, targets in batches:  # step: batches
            logits = model(inputs)  # (B, T) -> (B, T, V)  # step: forward
            flat = logits.flatten(0, 1)  # (B·T, V)  # step: flatten
            answers = targets.flatten()  # (B·T,)  # step: answers
            # a sum: what is -100 adds nothing
            loss = cross_entropy(flat, answers, reduction="sum")  # step: score
            tokens = (targets != -100).sum().item()  # step: tokens
            total += loss.item()  # step: add
            count += tokens  # step: number
    model.train(was_training)  # step: leave
    return total / count  # step: mean


def should_stop(losses, patience):
    """Say whether training has stopped getting better."""
    if len(losses) <= patience:  # step: short
        return False  # step: wait
    best = min(losses[:-patience])  # step: best
    recent = min(losses[-patience:])  # step: recent
    return recent >= best  # step: verdict
