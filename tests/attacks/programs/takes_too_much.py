"""
tries = "to take more than its share, in a measure that harms nobody: memory, shared memory, descriptors, higher limits"
entry = "fork bomb, thread flood, memory bomb, disk fill, descriptor exhaustion, output flood"
lesson = "argmax_2d"
state = "graded"
score = 10.0
prints = "looked"
beside = ["recon.py"]
"""

import mmap
import os
import resource

from recon import attempt

FACTS = {}


def memory(flags):
    """More than a gigabyte, of which nothing is ever touched."""
    mmap.mmap(-1, 1200 << 20, flags=flags | mmap.MAP_ANONYMOUS | 0x4000).close()
    return True


def descriptors():
    taken = []
    try:
        while len(taken) < 400:
            taken.append(os.dup(1))
        return True
    finally:
        for number in taken:
            os.close(number)


attempt("take more memory", lambda: memory(mmap.MAP_PRIVATE))
attempt("take more shared memory", lambda: memory(mmap.MAP_SHARED))
attempt("take more descriptors", descriptors)
for limit in ("AS", "CPU", "NOFILE", "NPROC", "FSIZE", "CORE"):
    kind = getattr(resource, f"RLIMIT_{limit}")
    attempt("have no limit", lambda kind=kind: resource.getrlimit(kind)[1] == resource.RLIM_INFINITY)
    attempt("raise a limit", lambda kind=kind: resource.getrlimit(kind)[1] >= 0 and resource.setrlimit(
        kind, (resource.getrlimit(kind)[1] + 1,) * 2) is None)
print("looked")


def argmax_2d(grid):
    return divmod(int(grid.argmax()), grid.shape[1])
