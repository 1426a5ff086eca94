# wrong: tr-step-before-backward
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.step()
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits.transpose(-1, -2), targets)
    loss.backward()
    return float(loss.detach())


def train(model, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = train_step(model, optimizer, inputs, targets)
        losses.append(loss)
    return losses
