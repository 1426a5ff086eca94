"""Next-token training, the reference: forward, clear, backward, step."""

from torch import nn


def train_step(model, optimizer, inputs, targets):
    """Forward, clear, backward, step; return the loss before the step."""
    model.train()  # step: enter
    logits = model(inputs)  # (B, T) -> (B, T, V)  # step: forward
    flat = logits.flatten(0, 1)  # (B·T, V)  # step: flatten
    answers = targets.flatten()  # (B·T,)  # step: answers
    loss = nn.functional.cross_entropy(flat, answers)  # ()  # step: score
    optimizer.zero_grad()  # step: clear
    loss.backward()  # step: pull
    optimizer.step()  # step: move
    return loss.item()  # step: give


def train(model, optimizer, batches):
    """Take one step on each batch and return the losses."""
    model.train()  # step: begin
    losses = []
    for inputs, targets in batches:  # step: batches
        losses.append(train_step(model, optimizer, inputs, targets))  # step: append
    return losses  # step: finish
