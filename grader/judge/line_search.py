"""Watch a submission on what its checks ask: the line where right ends, and the shapes beside each line."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial

from grader.errors import WorkerError
from grader.judge.checks.check_runner import CheckRunner
from grader.judge.checks.lesson_checks import LessonChecks
from grader.judge.checks.loaded_submission import LearnerFunctions, LoadedSubmission
from grader.judge.checks.run_checks import run_checks
from grader.judge.course_answers import CourseAnswers
from grader.judge.diagnosis.mistake_outputs import PROBE_SEED
from grader.judge.errors import LearnerError
from grader.judge.processes.worker_pool import Workers
from grader.judge.tracing.gradient_line import find_gradient_lines
from grader.judge.tracing.mistaken_line import NamedMistakes, find_mistaken_line
from grader.judge.tracing.shapes import TracedCall, trace_shapes
from grader.judge.tracing.watched_lesson import WatchedModule, WatchedReference, find_wrong_line
from grader.judge.transcript.transcript import Exchange
from grader.judge.verdict import feedback
from grader.judge.verdict.messages import make_check_result
from grader.model import CheckResult, Lesson, Submission, WrongLine
from grader.worker.watch.watched_source import hook_expressions


def check_submission(checks: LessonChecks, submission: Submission, loaded: LoadedSubmission) -> list[CheckResult]:
    """Run the checks and settle what each earns."""
    outcomes = run_checks(checks, submission, loaded)
    return feedback.settle_points([make_check_result(outcome, checks.lesson, submission) for outcome in outcomes])


Watched = tuple[str, WatchedModule, WatchedReference, Sequence[Sequence[Exchange]]]


def _find_line(
    watched: Watched,
    named: NamedMistakes | None,
    lesson: Lesson,
    source: str,
    passed: Collection[str],
    by_words: bool,
) -> WrongLine | None:
    """Return the line of a function where right ends: that of its only named mistake before one that is found without.

    Another of the reference's values on a line says more than what a mistake gives there.
    """
    line, is_exchanged = find_wrong_line(*watched, source, passed) or (None, False)
    if named is None or (line and (len(named.ids) > 1 or is_exchanged)):
        return line
    with suppress(LearnerError):  # what was found without it counts
        by_name = find_mistaken_line(*watched, named.make_versions(lesson.kinds), source, passed, by_words)
        if by_name and not (line and line.line == by_name.line):
            return by_name
    return line


class LineSearch:
    """Watches submissions beside the course's references, on the calls that checks make on the seed of probes."""

    def __init__(self, runner: CheckRunner, answers: CourseAnswers, workers: Workers) -> None:
        self.runner, self.answers, self.workers = runner, answers, workers
        self._fixed: dict[str, LessonChecks] = {}
        self._references: dict[str, WatchedReference] = {}

    def trace(self, lesson: Lesson, submission: Submission) -> list[TracedCall]:
        """Watch each function of a submission on a call of its checks; empty where the course has no reference to it.

        Raises:
            LearnerError, WorkerError: The submission cannot be loaded.
        """
        if self.answers.release or not lesson.solution_path.is_file():
            return []
        checks = self.fixed_checks(lesson)
        with closing(LearnerFunctions(checks, submission, self.workers)) as loaded:
            loaded.load()
            if (subject := loaded.load_watched()) is None:
                return []
            module, found = WatchedModule(subject, hook_expressions(submission.source)[1]), []
            for function in lesson.functions:
                asked = [
                    checks.transcripts[each.name].submission
                    for each in checks.checks
                    if each.function_in(lesson) == function.name and not each.is_run
                ]
                try:
                    found.append(trace_shapes(function, module, self._reference(lesson), asked, submission))
                except LearnerError:
                    if not any(found):
                        raise
            return [call for call in found if call is not None]

    def find(
        self,
        lesson: Lesson,
        submission: Submission,
        loaded: LoadedSubmission,
        results: Sequence[CheckResult],
        functions: Mapping[str, NamedMistakes | None],
    ) -> list[WrongLine]:
        """Return for each of these functions the line where right ends, as far as it can be told.

        Args:
            functions: Their names, with the mistakes that were named.
        """
        if not functions or self.answers.release or not lesson.solution_path.is_file():
            return []
        checks = self.fixed_checks(lesson)
        ends = {result.id: (result.function, result.outcome) for result in results}
        told = [check for check in checks.checks if not check.is_run]
        passed = {each.function for each in results} - {each.function for each in results if not each.passed}
        found: list[WrongLine] = []
        located = set[str]()  # mistakes whose line is found, maybe in another function that this one calls
        with suppress(LearnerError, WorkerError, SyntaxError, RecursionError):
            if (subject := loaded.load_watched()) is None:
                return []
            module = WatchedModule(subject, hook_expressions(submission.source)[1])
            reference = self._reference(lesson)
            for function, named in functions.items():
                bad = ((function, "failed"), (function, "raised"))
                failed = [check for check in told if ends[f"{lesson.name}.{check.name}"] in bad]
                asked = [checks.transcript(check).submission for check in failed]
                watched = (function, module, reference, asked)
                by_words = named is not None and not located.issuperset(named.ids)
                line = _find_line(watched, named, lesson, submission.source, passed, by_words)
                if line and line.line not in {each.line for each in found}:  # of what this one calls
                    found.append(line)
                located |= {*named.ids} if named and line else set()
            anew = partial(self._check_anew, checks, submission)  # as above, by who has seen no hidden input
            found += find_gradient_lines(submission.source, results, [*functions], anew)
        loaded.drop_output()
        return found

    def fixed_checks(self, lesson: Lesson) -> LessonChecks:
        """Return the checks of a lesson on the seed of probes."""
        if lesson.name not in self._fixed:
            self._fixed[lesson.name] = LessonChecks(self.runner, self.answers, lesson, PROBE_SEED)
        return self._fixed[lesson.name]

    def _reference(self, lesson: Lesson) -> WatchedReference:
        if lesson.name not in self._references:
            self._references[lesson.name] = WatchedReference(lesson.solution_path, lesson.kinds)
        return self._references[lesson.name]

    def _check_anew(self, checks: LessonChecks, submission: Submission, source: str) -> list[CheckResult]:
        """Return the results of another source in the place of the submission's. Raises LearnerError."""
        changed = replace(submission, source=source)
        with closing(LearnerFunctions(checks, changed, self.workers)) as loaded:
            loaded.load()
            return check_submission(checks, changed, loaded)
