# wrong: tr-loss-as-mse
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    logits = model(inputs)
    loss = ((logits - F.one_hot(targets, logits.size(-1))) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = train_step(model, optimizer, inputs, targets)
        losses.append(loss)
    return losses
