# wrong: tr-label-smoothing, tr-optimizer-recreated
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        label_smoothing=0.1,
    )
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for inputs, targets in batches:
        losses.append(train_step(model, optimizer, inputs, targets))
    return losses
