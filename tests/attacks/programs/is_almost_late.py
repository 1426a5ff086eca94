"""
tries = "to stay just under the limit of a call in every call, and so to take all day"
entry = "sleeping through its limit, ignoring SIGTERM, daemonised grandchildren"
lesson = "softmax"
state = "any"
score = 1.6
at_most = true
"""

import time

import torch


def softmax(x, dim=-1):
    time.sleep(1.2)
    return torch.zeros_like(x)
