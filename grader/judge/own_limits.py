"""Limits of the judge's own time and memory, whatever a submission makes it do; and the processors that it has."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.errors import GraderError
from grader.worker.isolation.limits import MEMORY_IS_LIMITED

LOOK_AT_FILE = "look for what in the file, or in what it returns, keeps the grader itself busy or is so large"
RING_AGAIN_SECONDS = 5.0  # what is raised in a callback of the interpreter is lost


def usable_cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def end_after(seconds: float, what: str, next_step: str = LOOK_AT_FILE) -> Iterator[None]:
    """Raise GraderError if the block takes longer, interrupted as by Ctrl-C, which checks do not catch.

    Only a main thread can be interrupted, and not on Windows.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    rang = False

    def ring(*_: object) -> None:
        nonlocal rang
        rang = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, RING_AGAIN_SECONDS)
    try:
        yield
    except BaseException:
        if rang:
            raise GraderError(f"{what} took more than {seconds:.0f} s", next_step=next_step) from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def limited_memory(more_mb: int, next_step: str = LOOK_AT_FILE) -> Iterator[None]:
    """Raise GraderError if this process needs more memory in the block than it has now and *more_mb*.

    Address space that is only reserved, or shared, does not count: libraries take much of it.
    """
    if not MEMORY_IS_LIMITED:
        yield
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])  # of data and stack
    before = _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bounds = [bound for bound in before if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([pages * resource.getpagesize() + (more_mb << 20), *bounds]), hard))
    try:
        yield
    except MemoryError:
        raise GraderError(f"the grader itself needed more than {more_mb} MB", next_step=next_step) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


@contextmanager
def within_limits(seconds: float, more_mb: int, what: str, next_step: str = LOOK_AT_FILE) -> Iterator[None]:
    """Raise GraderError if the block takes longer, or needs so much more memory."""
    with limited_memory(more_mb, next_step), end_after(seconds, what, next_step):
        yield


def lift_memory_limit() -> None:
    """Lift, in a program that a judge has started, the limit that is the judge's own."""
    if MEMORY_IS_LIMITED:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
