# wrong: ?
"""Corrections from a table that ends after 600 steps."""

import torch

LAST = 600


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    beta1, beta2 = betas
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad**2
    t = min(t, LAST)
    m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
    param = param - lr * weight_decay * param - lr * m_hat / (torch.sqrt(v_hat) + eps)
    return param, m, v
