# wrong: tr-double-shift, tr-eval-mode
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = train_step(model, optimizer, inputs, targets)
        losses.append(loss)
    return losses
