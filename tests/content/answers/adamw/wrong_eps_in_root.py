# wrong: aw-eps-inside
import torch


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * grad
    v = betas[1] * v + (1 - betas[1]) * grad.square()
    mh = m / (1 - betas[0] ** t)
    vh = v / (1 - betas[1] ** t)
    param = param - lr * weight_decay * param
    param = param - lr * mh * torch.rsqrt(vh + eps)
    return param, m, v
