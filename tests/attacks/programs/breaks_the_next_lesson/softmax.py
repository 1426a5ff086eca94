"""
tries = "to leave everything changed for the learner's own next lessons: dtype, gradients, math, torch"
entry = "forbidden calls: in threads, traced, hidden, smuggled by another lesson"

[lessons.softmax]
state = "graded"
score = 1.0
mistake = "forbidden-call"

[lessons.attention]
state = "graded"
score = 10.0

[lessons.causal_mask]
state = "graded"
score = 10.0
"""

import math

import torch

torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.Tensor.__matmul__ = None
torch.ones = torch.tril = torch.arange = None
math.sqrt = math.exp = math.prod = None


def softmax(x, dim=-1):
    with torch.enable_grad():
        powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
        return powers / powers.sum(dim=dim, keepdim=True)
