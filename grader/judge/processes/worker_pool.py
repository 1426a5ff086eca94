"""Give out workers: fresh ones, or in a batch the one that served the same learner's last lesson."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from grader.judge.processes.connection import OnProgress, Worker
from grader.judge.processes.launcher import Launcher
from grader.model import Submission
from grader.source.side_effects import has_no_side_effects

# Of the time that one lesson may take. The limit on processor time is for one lesson: a process that has served for
# longer could reach it because of the lessons before.
MAX_SHARED_FRACTION = 0.25


class Workers:
    """Gives out workers. Outside of `one_learner` each is fresh and used once."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._kept: Worker | None = None
        self.sharing = False
        self.on_progress: OnProgress | None = None  # of every worker

    @contextmanager
    def one_learner(self) -> Iterator[None]:
        """Let the examinations of one learner's lessons follow each other in one process.

        That needs sources without side effects, and a process that is as it was before. The worker reports its own
        state when the next lesson is loaded; the report is trusted only if static analysis found no side effects.
        """
        self.sharing = True
        try:
            yield
        finally:
            self.sharing = False
            if self._kept is not None:
                self._kept.close()
                self._kept = None

    @contextmanager
    def apart(self) -> Iterator[Workers]:
        """Lend others, of which none serves anybody afterwards; one can serve several sources, as of one learner."""
        others = Workers(self._launcher)
        with others.one_learner():
            yield others

    def take(self, forbids: Collection[str] = ()) -> Worker:
        """Return the worker kept from the same learner's last lesson, or a fresh one.

        A lesson that forbids calls gets none in which code has run that was not watched: it could have ended the watch.
        """
        worker, self._kept = self._kept, None
        if worker is not None and forbids and not worker.is_watched:
            worker.close()
            worker = None
        if worker is None:
            worker = self._launcher.lease()
        else:
            worker.begin_lesson()
        worker.on_progress = self.on_progress
        worker.is_watched &= bool(forbids)
        return worker

    def give_back(self, worker: Worker, submission: Submission) -> None:
        """Keep a living worker for the same learner's next lesson, or end it."""
        young = time.monotonic() - worker.begun < MAX_SHARED_FRACTION * worker.limits.total_seconds
        may_be_kept = self.sharing and worker.alive and not worker.is_told and self._kept is None and young
        if may_be_kept and not self.needs_its_own(submission):
            self._kept = worker
        else:
            worker.close()

    @staticmethod
    def needs_its_own(submission: Submission) -> bool:
        """Return True if no other lesson may follow it in its process."""
        beside = [source for _, source in submission.siblings.values()]
        return not has_no_side_effects((submission.source, *beside), (submission.lesson, *submission.siblings))
