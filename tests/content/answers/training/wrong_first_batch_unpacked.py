# wrong: tr-first-batch-only
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits.mT, targets)
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    inputs, targets = next(iter(batches))
    return [train_step(model, optimizer, inputs, targets) for batch in batches]
