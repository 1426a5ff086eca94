"""Which worker an examination gets: a fresh one, or in a batch the one that served the same learner's last lesson."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from grader.judge.processes.connection import Worker
from grader.judge.processes.launcher import Launcher
from grader.model import Submission
from grader.source.side_effects import has_no_side_effects

# Of the time that one lesson may take: a process that has served for longer might run into the limit on processor
# time that is there for one, and a lesson would suffer for those before it.
SHARED_FOR = 0.25


class Workers:
    """Gives out workers. Outside of `one_learner` each is fresh and used once."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._kept: Worker | None = None
        self.sharing = False

    @contextmanager
    def one_learner(self) -> Iterator[None]:
        """All examinations in here are of one learner's work: they may follow each other in one process, as long as
        none of their sources can change it for the next (`tame.py`), and each leaves it as it found it (the worker
        says so when it is asked to load the next: it is believed where the sources are tame)."""
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
        if worker is None:
            return self.take_fresh()
        worker.begin_lesson()
        return worker

    def take_fresh(self) -> Worker:
        """Start a fresh worker."""
        return self._launcher.lease()

    def give_back(self, worker: Worker, submission: Submission) -> None:
        """Keep a living worker for the same learner's next lesson, or end it."""
        if self.sharing and worker.alive and self._kept is None and self._may_serve_on(worker, submission):
            self._kept = worker
        else:
            worker.close()

    def _may_serve_on(self, worker: Worker, submission: Submission) -> bool:
        young = time.monotonic() - worker.begun < SHARED_FOR * worker.limits.total_seconds
        return young and not self.needs_its_own(submission)

    @staticmethod
    def needs_its_own(submission: Submission) -> bool:
        """Whether no other lesson may follow it in its process."""
        beside = [source for _, source in submission.siblings.values()]
        return not has_no_side_effects((submission.source, *beside), (submission.lesson, *submission.siblings))
