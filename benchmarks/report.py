"""Measure what `report.html` costs for a large class: reading the records from JSON and making the page.

Beside it: reading alone, and one learner's feedback page.

    python benchmarks/report.py [LEARNERS]
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measure import ROOT, describe_machine

from grader.record import Record
from grader.reports.pages.class_page import class_page
from grader.reports.pages.feedback_page import feedback_page

sys.path.insert(0, str(ROOT / "tests"))
from support.class_results import made_head, made_records

SECONDS, MEGABYTES = 10.0, 10.0  # limits at 10,000 learners
DIFFERENT = 1_000  # learners that are made; the others are these again, each lesson of another one


def main() -> int:
    """Print the figures; 1 if a limit is passed."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    describe_machine()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        write_records(path, count)
        size = path.stat().st_size / 1e6
        reading, _ = timed(lambda: sum(1 for _ in records_of(path)))
        whole, written = timed(lambda: write_page(path, Path(folder) / "report.html"))
    good = whole <= SECONDS and written / 1e6 <= MEGABYTES
    print(f"\n{count} learners of seven lessons, {size:.0f} MB of JSON")
    print(f"  {'json.loads of every record':<34}{reading:>8.2f} s")
    print(f"  {'that and report.html':<34}{whole:>8.2f} s   (limit {SECONDS:g} s)")
    print(f"  {'ratio':<34}{whole / reading:>8.2f}")
    print(f"  {'report.html':<34}{written / 1e6:>8.2f} MB  (limit {MEGABYTES:g} MB)")
    print(f"  {'one feedback page':<34}{one_feedback_page() * 1000:>8.2f} ms")
    return 0 if good else 1


def write_records(path: Path, count: int) -> None:
    """Write a record a line. Lessons are shuffled among the learners, so that hardly any two records are the same."""
    made = list(made_records(min(count, DIFFERENT)))
    shuffled = random.Random(2)
    with path.open("w") as file:
        for number in range(count):
            record: dict[str, Any] = {**made[number % len(made)], "id": f"s{number}", "feedback": f"s{number}"}
            record["lessons"] = {name: shuffled.choice(made)["lessons"][name] for name in record["lessons"]}
            file.write(json.dumps(record) + "\n")


def records_of(path: Path) -> Iterator[dict[str, Any]]:
    """Read the records, one at a time."""
    with path.open() as file:
        yield from map(json.loads, file)


def write_page(records: Path, page: Path) -> int:
    """Write the page and return its size in bytes."""
    with page.open("w", encoding="utf-8") as file:
        file.writelines(class_page(made_head(), map(Record.from_json, records_of(records))))
    return page.stat().st_size


def timed(work: Callable[[], int]) -> tuple[float, int]:
    """Return the wall clock of some work in seconds, and its result."""
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def one_feedback_page() -> float:
    """Return the mean seconds for one learner's page, of fifty."""
    head, records = made_head(), [Record.from_json(record) for record in made_records(50)]
    feedback_page(head, records[0])
    started = time.perf_counter()
    for record in records:
        feedback_page(head, record)
    return (time.perf_counter() - started) / len(records)


if __name__ == "__main__":
    sys.exit(main())
