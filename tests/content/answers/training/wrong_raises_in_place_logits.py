# wrong: ?
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    logits = model(inputs)
    loss = -(logits.exp_().div_(logits.sum(-1, keepdim=True)).log()).gather(2, targets[..., None]).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = train_step(model, optimizer, inputs, targets)
        losses.append(loss)
    return losses
