"""Where a class is graded: in processes of this machine, or on a cluster.

Both follow `concurrent.futures.Executor`: whatever can call a function of a learner can grade.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Protocol

from grader.batch.make_record import Graded, GradedHandIn
from grader.batch.processes.process_pool import ProcessPool
from grader.batch.settings import Settings
from grader.course.course_files import digest
from grader.errors import UsageError
from grader.intake.learner import Learner
from grader.judge.own_limits import usable_cores
from grader.model import Course, Limits

LOCAL = "local"
QUEUED_PER_PROCESS = 2  # submissions, so that no process waits


class GradingExecutor(Protocol):
    """Grades learners somewhere."""

    def start(self) -> None:
        """Get ready to grade. Raises SelfattendError if that is impossible."""

    def grade(self, learners: Sequence[Learner]) -> Iterator[list[Graded]]:
        """Yield learners' results as soon as they are known; in one list are those that are known at the same time.

        Raises SelfattendError if grading cannot go on.
        """

    def interrupt(self) -> None:
        """Stop what is running without waiting for it."""

    def close(self) -> None:
        """Leave nothing running."""


def make_executor(where: str, course: Course, settings: Settings, jobs: int | None, learners: int) -> GradingExecutor:
    """Return the executor at *where*: "local", or a Dask scheduler as dask://HOST:PORT.

    It grades *jobs* submissions at the same time, None for one a processor; *learners* are the most that are useful.
    Raises UsageError if there is no such executor, or it cannot be used.
    """
    settings = replace(settings, files=digest(course))  # not before: what resumes with nothing to do needs none
    if where == LOCAL:
        limits = course.limits_for(*(course.lessons[name] for name in settings.lessons))
        return LocalExecutor(settings, limits, min(jobs or usable_cores(), max(1, learners)))
    scheme, _, address = where.partition("://")
    if scheme not in ("dask", "dask+tls") or not address:
        next_step = f"--engine {LOCAL}, or the scheduler's address: dask://HOST:8786"
        raise UsageError(f'there is no engine "{where}"', next_step=next_step)
    from grader.batch.cluster.dask_executor import DaskExecutor  # optional

    return DaskExecutor(f"{'tls' if scheme == 'dask+tls' else 'tcp'}://{address}", course, settings, jobs)


class LocalExecutor:
    """Grades on this machine: a pool of threads, each of which keeps a grading process."""

    def __init__(self, settings: Settings, limits: Limits, jobs: int) -> None:
        self._jobs = jobs
        self._pool = ProcessPool(settings, limits)
        self._threads = ThreadPoolExecutor(jobs)

    def start(self) -> None:
        """Start all processes at once; the first that is ready shows that they can start."""
        starting = [self._threads.submit(self._pool.get_process) for _ in range(self._jobs)]
        for future in wait(starting, return_when=FIRST_COMPLETED).done:
            future.result()

    def grade(self, learners: Sequence[Learner]) -> Iterator[list[Graded]]:
        """Yield results as they are done; few submissions are queued, so that a class of any size fits in memory."""
        waiting: dict[Future[GradedHandIn], Learner] = {}
        coming = iter(learners)
        while True:
            while len(waiting) < self._jobs * QUEUED_PER_PROCESS and (learner := next(coming, None)) is not None:
                waiting[self._threads.submit(self._pool.grade, learner)] = learner
            if not waiting:
                return
            done = wait(waiting, return_when=FIRST_COMPLETED).done
            yield [(waiting.pop(future), future.result()) for future in done]

    def interrupt(self) -> None:
        self._pool.interrupt()

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._pool.close()
