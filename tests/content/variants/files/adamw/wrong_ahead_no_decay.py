# wrong: aw-old-mean, aw-no-decay
import torch


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    b1, b2 = betas
    m = b1 * m + (1 - b1) * grad
    v = b2 * v + (1 - b2) * grad ** 2
    ahead = (b1 * m + (1 - b1) * grad) / (1 - b1 ** t)
    return param - lr * ahead / ((v / (1 - b2 ** t)).sqrt() + eps), m, v
