"""Measure what grading a class costs, beside a fresh pytest process for each submission.

Both run the same checks: `grader run`, and pytest in-process, without isolation and diagnosis.

    python benchmarks/batch.py [SUBMISSIONS]

How fast the machine is changes from minute to minute; so the figures to hold are shares of what the pytest process took
in the same round.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import LESSONS, ROOT, Run, describe_machine, fresh_pytest, grader_run, require_graded, run

from grader.course.load_course import load
from grader.model import Lesson

ROUNDS = 5  # each measures everything, one after the other: a machine is not as fast in every minute
LIMITS = {"seven lessons of the core": 1 / 14, "all other exercises": 1 / 8}  # of the processor time of one pytest


@dataclass(frozen=True)
class Round:
    """What one submission of each set of lessons costs after start-up, and one pytest process."""

    graded: dict[str, Run]
    alone: Run

    def share(self, name: str) -> float:
        """Return the processor time of a graded submission as a share of the pytest process's."""
        return self.graded[name].cpu / self.alone.cpu


def main() -> int:
    """Print the table; 1 if a limit is passed."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    describe_machine()
    sets = lesson_sets()
    rounds = [measure_round(count, sets) for _ in range(ROUNDS)]
    print(f"\n{count} submissions, after start-up, each; medians of {ROUNDS} rounds")
    print(f"  {'':<42}{'processor':>12}{'wall':>10}   one pytest is so many")
    rows = {f"grader run, {name} ({len(sets[name])})": [each.graded[name] for each in rounds] for name in sets}
    rows["one pytest process, seven, in-process"] = [each.alone for each in rounds]
    tails = [tail(rounds, name) for name in sets]
    for (row, runs), end in zip(rows.items(), [*tails, ""], strict=True):
        cpu, wall = (statistics.median(getattr(each, kind) for each in runs) for kind in ("cpu", "wall"))
        print(f"  {row:<42}{cpu:>10.3f} s{wall:>8.3f} s   {end}".rstrip())
    return 0 if all(statistics.median(each.share(name) for each in rounds) <= LIMITS[name] for name in sets) else 1


def tail(rounds: list[Round], name: str) -> str:
    """Return how often a submission goes into one pytest process: median, range, limit."""
    times = [1 / each.share(name) for each in rounds]
    return f"{statistics.median(times):.1f}x  ({min(times):.1f} to {max(times):.1f}; at least {1 / LIMITS[name]:.0f})"


def lesson_sets() -> dict[str, list[Lesson]]:
    """Return the lessons of the core, and all exercises of the other tracks: labs and capstones train for long."""
    course = load(ROOT)
    others = [each for each in course.lessons.values() if each.kind == "exercise" and each.track != "core"]
    return dict(zip(LIMITS, ([course.lessons[name] for name in LESSONS], others), strict=True))


def measure_round(count: int, sets: dict[str, list[Lesson]]) -> Round:
    """Measure one submission of `count` for each set of lessons, and one pytest process."""
    graded = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, lessons in sets.items():
            few, many = (batch(Path(folder) / name, each, lessons) for each in (2, count))
            cpu, wall = ((getattr(many, kind) - getattr(few, kind)) / (count - 2) for kind in ("cpu", "wall"))
            graded[name] = Run(wall, cpu, 0)
        alone = checked_in_process(Path(folder) / next(iter(sets)) / "in-2" / "learner-0")
    return Round(graded, alone)


def batch(folder: Path, count: int, lessons: Sequence[Lesson]) -> Run:
    """Grade `count` learners whose answers are the references, with one judge."""
    submissions = folder / f"in-{count}"
    for number in range(count):
        learner = submissions / f"learner-{number}"
        learner.mkdir(parents=True)
        for lesson in lessons:
            shutil.copy(lesson.solution_path, learner)
    out = folder / f"out-{count}"
    done = run(grader_run(submissions, out, "--jobs", "1", "--lessons", ",".join(each.name for each in lessons)))
    if done.code:
        raise SystemExit(f"grader run ended with {done.code}")
    require_graded(out, count)
    return done


def checked_in_process(learner: Path) -> Run:
    """Run the same checks on the same files in one fresh pytest process, on one thread as the grader does.

    Threads of torch that wait for each other take up to twice the processor time where the machine has other work.
    """
    done = run(["env", "OMP_NUM_THREADS=1", *fresh_pytest(learner)], cwd=ROOT / "benchmarks")
    if done.code:
        raise SystemExit(f"the checks failed in-process ({done.code})")
    return done


if __name__ == "__main__":
    sys.exit(main())
