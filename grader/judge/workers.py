"""Which worker an examination gets: a fresh one, or in a batch the one that served the same learner's last lesson."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from grader.judge.launch import Launcher
from grader.judge.worker import Worker


class Workers:
    """Gives out workers. Outside of `one_learner` each is fresh and used once."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._kept: Worker | None = None
        self.sharing = False

    @contextmanager
    def one_learner(self) -> Iterator[None]:
        """All examinations in here are of one learner's work: they may follow each other in one process, as long as
        each leaves it as it found it (the worker says so when it is asked to load the next)."""
        self.sharing = True
        try:
            yield
        finally:
            self.sharing = False
            if self._kept is not None:
                self._kept.close()
                self._kept = None

    def take(self) -> Worker:
        """The worker kept from the same learner's last lesson, or a fresh one."""
        worker, self._kept = self._kept, None
        return worker or self._launcher.lease()

    def give_back(self, worker: Worker) -> None:
        """Keep a living worker for the same learner's next lesson, or end it."""
        if self.sharing and worker.alive and self._kept is None:
            self._kept = worker
        else:
            worker.close()
