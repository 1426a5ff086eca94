"""Measure what a scheduler, and the machine that keeps the results, can take of a large class on a Dask cluster.

The scheduler and its nodes are real processes, and so are parcels, messages and files. Only the work is none: a node
answers at once with the recorded result of a learner of seven lessons.

    python benchmarks/cluster.py [--count 100000] [--sample 5000] [--nodes 2] [--seconds 0.31]

- the store: results are kept one by one, and in the parts in which a cluster gives them;
- each learner's files: the pages of feedback;
- the scheduler: hand-ins are sent, results come back, and are kept in the store;
- the instructor's machine as a whole: it sends, receives, keeps and writes the files, as `grader run --engine
  dask://...` does.

Each takes processor time for a result, and so many results a second at most. At `--seconds` of processor time for a
submission (class.py measures it) that keeps so many cores busy; the fewest are the limit of a cluster. What costs the
same for each submission, however many there are, is measured on a sample.
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

    recorded: list[GradedHandIn] = vars(dask_task).setdefault("_recorded", [])
    if not recorded:  # once in each node: reading them is no part of what is measured
        lines = Path(os.environ[RECORDED]).read_text(encoding="utf-8").splitlines()
        recorded += [dask_task.GradedHandIn.from_json(json.loads(line)) for line in lines]

    class Recorded:
        def grade(self, learner: Any, _: Any) -> Any:
            return _made_own(recorded[int(learner.id[1:]) % len(recorded)], learner)

    dask_task._use_pool = lambda parcel: nullcontext(Recorded())  # type: ignore[assignment]
    return dask_task.grade_parcel(parcel)


def _made_own(recorded: GradedHandIn, learner: Learner) -> GradedHandIn:
    own = {"id": learner.id, "learner": learner.id, "feedback": learner.id, "digest": learner.id}
    return replace(recorded, record=replace(recorded.record, **own))


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

    def parts(self, size: int, count: int) -> Iterator[list[Graded]]:
        """Yield *count* results as a cluster gives them, without one."""
        for start in range(0, count, size):
            some = self.learners[start : min(start + size, count)]
            yield [(one, _made_own(self.recorded[int(one.id[1:]) % DIFFERENT], one)) for one in some]

    def keep(self, parts: Parts, name: str, files: bool = False) -> int:
        """Keep results as a run does; return how many."""
        out, count = self.folder / name, 0
        titles = {"course": "", "lessons": dict.fromkeys(self.settings.lessons, "")}
        outputs = Outputs(out) if files else None
        with closing(Results(store_path(out), self.settings.to_header(), outputs, go_on=False)) as kept:
            kept.begin(titles, [one.id for one in self.learners], {"ignored": [], "missing": [], "unlisted": []})
            for part in parts:
                count += len(kept.add_all(part))
        return count

    def on_cluster(self, nodes: int) -> tuple[int, float, float]:
        """Have the class graded on a cluster, and keep the results in a store.

        Returns how many there are, the scheduler's processor time, and its largest memory in MiB.
        """
        place = self.folder / "cluster"
        place.mkdir()
        cluster = Cluster(place)
        try:
            cluster.add_workers(nodes, **{RECORDED: str(self.folder / "recorded.jsonl")})
            cluster.wait_for_nodes()
            scheduler = cluster.scheduler.pid
            before = used(scheduler)
            executor = DaskExecutor(cluster.address, self.course, self.settings, None)
            with closing(executor):
                count = self.keep(executor.grade(self.learners), "whole")
            return count, used(scheduler) - before, peak(scheduler)
        finally:
            cluster.close()


def used(process: int) -> float:
    """Return the seconds of processor time that a process has used."""
    times = psutil.Process(process).cpu_times()
    return float(times.user + times.system)


def peak(process: int) -> float:
    """Return the most memory that a process has had, in MiB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


class Table:
    """Figures for a result, as they are known."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        print(f"  {'what limits':<36}{'CPU':>9}{'results':>10}{'cores':>9}{'here':>12}")

    def measure(self, what: str, act: Callable[[], int], count: int) -> float:
        """Have *count* results made, and print and return this process's time for one."""
        wall, own = time.perf_counter(), time.process_time()
        if (came := act()) != count:
            raise SystemExit(f"{what}: {came} of {count} results came back")
        own = (time.process_time() - own) / count
        self.print(what, own, (time.perf_counter() - wall) / count)
        return own

    def print(self, what: str, cpu: float, wall: float | None = None) -> None:
        """Print a line."""
        here = f"{wall * 1000:>9.2f} ms" if wall else ""
        line = f"{cpu * 1000:>6.2f} ms{1 / cpu:>8.0f}/s{self.seconds / cpu:>9.0f}{here}"
        print(f"  {what:<36}{line}", flush=True)


def main() -> int:
    """Print the figures; 1 if results were lost, or the store is the first limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="submissions")
    parser.add_argument("--sample", type=int, default=5_000, help="of them, for what costs the same for each")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of processor time for a submission")
    given = parser.parse_args()
    count, few = given.count, min(given.sample, given.count)
    describe_machine()
    dask_executor.grade_parcel = replay_parcel
    scheduler = {"cpu": 0.0, "peak": 0.0}
    print(f"\n{count} submissions; each takes {given.seconds:g} s of processor time to grade")
    table = Table(given.seconds)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), count)

        def on_cluster() -> int:
            came, scheduler["cpu"], scheduler["peak"] = bench.on_cluster(given.nodes)
            return came

        table.measure(f"the store, one by one (of {few})", lambda: bench.keep(bench.parts(1, few), "single"), few)
        store = table.measure("the store, in parts", lambda: bench.keep(bench.parts(PART, count), "parts"), count)
        what = f"the store and the files (of {few})"
        files = table.measure(what, lambda: bench.keep(bench.parts(PART, few), "files", files=True), few)
        kept = table.measure("sent, received and kept", on_cluster, count)
    table.print("the scheduler", scheduler["cpu"] / count)
    whole = kept + max(0.0, files - store)
    table.print("the instructor's machine", whole)
    print(f"  memory: the scheduler {scheduler['peak']:.0f} MiB, the instructor's process {peak(os.getpid()):.0f} MiB")
    return int(2 * store > whole)


if __name__ == "__main__":
    raise SystemExit(main())
