"""Measure what grading a class costs, beside a fresh pytest process for each submission.

Both run the same checks: `grader run`, and pytest in-process, without isolation and diagnosis.

    python benchmarks/batch.py [SUBMISSIONS]
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from measure import LESSONS, ROOT, Run, describe_machine, fresh_pytest, grader_run, require_graded, run

ROUNDS = 5  # each measures all three, one after the other: a machine is not as fast in every minute
LIMIT = 0.2  # seconds of processor time for a submission of seven lessons, after start-up


def main() -> int:
    """Print the table; 1 if the limit is passed."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    describe_machine()
    rounds = [measure_round(count) for _ in range(ROUNDS)]
    cpu, wall = (statistics.median(getattr(each, kind) for each, _ in rounds) for kind in ("cpu", "wall"))
    alone_cpu, alone_wall = (statistics.median(getattr(each, kind) for _, each in rounds) for kind in ("cpu", "wall"))
    ratios = [alone.cpu / graded.cpu for graded, alone in rounds]
    print(f"\n{count} submissions of seven lessons, after start-up, each; medians of {ROUNDS} rounds")
    print(f"  {'':<34}{'processor':>12}{'wall':>10}")
    print(f"  {'grader run, isolated':<34}{cpu:>10.3f} s{wall:>8.3f} s   (limit {LIMIT} s)")
    print(f"  {'one pytest process, in-process':<34}{alone_cpu:>10.3f} s{alone_wall:>8.3f} s")
    print(f"  {'ratio':<34}{statistics.median(ratios):>11.1f}x  (from {min(ratios):.1f} to {max(ratios):.1f})")
    return 0 if cpu <= LIMIT else 1


def measure_round(count: int) -> tuple[Run, Run]:
    """Measure what one submission of `count` costs, and one pytest process."""
    with tempfile.TemporaryDirectory() as folder:
        few = batch(Path(folder), 2)
        alone = checked_in_process(Path(folder) / "in-2" / "learner-0")
        many = batch(Path(folder), count)
    cpu, wall = ((getattr(many, kind) - getattr(few, kind)) / (count - 2) for kind in ("cpu", "wall"))
    return replace(many, cpu=cpu, wall=wall), alone


def batch(folder: Path, count: int) -> Run:
    """Grade `count` learners whose answers are the references, with one judge."""
    submissions = folder / f"in-{count}"
    for number in range(count):
        learner = submissions / f"learner-{number}"
        learner.mkdir(parents=True)
        for lesson in LESSONS:
            shutil.copy(ROOT / "solutions" / "core" / f"{lesson}.py", learner / f"{lesson}.py")
    out = folder / f"out-{count}"
    done = run(grader_run(submissions, out, "--jobs", "1"))
    if done.code:
        raise SystemExit(f"grader run ended with {done.code}")
    require_graded(out, count)
    return done


def checked_in_process(learner: Path) -> Run:
    """Run the same checks on the same files in one fresh pytest process."""
    done = run(fresh_pytest(learner), cwd=ROOT / "benchmarks")
    if done.code:
        raise SystemExit(f"the checks failed in-process ({done.code})")
    return done


if __name__ == "__main__":
    sys.exit(main())
