# right: JAX-minded: value_and_grad by torch.autograd.grad, gradients put in place by hand
import torch
import torch.nn.functional as F


def value_and_grad(model, inputs, targets):
    params = [p for p in model.parameters() if p.requires_grad]
    loss = F.cross_entropy(model(inputs).permute(0, 2, 1), targets)
    return loss, params, torch.autograd.grad(loss, params)


def train_step(model, optimizer, inputs, targets):
    model.train()
    loss, params, grads = value_and_grad(model, inputs, targets)
    for p, g in zip(params, grads):
        p.grad = g
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses = []
    for inputs, targets in iter(batches):
        losses.append(train_step(model, optimizer, inputs, targets))
    return losses
