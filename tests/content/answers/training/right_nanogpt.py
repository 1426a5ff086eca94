# right: nanoGPT: view(-1, size(-1)), ignore_index, set_to_none after the step
import torch
from torch.nn import functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    logits = model(inputs)
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1), ignore_index=-1)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


def train(model, optimizer, batches):
    model.train()
    return [train_step(model, optimizer, X, Y) for X, Y in batches]
