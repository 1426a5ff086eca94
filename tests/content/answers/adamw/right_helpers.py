# right: helpers for the running mean and its correction
import torch


def ema(old, new, beta):
    return old + (new - old) * (1 - beta)


def debias(x, beta, t):
    return x / (1.0 - beta**t)


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    m, v = ema(m, grad, betas[0]), ema(v, torch.square(grad), betas[1])
    direction = debias(m, betas[0], t) / (torch.sqrt(debias(v, betas[1], t)) + eps)
    return param - lr * (direction + weight_decay * param), m, v
