"""Measure a check, from the command to the verdict, beside `import torch`, and the memory of its processes.

python benchmarks/check.py

The limits are for two idle cores: judge and fork server import torch at the same time.
"""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path

from measure import ROOT, describe_machine, learn, peak_pss, python, ratios, run, side_by_side, workspace

LIMITS = {"learn check softmax": 1.0, "learn check --all": 1.6}
DIAGNOSIS_LIMIT = 0.5  # seconds of processor time
WRONG, ANSWERS = 6, 24  # answers of each lesson that are measured, of so many
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
    """Measure what wrong answers add to a verdict in processor time, lesson by lesson; return the most.

    What an earlier check has kept is there, as it is on a learner's machine after the first wrong answer.
    """
    os.environ["XDG_CACHE_HOME"] = str(root.parent / "cache")
    print(f"\nNaming what is wrong adds to a right answer's check, in processor time (limit {DIAGNOSIS_LIMIT} s)")
    most = 0.0
    for solution in sorted(ROOT.glob("solutions/*/*.py")):
        wrong = sorted(ROOT.glob(f"tests/content/answers/{solution.stem}/wrong_*.py"))[:: -(-ANSWERS // WRONG)]
        if not wrong:
            continue
        right = statistics.median(check_time(solution.stem, solution, root) for _ in range(3))
        first = check_time(solution.stem, wrong[0], root) - right
        added = [check_time(solution.stem, path, root) - right for path in wrong[:WRONG]]
        shown = f"{statistics.median(added):>6.2f} s, at most {max(added):.2f} s; {first:.2f} s with nothing kept"
        print(f"  {solution.stem:<22}{shown}")
        most = max(most, *added)
    return most


def check_time(lesson: str, path: Path, root: Path) -> float:
    """Return the processor time of one check."""
    return run(learn("check", lesson, "--file", str(path), "--seed", "1"), root, 60).cpu


if __name__ == "__main__":
    sys.exit(main())
