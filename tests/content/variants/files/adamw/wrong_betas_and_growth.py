# wrong: aw-one-beta, aw-decay-sign
import torch


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8,
               weight_decay=0.01):
    (beta1, beta2) = betas
    m1 = torch.add(beta1 * m, grad, alpha=1 - beta1)
    v1 = torch.add(beta2 * v, grad.square(), alpha=1 - beta2)
    m_c = m1 / (1 - beta2 ** t)
    v_c = v1 / (1 - beta1 ** t)
    shrink = 1 + lr * weight_decay
    return param * shrink - lr * m_c / (v_c ** 0.5 + eps), m1, v1
