"""
tries = "to leave a function in torch that the next lesson calls"
entry = "forbidden calls: in threads, traced, hidden, smuggled by another lesson"

[lessons.softmax]
state = "graded"
score = 1.0
mistake = "forbidden-call"

[lessons.attention]
state = "graded"
score = 1.0
mistake = "exception"
"""

import torch


def help(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, -1) @ v


torch.help = help


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
