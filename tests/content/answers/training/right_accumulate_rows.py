# right: one backward pass for each row, gradients accumulated with the right weight
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    total = 0.0
    for x, y in zip(inputs.split(1), targets.split(1)):
        logits = model(x)
        loss = F.cross_entropy(logits[0], y[0], reduction="sum") / targets.numel()
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def train(model, optimizer, batches):
    result = []
    for inputs, targets in batches:
        result.append(train_step(model, optimizer, inputs, targets))
    return result
