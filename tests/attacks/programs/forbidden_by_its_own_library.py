"""
tries = "to register kernels of its own, which take our refusal away"
entry = "forbidden calls: in threads, traced, hidden, smuggled by another lesson"
lesson = "softmax"
state = "would-not-import"
score = 1.0
mistake = "forbidden-call"
"""

import torch
from torch.library import Library, fallthrough_kernel

HELD = Library("aten", "IMPL")


def softmax(x, dim=-1):
    HELD.impl("_softmax", fallthrough_kernel, "BackendSelect")
    return torch.softmax(x, dim)
