# wrong: tr-optimizer-recreated
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    model.zero_grad()
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    lr = optimizer.param_groups[0]["lr"]
    with torch.no_grad():
        for p in model.parameters():
            p -= lr * p.grad
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = train_step(model, optimizer, inputs, targets)
        losses.append(loss)
    return losses
