# right: train writes the whole loop once more and does not call train_step
import torch
import torch.nn as nn


def train_step(model, optimizer, inputs, targets):
    return train(model, optimizer, [(inputs, targets)])[0]


def train(model, optimizer, batches):
    loss_fn = nn.CrossEntropyLoss(reduction="mean")
    running = []
    model.train()
    for inputs, targets in batches:
        for p in model.parameters():
            p.grad = None
        logits = model(inputs)
        loss = loss_fn(logits.flatten(0, -2), targets.flatten())
        loss.backward()
        optimizer.step()
        running.append(loss.detach())
    return [float(v) for v in running]
