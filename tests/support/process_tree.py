"""The processes that a process has started, and whether they end."""

from __future__ import annotations

import time
from pathlib import Path


def descendants(pid: int) -> dict[int, str]:
    """The processes that a process has started, and those that these have, with the time of their start."""
    parents, starts = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)], starts[int(path.parent.name)] = int(words[1]), words[19]
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        children = [child for child, its in parents.items() if its == parent]
        found |= {child: starts[child] for child in children}
        waiting += children
    return found


def alive(processes: dict[int, str]) -> list[int]:
    """Those that have not ended yet."""
    living = []
    for pid, start in processes.items():
        try:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if words[19] == start and words[0] != "Z":
            living.append(pid)
    return living


def all_end(processes: dict[int, str]) -> bool:
    """Whether all of them end soon."""
    deadline = time.monotonic() + 60
    while alive(processes) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(processes)
