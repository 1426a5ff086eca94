# wrong: tr-batches-counted
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    for i in range(len(batches)):
        inputs, targets = batches[i]
        losses.append(train_step(model, optimizer, inputs, targets))
    return losses
