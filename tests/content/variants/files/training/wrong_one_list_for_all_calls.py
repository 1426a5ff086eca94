# wrong: shared-default
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    logits = model(inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches, losses=[]):
    for inputs, targets in batches:
        losses.append(train_step(model, optimizer, inputs, targets))
    return losses
