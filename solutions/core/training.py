"""Training on the next token, the reference: forward, clear, backward, step."""

from torch import nn


def train_step(model, optimizer, inputs, targets):
    """Run forward, clear old gradients, run backward, step; return the loss as it was before the step."""
    model.train()
    logits = model(inputs)  # (B, T) -> (B, T, V)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())  # (B·T, V), (B·T,) -> ()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    """Take one step on each batch and return the losses."""
    model.train()
    return [train_step(model, optimizer, inputs, targets) for inputs, targets in batches]
