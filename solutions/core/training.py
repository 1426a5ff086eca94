"""Next-token training, the reference: forward, clear, backward, step."""

from torch import nn


def train_step(model, optimizer, inputs, targets):
    """Forward, clear, backward, step; return the loss before the step."""
    model.train()
    logits = model(inputs)  # (B, T) -> (B, T, V)
    flat = logits.flatten(0, 1)  # (B·T, V)
    loss = nn.functional.cross_entropy(flat, targets.flatten())  # ()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    """Take one step on each batch and return the losses."""
    model.train()
    losses = []
    for inputs, targets in batches:
        losses.append(train_step(model, optimizer, inputs, targets))
    return losses
