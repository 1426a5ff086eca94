# wrong: tr-zero-before-step
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    model.zero_grad()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = train_step(model, optimizer, inputs, targets)
        losses.append(loss)
    return losses
