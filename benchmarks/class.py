"""Measure what grading a class costs by `grader run --jobs 2` with full isolation.

Each learner has seven lessons, made from references and from right and wrong answers as learners write them.

    python benchmarks/class.py [--count 200] [--sample 12] [--large]

- beside one pytest process for each submission, two at a time, that runs the same checks in-process (of a sample, half
  before and half after the run);
- the distance to the floor of the design: the processor time of one worker for each submission and of its checks;
- what one more submission costs as there are more of them, and the memory of the whole process tree;
- `--resume` of a run that is finished.

`--large` adds ten times as many submissions. What 10,000 results cost to report is measured by report.py.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from measure import ROOT, Run, describe_machine, fresh_pytest, grader_run, peak_pss, require_graded, run

sys.path.insert(0, str(ROOT / "tests"))
from support.class_submissions import make_class

JOBS = 2
RATIO = 12.0  # one pytest process for each costs at least so many times the wall clock
MEMORY = 1.10  # of the peak with a tenth as many submissions
LINEAR = 1.25  # what one more costs among many, in processor time, to what it costs among few
RESUME = 3.0  # seconds
WORKER, CHECK = 0.012, 0.0003  # seconds of processor time, measured for a bare fork and a bare check


@dataclass(frozen=True)
class Graded:
    """One run over the first `count` of the submissions."""

    count: int
    run: Run
    out: Path


class Bench:
    """A folder with the submissions of a class, and what has to be run over them."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.learners = make_class(folder / "all", count)

    def first(self, count: int) -> Path:
        """Make a folder with the first `count` learners."""
        part = self.folder / f"first-{count}"
        if not part.exists():
            part.mkdir()
            for learner in self.learners[:count]:
                shutil.copytree(learner, part / learner.name)  # `grader run` follows no links
        return part

    def grade(self, count: int) -> Graded:
        """Grade the first `count`."""
        out = self.folder / f"out-{count}"
        done = run(grader_run(self.first(count), out, "--jobs", str(JOBS)), seconds=3600)
        if done.code:
            raise SystemExit(f"grader run ended with {done.code}")
        require_graded(out, count)
        return Graded(count, done, out)

    def resume(self, graded: Graded) -> Run:
        """Go on with a run that has nothing left to do."""
        return run(grader_run(self.first(graded.count), graded.out, "--jobs", str(JOBS), "--resume"))

    def memory(self, count: int) -> float:
        """Measure the peak memory of a run over the first `count`, in MiB."""
        return peak_pss(grader_run(self.first(count), self.folder / f"memory-{count}", "--jobs", str(JOBS)), every=0.1)

    def in_process(self, learners: list[Path]) -> float:
        """Wall clock of one pytest process for each, JOBS at a time; seconds a submission."""

        def check(learner: Path) -> None:
            # one thread each: JOBS of them share the cores, and with more they would stand in each other's way
            alone = {**os.environ, "OMP_NUM_THREADS": "1"}
            done = subprocess.run(
                fresh_pytest(learner), cwd=ROOT / "benchmarks", env=alone, capture_output=True, text=True, timeout=600
            )
            if done.returncode not in (0, 1) or "skipped" in done.stdout:  # 1: some checks failed, as they must
                raise SystemExit(f"pytest ended with {done.returncode}: {done.stdout[-2000:]}")

        started = time.perf_counter()
        with ThreadPoolExecutor(JOBS) as pool:
            list(pool.map(check, learners))
        return (time.perf_counter() - started) / len(learners)


