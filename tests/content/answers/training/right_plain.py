# right: the five lines of every tutorial
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    logits = model(inputs)
    B, T, V = logits.shape
    loss = F.cross_entropy(logits.view(B * T, V), targets.reshape(B * T))
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        losses.append(train_step(model, optimizer, inputs, targets))
    return losses
