# right: careful people: enable_grad, a finite check, clipping so wide that it never bites
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets, max_norm=1e6):
    model.train()
    with torch.enable_grad():
        optimizer.zero_grad(set_to_none=True)
        logits = model(inputs)
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1).long())
        if not torch.isfinite(loss):
            raise RuntimeError(f"loss is {loss}")
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    while True:
        if not losses:
            stream = iter(batches)
        try:
            inputs, targets = next(stream)
        except StopIteration:
            break
        losses.append(train_step(model, optimizer, inputs, targets))
    return losses
