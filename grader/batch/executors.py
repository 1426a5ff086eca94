"""Where a class is graded: in processes of this machine, or by a cluster.

The seam is `concurrent.futures.Executor`: whatever can call a function of a learner can grade.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import Protocol

from grader.batch.make_record import GradedHandIn
from grader.batch.processes.process_pool import Grader
from grader.batch.settings import Settings
from grader.errors import UsageError
from grader.intake.learner import Learner
from grader.model import Course

LOCAL = "local"
AHEAD = 2  # submissions waiting for each process, so that none is ever idle


class Engine(Protocol):
    """Grades learners somewhere."""

    def start(self) -> None:
        """Be ready to grade. Raises SelfattendError if that cannot be."""

    def graded(self, learners: Sequence[Learner]) -> Iterator[tuple[Learner, GradedHandIn]]:
        """What each is given, as soon as it is known; each learner once. Raises SelfattendError if it cannot go on."""

    def interrupt(self) -> None:
        """End what is going on, without waiting for it."""

    def close(self) -> None:
        """Leave nothing running."""


def engine_at(where: str, course: Course, settings: Settings, jobs: int | None, learners: int) -> Engine:
    """The engine at `where`: "local", or the address of a Dask scheduler as dask://HOST:PORT. Raises UsageError.

    `jobs` are the submissions that are graded at the same time, None for as many as there are processors.
    """
    seconds = _most_seconds(course, settings)
    if where == LOCAL:
        return Local(settings, seconds, min(jobs or usable_cores(), max(1, learners)))
    scheme, _, address = where.partition("://")
    if scheme not in ("dask", "dask+tls") or not address:
        raise UsageError(
            f'there is no engine "{where}"', next_step=f"--engine {LOCAL}, or the scheduler's address: dask://HOST:8786"
        )
    from grader.batch.cluster.dask_engine import Dask

    return Dask(f"{'tls' if scheme == 'dask+tls' else 'tcp'}://{address}", course, settings, seconds, jobs)


def usable_cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Local:
    """Processes of this machine: a pool of threads, each of which keeps a grading process of its own."""

    def __init__(self, settings: Settings, seconds: float, jobs: int) -> None:
        self._jobs = jobs
        self._grader = Grader(settings, seconds)
        self._executor = ThreadPoolExecutor(jobs)

    def start(self) -> None:
        """All processes start at once; one that has come up is enough to know that they can."""
        starting = [self._executor.submit(self._grader.prepare) for _ in range(self._jobs)]
        for future in wait(starting, return_when=FIRST_COMPLETED).done:
            future.result()

    def graded(self, learners: Sequence[Learner]) -> Iterator[tuple[Learner, GradedHandIn]]:
        return graded(self._executor, self._grader.grade, learners, self._jobs * AHEAD)

    def interrupt(self) -> None:
        self._grader.interrupt()

    def close(self) -> None:
        self._executor.shutdown(cancel_futures=True)
        self._grader.close()


def graded(
    executor: Executor, grade: Callable[[Learner], GradedHandIn], learners: Sequence[Learner], ahead: int
) -> Iterator[tuple[Learner, GradedHandIn]]:
    """What each learner is given, as it is done; at most `ahead` are waiting, so a class of any size fits in memory."""
    waiting: dict[Future[GradedHandIn], Learner] = {}
    coming = iter(learners)
    while True:
        while len(waiting) < ahead and (learner := next(coming, None)) is not None:
            waiting[executor.submit(grade, learner)] = learner
        if not waiting:
            return
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            yield waiting.pop(future), future.result()


def _most_seconds(course: Course, settings: Settings) -> float:
    """After this long a grading process is taken for dead. Its checks keep to `total_seconds`; after them come the
    probes that name a mistake, each of which may take a call's time."""
    limits = course.limits
    return len(settings.lessons) * (2 * limits.total_seconds + 40 * limits.call_seconds) + 60.0
