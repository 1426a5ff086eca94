"""Measure a check, from the command to the verdict, beside `import torch`, and the memory of its processes.

python benchmarks/check.py

The limits are for two idle cores: judge and fork server import torch at the same time.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

from measure import ROOT, describe_machine, learn, peak_pss, python, ratios, side_by_side, workspace

LIMITS = {"learn check softmax": 1.0, "learn check --all": 1.6}
DIAGNOSIS_LIMIT = 0.5  # seconds
MEMORY_LIMIT = 600  # MiB


def main() -> int:
    """Print the tables; 1 if a limit is passed."""
    describe_machine()
    with workspace() as root:
        commands = {
            "import torch": python("import torch"),
            "learn check softmax": learn("check", "softmax"),
            "learn check --all": learn("check", "--all"),
        }
        good = ratios("Command to verdict", side_by_side(commands, rounds=9, cwd=root), "import torch", LIMITS)
        memory = peak_pss(learn("check", "--all"), root)
        print(f"\nMemory of the whole tree during `learn check --all`: {memory:.0f} MiB (limit {MEMORY_LIMIT})")
        added = diagnosis_time(root)
    return 0 if good and memory <= MEMORY_LIMIT and added <= DIAGNOSIS_LIMIT else 1


def diagnosis_time(root: Path) -> float:
    """Measure what a wrong answer adds to a verdict: the bundled attempt with three mistakes, beside the reference."""
    files = {"right": ROOT / "solutions/core/attention.py", "wrong": ROOT / "lessons/core/attention_demo.py"}
    times: dict[str, list[float]] = {name: [] for name in files}
    for _ in range(5):
        for name, path in files.items():
            command = learn("check", "attention", "--file", str(path), "--json", "--seed", "1")
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60)
            times[name].append(json.loads(done.stdout)["duration_s"])
    right, wrong = statistics.median(times["right"]), statistics.median(times["wrong"])
    print(f"\nNaming three mistakes at once in attention adds {wrong - right:.2f} s (limit {DIAGNOSIS_LIMIT} s)")
    return wrong - right


if __name__ == "__main__":
    sys.exit(main())
