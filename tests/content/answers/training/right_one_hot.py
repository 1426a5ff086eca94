# right: one-hot targets and a sum, divided by the number of tokens
import torch
import torch.nn.functional as F


def loss_fn(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    n_tokens = targets.numel()
    one_hot = F.one_hot(targets, num_classes=logits.size(-1)).to(logits.dtype)
    return -(one_hot * F.log_softmax(logits, dim=-1)).sum() / n_tokens


def train_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer, inputs, targets) -> float:
    if not model.training:
        model.train()
    optimizer.zero_grad()
    loss = loss_fn(model(inputs), targets)
    loss.backward()
    optimizer.step()
    assert model.training
    return loss.item()


def train(model, optimizer, batches) -> list[float]:
    return [train_step(model, optimizer, *pair) for pair in batches]
