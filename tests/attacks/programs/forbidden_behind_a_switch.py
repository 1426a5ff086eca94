"""
tries = "to switch off torch's modes, and then to make the forbidden call"
entry = "forbidden calls: in threads, traced, hidden, smuggled by another lesson"
lesson = "softmax"
state = "would-not-import"
score = 1.0
mistake = "forbidden-call"
"""

import torch

N = "soft" + "max"
SWITCH = getattr(getattr(torch, "_" + "C"), "Disable" + "TorchFunction")


def softmax(x, dim=-1):
    with SWITCH():
        return getattr(torch, N)(x, dim)
