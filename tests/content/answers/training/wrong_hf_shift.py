# wrong: tr-double-shift
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    logits = model(inputs)
    shift_logits = logits[..., :-1, :].contiguous()
    shift_labels = targets[..., 1:].contiguous()
    loss = F.cross_entropy(shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1))
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    for inputs, targets in batches:
        loss = train_step(model, optimizer, inputs, targets)
        losses.append(loss)
    return losses
