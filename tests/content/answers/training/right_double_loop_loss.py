# right: a beginner who adds up the loss position by position
import torch


def train_step(model, optimizer, inputs, targets):
    model.train()
    logits = model(inputs)
    B, T = targets.shape
    total = 0
    for b in range(B):
        for t in range(T):
            log_probs = torch.log_softmax(logits[b, t], dim=0)
            total = total - log_probs[targets[b, t]]
    loss = total / (B * T)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    n = 0
    for inputs, targets in batches:
        loss = train_step(model, optimizer, inputs, targets)
        print("batch", n, "loss", loss)
        losses.append(loss)
        n = n + 1
    return losses
