# wrong: tr-last-position-dropped
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    logits = model(inputs)[:, :-1]
    labels = inputs[:, 1:]
    loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), labels.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = train_step(model, optimizer, inputs, targets)
        losses.append(loss)
    return losses
