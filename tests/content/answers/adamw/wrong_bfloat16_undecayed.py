# wrong: wrong-format
import torch

def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    b1, b2 = betas
    m = b1 * m + (1 - b1) * grad
    v = b2 * v + (1 - b2) * grad * grad
    new = param - lr * (m / (1 - b1**t)) / ((v / (1 - b2**t)).sqrt() + eps)
    return new.bfloat16(), m, v