def main() -> int:
    """Print the tables; 1 if a limit is passed."""
    options = arguments()
    describe_machine()
    largest = options.count * (10 if options.large else 1)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), largest)
        sample = bench.learners[: options.count : max(1, options.count // options.sample)][: options.sample]
        before = bench.in_process(sample[::2])
        few, some = bench.grade(max(2, options.count // 100)), bench.grade(max(4, options.count // 10))
        many = bench.grade(options.count)
        after = bench.in_process(sample[1::2])
        good = beside_pytest(many, (before + after) / 2, len(sample))
        good &= floor(many, few)
        runs = [few, some, many, *([bench.grade(largest)] if options.large else [])]
        good &= growth(runs)
        good &= memory(bench, some.count, many.count)
        good &= resumed(runs[-1], bench)
    return 0 if good else 1


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="submissions (default 200)")
    parser.add_argument("--sample", type=int, default=12, help="how many of them pytest checks (default 12)")
    parser.add_argument("--large", action="store_true", help="grade ten times as many, too")
    return parser.parse_args()


def beside_pytest(many: Graded, pytest_wall: float, sample: int) -> bool:
    """Wall clock of a submission, start-up included, each way."""
    wall = many.run.wall / many.count
    print(f"\n{many.count} submissions of seven lessons, {JOBS} at a time: wall clock of each, start-up included")
    print(f"  {'grader run, full isolation':<44}{wall:>9.3f} s")
    print(f"  {f'one pytest process each, in-process (of {sample})':<44}{pytest_wall:>9.3f} s")
    return shown("ratio", pytest_wall / wall, "x", RATIO, least=True)


def floor(many: Graded, few: Graded) -> bool:
    """Processor time of a submission, after start-up, and what it could not be less than."""
    with (many.out / "results.json").open() as file:
        submissions = json.load(file)["submissions"]
    checks = sum(len(lesson["checks"]) for each in submissions for lesson in each["lessons"].values()) / len(
        submissions
    )
    cpu = (many.run.cpu - few.run.cpu) / (many.count - few.count)
    least = WORKER + CHECK * checks
    print(f"\nProcessor time of a submission, after start-up ({checks:.0f} checks on average)")
    print(f"  {'grader run, full isolation':<44}{cpu * 1000:>9.0f} ms")
    print(f"  {'floor: one worker, and the checks':<44}{least * 1000:>9.0f} ms")
    print(f"  {'ratio':<44}{cpu / least:>9.1f} x")
    return True


def growth(runs: list[Graded]) -> bool:
    """Print what one more submission costs, from each run to the next larger."""
    print(f"\nOne more submission costs{'':<21}{'processor':>10}{'wall':>10}")
    steps = []
    for small, large in itertools.pairwise(runs):
        more = large.count - small.count
        cpu, wall = (large.run.cpu - small.run.cpu) / more, (large.run.wall - small.run.wall) / more
        steps.append(cpu)
        print(f"  {f'from {small.count} to {large.count}':<44}{cpu * 1000:>7.0f} ms{wall * 1000:>7.0f} ms")
    return shown("last to first", steps[-1] / steps[0], "x", LINEAR)


def memory(bench: Bench, few: int, many: int) -> bool:
    """Print the peak memory of the whole process tree with few and with many."""
    peaks = {count: bench.memory(count) for count in (few, many)}
    print("\nPeak memory of the whole process tree")
    for count, peak in peaks.items():
        print(f"  {f'{count} submissions':<44}{peak:>9.0f} MiB")
    return shown("ratio", peaks[many] / peaks[few], "x", MEMORY)


def resumed(graded: Graded, bench: Bench) -> bool:
    """Print what resuming a finished run costs."""
    print(f"\n--resume of {graded.count} that are done")
    return shown("wall clock", bench.resume(graded).wall, "s", RESUME)


def shown(what: str, figure: float, unit: str, limit: float, *, least: bool = False) -> bool:
    """Print a figure with its limit; return True if it keeps to it."""
    good = figure >= limit if least else figure <= limit
    bound = f"at {'least' if least else 'most'} {limit:g}"
    print(f"  {what:<44}{figure:>9.2f} {unit}   ({bound}){'' if good else '  MISSED'}")
    return good


if __name__ == "__main__":
    sys.exit(main())
