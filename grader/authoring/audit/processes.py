"""Audit lessons in several processes, each with a judge and workers of its own.

    python -P -m grader.authoring.audit.processes COURSE SEEDS LESSON...

In, a lesson's name on each line; out, for each a pickled LessonAudit over a copy of standard output, which the course's
files and pytest may write to. A process ends when its standard input does, so none outlives the one that asks it for
longer than a lesson takes.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

from grader.authoring.audit.lesson_audit import LessonAudit
from grader.course import load
from grader.errors import GraderError
from grader.judge.processes.launcher import start_engine
from grader.judge.session import with_workers


def audit_in_processes(root: Path, lessons: Sequence[str], seeds: int, jobs: int) -> Iterator[LessonAudit]:
    """Audit so many lessons at a time, and yield them in their order, each when it is done."""
    processes = [start_engine(__name__, str(root), str(seeds), *lessons) for _ in range(min(jobs, len(lessons)))]
    idle = SimpleQueue[subprocess.Popen[bytes]]()
    for process in processes:
        idle.put(process)

    def audit(lesson: str) -> LessonAudit:
        process = idle.get()
        try:
            return _ask(process, lesson)
        finally:
            idle.put(process)

    threads = ThreadPoolExecutor(len(processes))
    try:
        yield from threads.map(audit, lessons)
    finally:
        for process in processes:
            process.kill()  # its workers end with it, and whoever waits for it returns
            process.communicate()
        threads.shutdown(cancel_futures=True)


def _ask(process: subprocess.Popen[bytes], lesson: str) -> LessonAudit:
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(f"{lesson}\n".encode())
        process.stdin.flush()
        report: LessonAudit = pickle.load(process.stdout)
    except (OSError, EOFError):
        raise GraderError(f"the process that audited {lesson} ended", next_step="grader audit --jobs 1") from None
    return report


def main(root: str, seeds: str, *names: str) -> None:
    """Audit the lessons asked for until standard input ends."""
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)
        course = load(Path(root))
        lessons = [course.lessons[name] for name in names]
        with with_workers(replace(course, limits=course.limits_for(*lessons)), "cpu") as (launcher, _):
            from grader.authoring.audit.audit_lessons import audit  # not before the launcher: it imports pytest

            for line in sys.stdin:
                (report,) = audit(course, [course.lessons[line.strip()]], launcher, int(seeds))
                pickle.dump(report, replies)
                replies.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
