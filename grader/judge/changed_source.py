"""Find the line of a mistake by what a submission's checks say of it with a part of its source exchanged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial

from grader.judge.checks.check import Check
from grader.judge.checks.lesson_checks import LessonChecks
from grader.judge.checks.loaded_submission import LearnerFunctions
from grader.judge.checks.run_checks import run_checks
from grader.judge.errors import LearnerError
from grader.judge.mistakes.undone_mistakes import Undone, find_slip, find_undone
from grader.judge.processes.remote_module import CallableModule
from grader.judge.processes.worker_pool import Workers
from grader.judge.tracing.line_words import MAX_SHOWN_CHARS
from grader.model import Submission, WrongLine


class ChangedFunctions(LearnerFunctions):
    """A submission with another source, of which only is asked whether it is right: it gets no score."""

    tells_form = False

    def __init__(
        self, checks: LessonChecks, submission: Submission, source: str, workers: Workers, ends: float
    ) -> None:
        super().__init__(checks, replace(submission, source=source), workers)
        self.forbids, self.deadline = (), ends
        self.expect_small_calls()

    def load(self) -> CallableModule:
        subject = super().load()
        assert self.worker is not None
        self.worker.until = self.deadline
        return subject


@dataclass(frozen=True)
class ChangedSource:
    """Tries a submission with other parts in it.

    Attributes:
        workers: For this alone: they are sent what is not the learner's.
        function: The function whose line is looked for.
        asked: The checks that have to pass, those first that failed; empty where no source is to be tried.
        ends: When there is no more time for it.
    """

    checks: LessonChecks
    submission: Submission
    workers: Workers
    function: str
    asked: Sequence[Check]
    ends: float

    def find_undone(self, versions: Iterable[tuple[str, str]]) -> WrongLine | None:
        """Return the line on which undoing a mistake makes all right; None where that is not certain.

        Args:
            versions: What is right, and the same with the mistake in it.
        """
        return self._in_time(partial(find_undone, versions))

    def find_slip(self) -> WrongLine | None:
        """Return the line on which a small change makes all right; None where that is not certain."""
        return self._in_time(partial(find_slip, self.checks.lesson.kinds.keys() - {self.function}))

    def _in_time(self, find: Callable[[str, Callable[[str], bool]], Undone | None]) -> WrongLine | None:
        found = find(self.submission.source, self._passes)
        # out of time it is found by chance: what is left may mend it as well
        return self._describe(found) if found and time.monotonic() < self.ends else None

    def _describe(self, found: Undone) -> WrongLine:
        text = f"`{found.text}`" if len(found.text) <= MAX_SHOWN_CHARS else "what stands there"
        change = "without" if found.is_left_out else "with something else in place of"
        where = f"`{self.function}`: Line {found.line} is where it goes wrong"
        says = f"{where}: {change} {text}, all that the checks ask is right."
        return WrongLine(self.function, found.line, 0, says, f"{where.replace('Line', 'line')}.")

    def _passes(self, source: str) -> bool:
        """Return True if another source in the submission's place passes the checks in time."""
        if time.monotonic() > self.ends:
            return False
        functions = ChangedFunctions(self.checks, self.submission, source, self.workers, self.ends)
        with closing(functions) as loaded, suppress(LearnerError):
            loaded.load()
            outcomes = run_checks(self.checks, loaded.submission, loaded, self.asked)
            return all(outcome.kind == "passed" for outcome in outcomes)
        return False
