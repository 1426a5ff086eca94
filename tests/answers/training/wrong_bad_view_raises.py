# wrong: ?
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits.view(-1, logits.size(1)), targets.view(-1))
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    return [train_step(model, optimizer, *batch) for batch in batches]
