# right: the adjusted rate, and the decay after the step
import math

import torch


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    beta1, beta2 = betas
    bias1, bias2 = 1 - math.pow(beta1, t), 1 - math.pow(beta2, t)
    m = torch.add(beta1 * m, grad, alpha=1 - beta1)
    v = torch.addcmul(beta2 * v, grad, grad, value=1 - beta2)
    denom = v.sqrt() / math.sqrt(bias2) + eps
    new = param - (lr / bias1) * m / denom
    new = new - lr * weight_decay * param
    return new, m, v
