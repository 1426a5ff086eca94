# wrong: tr-clipped, tr-loss-after-step
import torch
import torch.nn.functional as F


def _loss(model, inputs, targets):
    logits = model(inputs)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    loss = _loss(model, inputs, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    with torch.no_grad():
        return _loss(model, inputs, targets).item()


def train(model, optimizer, batches):
    return [train_step(model, optimizer, x, y) for x, y in batches]
