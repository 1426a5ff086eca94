# wrong: aw-no-bias-correction
import torch


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    b1, b2 = betas
    m = m * b1 + grad * (1 - b1)
    v = v * b2 + grad.pow(2) * (1 - b2)
    return param - lr * m / (v.sqrt() + eps) - lr * weight_decay * param, m, v
