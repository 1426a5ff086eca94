"""Watch a submission on what its checks ask: the line where right ends, and the shapes beside each line."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from itertools import islice

from grader.errors import WorkerError
from grader.judge.changed_source import ChangedFunctions, ChangedSource
from grader.judge.checks.check_runner import CheckRunner
from grader.judge.checks.lesson_checks import LessonChecks
from grader.judge.checks.loaded_submission import LearnerFunctions, LoadedSubmission
from grader.judge.checks.run_checks import run_checks
from grader.judge.course_answers import CourseAnswers
from grader.judge.diagnosis.mistake_outputs import PROBE_SEED
from grader.judge.errors import LearnerError
from grader.judge.processes.worker_pool import Workers
from grader.judge.tracing.gradient_line import find_gradient_lines
from grader.judge.tracing.mistaken_line import MistakenVersion, NamedMistakes, find_mistaken_line, is_alike
from grader.judge.tracing.shapes import TracedCall, trace_shapes
from grader.judge.tracing.watched_lesson import WatchedModule, WatchedReference, find_wrong_line
from grader.judge.tracing.wrong_line import MAX_SECONDS
from grader.judge.transcript.transcript import Exchange
from grader.judge.verdict import feedback
from grader.judge.verdict.messages import make_check_result
from grader.model import CheckResult, Lesson, Submission, WrongLine
from grader.source.parse import nodes_in, parse
from grader.worker.watch.watched_source import hook_expressions


def check_submission(checks: LessonChecks, submission: Submission, loaded: LoadedSubmission) -> list[CheckResult]:
    """Run the checks and settle what each earns."""
    outcomes = run_checks(checks, submission, loaded)
    return feedback.settle_points([make_check_result(outcome, checks.lesson, submission) for outcome in outcomes])


MAX_SEARCH_SECONDS = 5.0  # of trying other sources for all functions of a lesson: far more than it takes

Watched = tuple[str, WatchedModule, WatchedReference, Sequence[Sequence[Exchange]]]


def _find_line(
    watched: Watched,
    named: NamedMistakes | None,
    kinds: Mapping[str, str],
    changed: ChangedSource,
    passed: Collection[str],
    is_new: bool,
) -> WrongLine | None:
    """Return the line of a function where right ends, or that on which its only named mistake can be undone.

    Args:
        changed: Tries other sources; it knows the submission's.
        is_new: The line of what is named has not been found in another function.
    """
    make_versions = cache(lambda: [*named.make_versions(kinds)] if named else [])  # where they are asked for
    line, is_sure = _find_by_values(watched, named, make_versions, changed.submission.source, passed, is_new)
    if named and is_new and changed.asked and len(named.ids) == 1:
        groups = islice(_by_answers(watched, make_versions(), changed.ends), 1 if is_sure else None)
        undone = next(filter(None, map(changed.find_undone, map(named.write_beside_right, groups))), None)
        if undone and not (line and line.line == undone.line):  # it says less than what is found otherwise
            return undone
    return line


def _find_by_values(
    watched: Watched,
    named: NamedMistakes | None,
    make_versions: Callable[[], Sequence[MistakenVersion]],
    source: str,
    passed: Collection[str],
    by_words: bool,
) -> tuple[WrongLine | None, bool]:
    """Return the line of a function where right ends: that of its only named mistake before one that is found without.

    Another of the reference's values on a line says more than what a mistake gives there. Beside it stands whether that
    is the mistake's line for certain.
    """
    line, is_exchanged = find_wrong_line(*watched, source, passed) or (None, False)
    if named is None or (line and (len(named.ids) > 1 or is_exchanged)):
        return line, False
    with suppress(LearnerError):  # what was found without it counts
        if by_name := find_mistaken_line(*watched, make_versions(), source, passed, by_words):
            is_sure = not _uses_constant(source, by_name.line)
            return (line if line and line.line == by_name.line else by_name), is_sure
    return line, False


def _uses_constant(source: str, line: int) -> bool:
    """Return True if a line uses what the file gives a value above its functions: that may be what is wrong."""
    assigned = (node for node in parse(source).body if isinstance(node, ast.Assign | ast.AnnAssign))
    stored = {node.id for each in assigned for node in nodes_in(each) if isinstance(node, ast.Name)}
    return not stored.isdisjoint(re.findall(r"\w+", source.split("\n")[line - 1]))


def _by_answers(watched: Watched, versions: Sequence[MistakenVersion], ends: float) -> Iterator[list[MistakenVersion]]:
    """Yield the versions that answer as the submission does, and then the others."""
    until, alike = min(time.monotonic() + MAX_SECONDS, ends), list[MistakenVersion]()
    with suppress(LearnerError):  # of one that it cannot answer nothing is known
        alike += (each for each in versions if time.monotonic() < until and is_alike(*watched[1:], each))
    yield alike
    yield [each for each in versions if each not in alike]


def _check_anew(
    checks: LessonChecks, submission: Submission, workers: Workers, ends: float, source: str
) -> list[CheckResult]:
    """Return the results of another source in the place of the submission's. Raises LearnerError."""
    with closing(ChangedFunctions(checks, submission, source, workers, ends)) as loaded:
        loaded.load()
        return check_submission(checks, loaded.submission, loaded)


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
        loads = closing(LearnerFunctions(checks, submission, self.workers))
        with loads as loaded, self._reference(lesson) as reference:
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
                    found.append(trace_shapes(function, module, reference, asked, submission))
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
        errors = (LearnerError, WorkerError, SyntaxError, RecursionError)
        with suppress(*errors), self._reference(lesson) as reference, self.workers.apart() as workers:
            if (subject := loaded.load_watched()) is None:
                return []
            module = WatchedModule(subject, hook_expressions(submission.source)[1])
            until = time.monotonic() + MAX_SEARCH_SECONDS
            anew = partial(_check_anew, checks, submission, workers, until)  # by who has seen no hidden input, as below
            cut_off = [*find_gradient_lines(submission.source, results, [*functions], anew)]
            right = [check for check in told if ends[f"{lesson.name}.{check.name}"][1] == "passed"]
            for function, named in functions.items():
                bad = ((function, "failed"), (function, "raised"))
                failed = [check for check in told if ends[f"{lesson.name}.{check.name}"] in bad]
                watched = (function, module, reference, [checks.transcript(check).submission for check in failed])
                is_told = any(each.function == function for each in cut_off)
                asked = [*failed, *right] if failed and not is_told else []
                changed = ChangedSource(checks, submission, workers, function, asked, until)
                is_new = named is not None and not located.issuperset(named.ids)
                line = _find_line(watched, named, lesson.kinds, changed, passed, is_new)
                if asked and not line:
                    line = changed.find_slip()
                if line and line.line not in {each.line for each in found}:  # of what this one calls
                    found.append(line)
                located |= {*named.ids} if named and line else set()
            found += cut_off
        loaded.drop_output()
        return found

    def fixed_checks(self, lesson: Lesson) -> LessonChecks:
        """Return the checks of a lesson on the seed of probes."""
        if lesson.name not in self._fixed:
            self._fixed[lesson.name] = LessonChecks(self.runner, self.answers, lesson, PROBE_SEED)
        return self._fixed[lesson.name]

    @contextmanager
    def _reference(self, lesson: Lesson) -> Iterator[WatchedReference]:
        """Lend the reference; what checks build of it is forgotten afterwards."""
        if lesson.name not in self._references:
            self._references[lesson.name] = WatchedReference(lesson.solution_path, lesson.kinds)
        reference = self._references[lesson.name]
        try:
            yield reference
        finally:
            reference.release()
