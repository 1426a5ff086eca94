"""AdamW, the reference: means, corrections, decay, step."""

import torch


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8,
               weight_decay=0.01):  # fmt: skip
    """Take step number `t` of AdamW, and return what is to be kept."""
    # every tensor here has the shape of param
    beta1, beta2 = betas  # step: betas
    m = beta1 * m + (1 - beta1) * grad  # step: first
    v = beta2 * v + (1 - beta2) * grad.square()  # step: second
    # both means began at 0: after t steps they hold this share of the whole
    m_hat = m / (1 - beta1**t)  # step: correct1
    v_hat = v / (1 - beta2**t)  # step: correct2
    size = torch.sqrt(v_hat) + eps  # step: size
    decayed = param - lr * weight_decay * param  # step: decay
    moved = decayed - lr * m_hat / size  # step: move
    return moved, m, v  # step: give
