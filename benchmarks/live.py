"""Measure `learn watch`: from the write of a file to its verdict on the screen, and what it costs while nobody saves.

python benchmarks/live.py

The limits are for two idle cores. Each save is of right work that differs in a comment.
"""

from __future__ import annotations

import os
import pty
import select
import statistics
import subprocess
import sys
import termios
import time
from pathlib import Path

from measure import LESSONS, ROOT, describe_machine, learn, process_tree, tree_pss, workspace

LIMITS = {lesson: 0.15 if lesson == "training" else 0.04 for lesson in LESSONS}  # seconds
MEMORY_LIMIT = 600  # MiB
IDLE_LIMIT = 0.01  # of a core
ROUNDS = 15
SECONDS = 60.0
WORKING, DONE = "checking ...", " solved"  # what the last lines say


class Watching:
    """A running `learn watch`, and the bytes that it writes."""

    def __init__(self, root: Path) -> None:
        self.terminal, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        environment = {**os.environ, "TERM": "xterm"}
        self.process = subprocess.Popen(learn("watch"), cwd=root, stdin=theirs, stdout=theirs, env=environment)
        os.close(theirs)
        self._text = ""
        self.wait_for(DONE)

    def wait_for(self, wanted: str) -> float:
        """Return the time at which a text had appeared, after what was waited for before."""
        deadline = time.perf_counter() + SECONDS
        while wanted not in self._text:
            if time.perf_counter() > deadline:
                raise TimeoutError(self._text)
            if select.select([self.terminal], [], [], 0.5)[0]:
                self._text += os.read(self.terminal, 1 << 16).decode(errors="replace")
        self._text = self._text.partition(wanted)[2]
        return time.perf_counter()

    def processor_seconds(self) -> float:
        """Return what all its processes have used."""
        ticks = 0
        for pid in process_tree(self.process.pid):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Print the table; 1 if a limit is passed."""
    describe_machine()
    good = True
    with workspace() as root:
        watching = Watching(root)
        print(f"\n{'From save to verdict':<24}{'median':>10}{'largest':>10}{'limit':>10}")
        for lesson, limit in LIMITS.items():
            times = []
            for number in range(ROUNDS + 1):
                source = (ROOT / f"solutions/core/{lesson}.py").read_text()
                begun = time.perf_counter()
                (root / f"core/{lesson}.py").write_text(f"{source}# {number}\n")
                watching.wait_for(WORKING)
                times.append(watching.wait_for(DONE) - begun)
                time.sleep(0.1)
            median = statistics.median(times[1:])
            good &= median <= limit
            print(f"{lesson:<24}{median * 1000:>7.0f} ms{max(times[1:]) * 1000:>7.0f} ms{limit * 1000:>7.0f} ms")
        before = watching.processor_seconds()
        time.sleep(5.0)
        idle = (watching.processor_seconds() - before) / 5.0
        memory = tree_pss(watching.process.pid)
        os.write(watching.terminal, b"q")
        watching.process.wait(SECONDS)
    print(f"\nIdle: {idle:.1%} of a core (limit {IDLE_LIMIT:.0%}); memory {memory:.0f} MiB (limit {MEMORY_LIMIT})")
    return 0 if good and idle <= IDLE_LIMIT and memory <= MEMORY_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
