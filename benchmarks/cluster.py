"""Measure what a scheduler, and the machine that keeps the results, can take of a large class on a Dask cluster.

The scheduler and its nodes are real processes, and so are parcels, messages and files. Only the work is none: a node
answers at once with the recorded result of a learner of seven lessons.

    python benchmarks/cluster.py [--count 100000] [--nodes 2] [--seconds 0.31]

- the scheduler: hand-ins are sent, results come back, and nothing is kept;
- the store: results are kept one by one, and in the parts in which a cluster gives them;
- each learner's files: the pages of feedback;
- the instructor's machine as a whole: all of that, as `grader run --engine dask://...` does it.

Each takes processor time for a result, and so many results a second at most. At `--seconds` of processor time for a
submission (class.py measures it) that keeps so many cores busy; the fewest are the limit of a cluster.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
from measure import ROOT, describe_machine

from grader.batch.cluster import dask_executor
from grader.batch.cluster.dask_executor import DaskExecutor
from grader.batch.make_record import Graded, GradedHandIn
from grader.batch.outputs import Outputs
from grader.batch.results import Results
from grader.batch.results_folder import store_path
from grader.batch.settings import make_settings
from grader.course import load
from grader.course.course_files import digest
from grader.intake.learner import Entry, Learner
from grader.record import Record

sys.path.insert(0, str(ROOT / "tests"))
from support.class_results import made_records
from support.dask_cluster import Cluster

RECORDED = "SELFATTEND_RECORDED"  # the variable that says where the recorded results are
DIFFERENT = 50  # recorded results
PART = 50  # results that come together
SECONDS = 0.31  # of processor time for a submission of seven lessons, as class.py measures it

Parts = Iterable[list[Graded]]


def replay_parcel(parcel: Any) -> int:
    """Answer a parcel as a node does, with recorded results in place of grading."""
    from grader.batch.cluster import dask_task

    lines = Path(os.environ[RECORDED]).read_text(encoding="utf-8").splitlines()

    class Recorded:
        def grade(self, learner: Any, _: Any) -> Any:
            data = json.loads(lines[int(learner.id[1:]) % len(lines)])
            whose = {"id": learner.id, "learner": learner.id, "feedback": learner.id, "digest": learner.id}
            return dask_task.GradedHandIn.from_json({**data, "record": {**data["record"], **whose}})

    dask_task._use_pool = lambda parcel: nullcontext(Recorded())  # type: ignore[assignment]
    return dask_task.grade_parcel(parcel)


class Bench:
    """A class, recorded results, and what keeps them."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.course = load(ROOT)
        records = [Record.from_json(one) for one in made_records(DIFFERENT)]
        lessons = [self.course.lessons[name] for name in records[0].lessons]
        self.settings = replace(make_settings(self.course, lessons, 1, "cpu", "1"), files=digest(self.course))
        file = folder / "softmax.py"
        file.write_bytes(lessons[0].solution_path.read_bytes())
        self.learners = [Learner(f"s{n}", (Entry(f"s{n}.py", file, "file"),), f"s{n}") for n in range(count)]
        self.recorded = [GradedHandIn(record, {}, ("seccomp",)) for record in records]
        lines = "".join(json.dumps(one.to_json()) + "\n" for one in self.recorded)
        (folder / "recorded.jsonl").write_text(lines, encoding="utf-8")

    def parts(self, size: int) -> Iterator[list[Graded]]:
        """Yield the results as a cluster gives them, without one."""
        for start in range(0, len(self.learners), size):
            yield [(one, self._graded(one)) for one in self.learners[start : start + size]]

    def _graded(self, learner: Learner) -> GradedHandIn:
        recorded = self.recorded[int(learner.id[1:]) % DIFFERENT]
        own = {"id": learner.id, "learner": learner.id, "feedback": learner.id, "digest": learner.id}
        return replace(recorded, record=replace(recorded.record, **own))

    def keep(self, parts: Parts, name: str, files: bool) -> int:
        """Keep results as a run does; return how many."""
        out, count = self.folder / name, 0
        titles = {"course": "", "lessons": dict.fromkeys(self.settings.lessons, "")}
        outputs = Outputs(out) if files else None
        with closing(Results(store_path(out), self.settings.to_header(), outputs, go_on=False)) as kept:
            kept.begin(titles, [one.id for one in self.learners], {"ignored": [], "missing": [], "unlisted": []})
            for part in parts:
                count += len(kept.add_all(part))
        return count

    def on_cluster(self, nodes: int, name: str = "") -> tuple[int, float]:
        """Have the class graded on a cluster, and keep the results under *name*, if there is one.

        Returns how many there are, and the scheduler's processor time.
        """
        place = self.folder / f"cluster-{name}"
        place.mkdir()
        cluster = Cluster(place)
        try:
            cluster.add_workers(nodes, **{RECORDED: str(self.folder / "recorded.jsonl")})
            cluster.wait_for_nodes()
            before = used(cluster.scheduler.pid)
            executor = DaskExecutor(cluster.address, self.course, self.settings, None)
            with closing(executor):
                parts = executor.grade(self.learners)
                count = self.keep(parts, name, files=True) if name else sum(map(len, parts))
            return count, used(cluster.scheduler.pid) - before
        finally:
            cluster.close()


def used(process: int) -> float:
    """Return the seconds of processor time that a process has used."""
    times = psutil.Process(process).cpu_times()
    return float(times.user + times.system)


def main() -> int:
    """Print the figures; 1 if results were lost, or the store is the first limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="submissions")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of processor time for a submission")
    given = parser.parse_args()
    describe_machine()
    dask_executor.grade_parcel = replay_parcel
    spent: dict[str, float] = {}
    print(f"\n{given.count} submissions; each takes {given.seconds:g} s of processor time to grade")
    print(f"  {'what limits':<36}{'CPU':>9}{'results':>10}{'cores':>9}{'here':>12}")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), given.count)

        def measure(what: str, act: Callable[[], tuple[int, float | None]]) -> None:
            wall, own = time.perf_counter(), time.process_time()
            count, of_another = act()
            own = time.process_time() - own
            if count != given.count:
                raise SystemExit(f"{what}: {count} of {given.count} results came back")
            cpu = spent[what] = (own if of_another is None else of_another) / count
            wall = (time.perf_counter() - wall) / count
            line = f"{cpu * 1000:>6.2f} ms{1 / cpu:>8.0f}/s{given.seconds / cpu:>9.0f}{wall * 1000:>9.2f} ms"
            print(f"  {what:<36}{line}", flush=True)

        measure("the store, one by one", lambda: (bench.keep(bench.parts(1), "single", False), None))
        measure("the store, in parts", lambda: (bench.keep(bench.parts(PART), "parts", False), None))
        measure("the store and the learners' files", lambda: (bench.keep(bench.parts(PART), "files", True), None))
        measure("the scheduler", lambda: bench.on_cluster(given.nodes))
        measure("the instructor's machine", lambda: (bench.on_cluster(given.nodes, "whole")[0], None))
    return int(2 * spent["the store, in parts"] > spent["the instructor's machine"])


if __name__ == "__main__":
    raise SystemExit(main())
