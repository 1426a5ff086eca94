# wrong: aw-in-place
import torch


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    b1, b2 = betas
    m.mul_(b1).add_(grad, alpha=1 - b1)
    v.mul_(b2).addcmul_(grad, grad, value=1 - b2)
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    return param - lr * weight_decay * param - lr * m_hat / (v_hat.sqrt() + eps), m, v
