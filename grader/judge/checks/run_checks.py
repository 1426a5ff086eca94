"""Run a lesson's checks on one submission: one outcome for each, with the facts and without the words."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from grader.errors import GraderError
from grader.judge.checks.check import Check
from grader.judge.checks.lesson_checks import LessonChecks
from grader.judge.checks.loaded_submission import LoadedSubmission
from grader.judge.errors import CheckFailed, LearnerError
from grader.judge.processes.remote_module import Call
from grader.model import Submission
from grader.source.forbidden_calls import ForbiddenCall, find_forbidden_calls
from grader.worker.watch.call_monitor import matches

MAX_DEATHS = 2  # of workers on one function; its other checks are not run then
ASKED_AGAIN = "Asked the same once more, it is not right: something is kept between calls, or drawn at random."
NO_TIME_LEFT = "Not run: the time for this lesson was used up."


@dataclass(frozen=True)
class Outcome:
    """How one check ended: `kind` is one of `model.OUTCOMES`.

    A check that was not run has a `reason` or a `forbidden` call in the source, one that did not pass an `error`.
    `call` and `value` are the last call of the submission and what it returned. `mended` are the faults of form
    without which it passes; it fails only where one of them is found for the first time.
    """

    check: Check
    kind: str
    reason: str = ""
    forbidden: ForbiddenCall | None = None
    error: BaseException | None = None
    call: Call | None = None
    value: Any = None
    output: str = ""
    mended: frozenset[str] = frozenset()


def run_checks(
    lesson_checks: LessonChecks,
    submission: Submission,
    loaded: LoadedSubmission,
    checks: Sequence[Check] | None = None,
) -> Iterator[Outcome]:
    """Run every check in order, or those given, and yield each outcome as it is known."""
    run = _Run(lesson_checks, submission, loaded)
    for check in lesson_checks.checks if checks is None else checks:
        if check.is_run and not loaded.takes_runs:
            continue
        outcome = run.outcomes[check.name] = run.run(check)
        yield outcome


class _Run:
    """One run of a lesson's checks: the outcomes so far decide which checks are still run."""

    def __init__(self, lesson_checks: LessonChecks, submission: Submission, loaded: LoadedSubmission) -> None:
        self.lesson_checks, self.lesson, self.loaded = lesson_checks, lesson_checks.lesson, loaded
        self.forbidden: dict[str, ForbiddenCall] = {}
        if loaded.forbids:
            is_forbidden = partial(matches, forbids=loaded.forbids)
            self.forbidden = find_forbidden_calls(
                submission.source, self.lesson.kinds, is_forbidden, submission.siblings, submission.lesson
            )
        self.outcomes: dict[str, Outcome] = {}
        self._deaths: Counter[str] = Counter()  # of workers, by function
        self._fickle: set[str] = set()  # functions that passed a check, and not when it was run once more
        self._told: set[tuple[str, str]] = set()  # functions and their faults of form
        self._may_draw = loaded.may_draw or any("dropout" in source.lower() for source in submission.sources)

    def run(self, check: Check) -> Outcome:
        """Run one check, unless something speaks against it."""
        not_run = self._not_run(check)
        if not_run is not None:
            return not_run
        if check.name in self.loaded.known.checks:
            return Outcome(check, "passed")
        error = self._ask(check)
        if error is None:
            output = self.loaded.take_output()
            error = self._ask_again(check)
            if error is None:
                return Outcome(check, "passed", output=output)
        kind = self._kind_of(check, error)
        call, value = getattr(self.loaded.subject, "last_call", None), getattr(self.loaded.subject, "last_value", None)
        output = self.loaded.take_output()
        mended = self._find_form_faults(check, error) if kind == "failed" else frozenset()
        told = {(check.function_in(self.lesson), fault) for fault in mended}
        if mended and told <= self._told:
            return Outcome(check, "passed", output=output, mended=mended)
        self._told |= told
        return Outcome(check, kind, error=error, call=call, value=value, output=output, mended=mended)

    def _ask(self, check: Check, again: bool = False) -> BaseException | None:
        try:
            return self.lesson_checks.run(check, self.loaded.live_subject(), again)
        except LearnerError as error:  # the submission cannot be loaded again
            return error

    def _ask_again(self, check: Check) -> BaseException | None:
        """Run some checks that passed once more, and all of a function that answered otherwise the second time."""
        function = check.function_in(self.lesson)
        if not self.loaded.may_keep_state() or (
            check.name not in self.lesson_checks.asked_twice and function not in self._fickle
        ):
            return None
        error = self._ask(check, again=True)
        self.loaded.drop_output()
        if error is not None:
            self._fickle.add(function)
        if isinstance(error, CheckFailed):
            form = f"{ASKED_AGAIN} {error.form}".strip()
            return CheckFailed(f"{ASKED_AGAIN} {error}", form, error.hint, error.of_values)
        return error

    def _find_form_faults(self, check: Check, error: BaseException) -> frozenset[str]:
        """Return the faults of form that are all that is wrong; values that differ are looked at no further."""
        if (
            check.is_run
            or not self.loaded.tells_form
            or (isinstance(error, CheckFailed) and error.of_values and not self._may_draw)
        ):
            return frozenset()
        try:
            return self.lesson_checks.find_form_faults(check, self.loaded.live_subject())
        except LearnerError as learner_error:
            self._deaths[check.function_in(self.lesson)] += self.loaded.note_error(learner_error)
            return frozenset()
        finally:
            self.loaded.drop_output()

    def _not_run(self, check: Check) -> Outcome | None:
        """Return the outcome of a check that must not be run; None for one that is run."""
        function = check.function_in(self.lesson)
        kind, _ = self.loaded.found.get(function, ("missing", []))
        if kind == "missing":
            return Outcome(check, "skipped", f"`{function}` is not defined in your file.")
        if kind == "not-callable":
            return Outcome(check, "skipped", f"`{function}` is not a function.")
        needed = [outcome for outcome in self.outcomes.values() if outcome.check.called.intersection(check.needs)]
        unmet = [outcome for outcome in needed if outcome.kind != "passed" and not outcome.mended]
        if unmet:
            return Outcome(check, "skipped", f"Not run before this passes: {unmet[0].check.says}")
        if self._deaths[function] >= MAX_DEATHS or time.monotonic() > self.loaded.deadline:
            return Outcome(check, "timed-out", NO_TIME_LEFT)
        forbidden = self.forbidden.get(function)
        return Outcome(check, "forbidden", forbidden=forbidden) if forbidden else None

    def _kind_of(self, check: Check, error: BaseException) -> str:
        """Return the outcome of a check that raised: the submission's fault, or the grader's."""
        if isinstance(error, LearnerError):
            self._deaths[check.function_in(self.lesson)] += self.loaded.note_error(error)
            return error.kind if error.kind != "syntax" else "raised"
        if isinstance(error, CheckFailed):
            return "failed"
        error.__traceback__ = None  # it may hold all memory that there is for the reference
        # where the reference passes, the check stumbled over what the submission returned
        ours = isinstance(error, GraderError)
        ours = ours or (not check.is_run and self.lesson_checks.run_on_reference(check) is not None)
        return "grader-error" if ours else "failed"
