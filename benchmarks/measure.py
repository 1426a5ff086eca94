"""Measure commands side by side: medians, ratios within one run, memory of a process tree.

Machines are noisy and shared: only ratios between commands of the same run mean something.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
LESSONS = ("softmax", "attention", "causal_mask", "positional_encoding", "multi_head", "block", "training")


@dataclass(frozen=True)
class Run:
    """One run of a command: seconds of wall clock, seconds of processor time, exit code."""

    wall: float
    cpu: float
    code: int


def run(command: Sequence[str], cwd: Path | None = None, seconds: float = 600) -> Run:
    """Run a command to its end; its children count too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    code = subprocess.run(command, cwd=cwd, capture_output=True, timeout=seconds).returncode
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Run(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, code)


def side_by_side(commands: dict[str, Sequence[str]], rounds: int, cwd: Path | None = None) -> dict[str, float]:
    """Return the median wall clock of each command, run in turns after one round to warm the disk cache."""
    walls: dict[str, list[float]] = {name: [] for name in commands}
    for round_number in range(rounds + 1):
        for name, command in commands.items():
            done = run(command, cwd)
            if round_number:
                walls[name].append(done.wall)
    return {name: statistics.median(times) for name, times in walls.items()}


def ratios(title: str, medians: dict[str, float], base: str, limits: dict[str, float]) -> bool:
    """Print a table of medians and their ratios to `base`; return True if all limits hold."""
    print(f"\n{title}")
    print(f"  {'command':<34}{'median':>10}{'ratio':>8}{'limit':>8}")
    good = True
    for name, seconds in medians.items():
        ratio, limit = seconds / medians[base], limits.get(name)
        good &= limit is None or ratio <= limit
        shown = f"{limit:.2f}" if limit else ""
        over = "  OVER" if limit is not None and ratio > limit else ""
        print(f"  {name:<34}{seconds * 1000:>7.0f} ms{ratio:>8.2f}{shown:>8}{over}")
    return good


def peak_pss(command: Sequence[str], cwd: Path | None = None, every: float = 0.01) -> float:
    """Return the peak proportional set size of a command's process tree in MiB, sampled `every` so many seconds."""
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, tree_pss(process.pid))
        time.sleep(every)
    return peak


def tree_pss(root: int) -> float:
    """Return the proportional set size of a process and all below it in MiB."""
    return sum(map(_pss, process_tree(root))) / 1024


def process_tree(root: int) -> list[int]:
    """Return the id of a process and those of all below it."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(stat.rsplit(")", 1)[1].split()[1]), []).append(int(folder.name))
    found, queue = [], [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        queue += parents.get(pid, [])
    return found


def _pss(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


@contextmanager
def workspace(solved: bool = True) -> Iterator[Path]:
    """Make a temporary learner's folder, with the references as answers if `solved`."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "course"
        subprocess.run([BIN / "learn", "start", root], check=True, capture_output=True, timeout=60)
        if solved:
            for lesson in LESSONS:
                shutil.copy(ROOT / "solutions" / "core" / f"{lesson}.py", root / "core" / f"{lesson}.py")
        yield root


def grader_run(submissions: Path, out: Path, *options: str) -> list[str]:
    """Return the command that grades a folder of submissions, with the same inputs each time."""
    return [str(BIN / "grader"), "run", str(submissions), "--out", str(out), "--seed", "1", *options]


def require_graded(out: Path, count: int) -> None:
    """Exit unless all of `count` submissions have a score: one that is refused costs next to nothing."""
    submissions = json.loads((out / "results.json").read_text())["submissions"]
    refused = [each["problem"] for each in submissions if each["score"] is None]
    if refused or len(submissions) != count:
        raise SystemExit(f"{len(submissions) - len(refused)} of {count} were graded: {refused[:1]}")


def fresh_pytest(learner: Path) -> list[str]:
    """Return the command that runs the checks on one submission in pytest, in one process with the learner's code.

    It must be run in this folder.
    """
    checks = [str(ROOT / "solutions" / "core" / f"test_{lesson}.py") for lesson in LESSONS]
    # our own plugin gives the checks no submission without --submission, and they would all be skipped
    plugins = ["-p", "no:selfattend", "-p", "in_process", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", *plugins, *checks]
    return [*command, "--import-mode=importlib", "--learner", str(learner), "-c", "/dev/null", "--rootdir", str(ROOT)]


def learn(*arguments: str) -> list[str]:
    """Return a `learn` command of this environment."""
    return [str(BIN / "learn"), *arguments]


def python(code: str) -> list[str]:
    """Return the command for a line of Python in this environment."""
    return [sys.executable, "-c", code]


def keep_bytecode(folder: Path) -> None:
    """Compile our modules once, into *folder*, as an installation does: PYTHONDONTWRITEBYTECODE may be set here."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)


def describe_machine() -> None:
    """Print what this run is measured on."""
    import platform

    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}")
