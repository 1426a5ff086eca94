"""
tries = "a memory bomb of lists, tensors, private and shared pages"
entry = "fork bomb, thread flood, memory bomb, disk fill, descriptor exhaustion, output flood"
lesson = "softmax"
state = "graded"
score = 10.0
prints = "refused 4 of 4"
"""

import mmap

import torch


def pages(flags):
    taken = mmap.mmap(-1, 20 << 30, flags=flags | mmap.MAP_ANONYMOUS)
    taken[:: 4096] = b"x" * (len(taken) // 4096)


ways = [
    lambda: [0] * (3 << 30),
    lambda: torch.ones(20 << 30, dtype=torch.uint8),
    lambda: pages(mmap.MAP_PRIVATE),
    lambda: pages(mmap.MAP_SHARED),
]
refused = 0
for way in ways:
    try:
        way()
    except (MemoryError, RuntimeError, OSError):
        refused += 1
print("refused", refused, "of", len(ways))


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
