# right: clones first, then works in place as torch's own loop does
import torch


@torch.no_grad()
def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    p, m, v = param.clone(), m.clone(), v.clone()
    p.mul_(1 - lr * weight_decay)
    m.lerp_(grad, 1 - betas[0])
    v.mul_(betas[1]).addcmul_(grad, grad.conj(), value=1 - betas[1])
    step_size = lr / (1 - betas[0] ** t)
    denom = (v.sqrt() / (1 - betas[1] ** t) ** 0.5).add_(eps)
    p.addcdiv_(m, denom, value=-step_size)
    return p, m, v
