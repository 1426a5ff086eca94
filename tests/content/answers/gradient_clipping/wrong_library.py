# wrong: forbidden-call
import math

import torch


def clip_gradients(grads, max_norm):
    holders = [torch.nn.Parameter(torch.zeros_like(g)) for g in grads if g is not None]
    for holder, g in zip(holders, [g for g in grads if g is not None]):
        holder.grad = g.clone()
    norm = torch.nn.utils.clip_grad_norm_(holders, max_norm)
    made = iter(holders)
    return [None if g is None else next(made).grad for g in grads], norm
