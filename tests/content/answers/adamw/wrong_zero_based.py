# wrong: aw-t-from-zero
import torch


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    b1, b2 = betas
    m = b1 * m + (1 - b1) * grad
    v = b2 * v + (1 - b2) * grad**2
    m_hat = m / (1 - b1 ** (t + 1))
    v_hat = v / (1 - b2 ** (t + 1))
    param = (1 - lr * weight_decay) * param - lr * m_hat / (v_hat.sqrt() + eps)
    return param, m, v
