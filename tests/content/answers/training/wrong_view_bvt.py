# wrong: tr-bad-reshape
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    logits = model(inputs)
    B, T, V = logits.shape
    logits = logits.view(B, V, T)
    loss = F.cross_entropy(logits, targets)
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = train_step(model, optimizer, inputs, targets)
        losses.append(loss)
    return losses
