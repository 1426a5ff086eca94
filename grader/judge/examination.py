"""Judge one lesson of one submission: load it, run the hidden checks, name the mistakes, give the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from grader.course.learner_copy import ASK_AGAIN
from grader.errors import CourseError, WorkerError
from grader.judge.checks.check import Check
from grader.judge.checks.check_runner import CheckRunner, collect_and_drive
from grader.judge.checks.lesson_checks import LessonChecks, make_diagnostician
from grader.judge.checks.loaded_submission import (
    NOT_LOOKED_FOR,
    Known,
    LearnerFunctions,
    LoadedSubmission,
    OwnFunctions,
)
from grader.judge.checks.mending import MendingModule
from grader.judge.course_answers import CourseAnswers, RecordedAnswers, load_mistake_sets, open_course_answers
from grader.judge.course_files import load_file
from grader.judge.diagnosis.counterexample import find_counterexample
from grader.judge.diagnosis.mistake_outputs import PROBE_SEED
from grader.judge.diagnosis.name_mistake import Diagnosis, Diagnostician
from grader.judge.errors import LearnerError
from grader.judge.kept_fingerprints import KeptFingerprints
from grader.judge.line_search import LineSearch, check_submission
from grader.judge.mended_answers import diagnose_mended, name_drawn
from grader.judge.pictures.draw import draw_pictures
from grader.judge.processes.launcher import Launcher
from grader.judge.processes.worker_pool import Workers
from grader.judge.tracing.mistaken_line import NamedMistakes
from grader.judge.tracing.shapes import TracedCall
from grader.judge.transcript.prefetch import may_be_asked_ahead
from grader.judge.verdict import feedback
from grader.judge.verdict.facts import Facts
from grader.judge.verdict.lesson_findings import Finding, find_mistakes, find_nothing_loaded, name_failures
from grader.judge.verdict.messages import PASSES_ON_CPU
from grader.judge.verdict.outcome_mistakes import may_be_at_fault, name_randomness
from grader.model import CheckResult, Course, Lesson, LessonResult, Submission
from grader.model.picture import Picture
from grader.worker.preload import configure_torch


def with_judge(
    course: Course, lessons: Iterable[Lesson], launcher: Launcher, device: str, drive: Callable[[Judge], None]
) -> None:
    """Collect the checks of `lessons` once and call `drive(judge)`; the judge can examine any number of submissions."""
    answers = open_course_answers(course)
    files = [answers.checks_file(lesson) for lesson in lessons]
    missing = [path for path in files if not path.is_file()]
    if missing:
        what, advice = "A file of this release is missing.", ASK_AGAIN
        if answers.release is None:
            what, advice = "The course's hidden checks are not here.", "pip install selfattend"
        raise CourseError(what, where=str(missing[0]), next_step=advice)
    collect_and_drive(course.root, files, lambda runner: drive(Judge(course, answers, runner, launcher, device)))


class Judge:
    """Examines submissions of a course; one judge serves a whole batch.

    Attributes:
        next_lessons: Lessons that may come next for a learner; None means any.
        asks_ahead: What the checks ask is sent with the message that loads a submission, as in a batch. It is recorded
            when a lesson is examined first, which does not pay for a single submission.
        kept: Where the fingerprints of known mistakes are kept between commands, if they are.
        on_score: Takes the result where its score is known before its mistakes are.
        looks_for_mistakes: False where a process was ended while it did.
    """

    def __init__(
        self, course: Course, answers: CourseAnswers, runner: CheckRunner, launcher: Launcher, device: str = "cpu"
    ) -> None:
        self.course, self.answers, self.runner = course, answers, runner
        self.launcher, self.device, self.workers = launcher, device, Workers(launcher)
        self.next_lessons: Collection[str] | None = None
        self.asks_ahead = False
        self.kept: KeptFingerprints | None = None
        self.on_score: Callable[[LessonResult], object] = lambda _: None
        self.looks_for_mistakes = True
        self._lesson_checks: dict[str, LessonChecks] = {}
        self._diagnosticians: dict[str, dict[str, Diagnostician]] = {}
        self.lines = LineSearch(runner, answers, self.workers)
        if course.arrays == "torch":
            configure_torch()

    def examine(
        self,
        lesson: Lesson,
        submission: Submission,
        seed: int,
        hints_used: int = 0,
        pictures: list[Picture] | None = None,
    ) -> LessonResult:
        """Return the verdict on one submission of one lesson. Never raises because of what a submission does.

        Args:
            pictures: Takes those of what it answers, drawn after the verdict is found and within the lesson's limits.
        """
        checks = self.lesson_checks(lesson, seed)
        ahead = (self.asks_ahead or self.workers.sharing) and not self.answers.release  # that takes a reference
        loaded = LearnerFunctions(checks, submission, self.workers, prefetch=ahead and may_be_asked_ahead(submission))
        result = self._examine(checks, submission, loaded, hints_used, pictures)
        if not result.passed or self._device_for(lesson) == "cpu":
            return result  # known mistakes are told by the numbers that the CPU gives
        loaded = LearnerFunctions(checks, submission, self.workers, self.device)
        result = self._examine(checks, submission, loaded, hints_used)
        return result if result.passed else replace(result, notes=(PASSES_ON_CPU, *result.notes))

    def _device_for(self, lesson: Lesson) -> str:
        """Return where a lesson's code must run: a capstone trains small models, which the CPU does as fast."""
        return "cpu" if lesson.kind == "capstone" else self.device

    def keep_fingerprints(self) -> None:
        """Keep what is computed of known mistakes for the commands that come after this one."""
        self.kept = KeptFingerprints(self.course)

    def examine_own(
        self,
        lesson: Lesson,
        namespace: Mapping[str, Any],
        seed: int,
        may_draw: bool = True,
        known: Known = Known(),  # noqa: B008  it is frozen
    ) -> LessonResult:
        """Return the verdict on the course's own functions (a known mistake, an alternative), run in this process.

        Args:
            may_draw: Dropout may be on: then checks that fail are run once more without it.
        """
        checks = self.lesson_checks(lesson, seed)
        return self._examine(checks, Submission(lesson.name, "", ""), OwnFunctions(checks, namespace, may_draw, known))

    def check_own(self, lesson: Lesson, namespace: Mapping[str, Any], seed: int, known: Known) -> list[CheckResult]:
        """Return the results of the checks alone on the course's own functions: no mistake is named."""
        checks, submission = self.lesson_checks(lesson, seed), Submission(lesson.name, "", "")
        loaded = OwnFunctions(checks, namespace, True, known)
        loaded.load()
        return check_submission(checks, submission, loaded)

    def checks_of(self, lesson: Lesson) -> list[Check]:
        """Return the checks of a lesson, in their order."""
        return self.runner.checks.get(self.answers.checks_file(lesson), [])

    def lesson_checks(self, lesson: Lesson, seed: int) -> LessonChecks:
        """Return the checks of a lesson on one seed; those of the last seed are kept."""
        if seed == PROBE_SEED:
            return self.lines.fixed_checks(lesson)
        known = self._lesson_checks.get(lesson.name)
        if known is None or known.seed != seed:
            known = self._lesson_checks[lesson.name] = LessonChecks(self.runner, self.answers, lesson, seed)
        return known

    def diagnosticians(self, lesson: Lesson) -> dict[str, Diagnostician]:
        """Return what names the mistakes of each function; it is made once."""
        if lesson.name not in self._diagnosticians:
            checks = self.lines.fixed_checks(lesson)
            sets = load_mistake_sets(lesson)
            made = {each.function: make_diagnostician(checks, each) for each in sets}
            if self.kept:
                for each in made.values():
                    self.kept.read(lesson, each.outputs)
            self._diagnosticians[lesson.name] = made
        return self._diagnosticians[lesson.name]

    def build(self, lesson: Lesson, submission: Submission, seed: int) -> Iterator[str | dict[str, Any]]:
        """Train a model that the course has put together, and yield what its checks' `build` shows of it.

        Tensors by name are the weights that were trained, for the file beside the learner's.

        Raises LearnerError, WorkerError.
        """
        with closing(LearnerFunctions(self.lesson_checks(lesson, seed), submission, self.workers)) as loaded:
            yield from load_file(lesson.checks_path).build(loaded.load(), self.answers.rand(lesson, "build", seed))

    def trace(self, lesson: Lesson, submission: Submission) -> list[TracedCall]:
        """Watch each function of a submission, as `LineSearch.trace` says."""
        return self.lines.trace(lesson, submission)

    def draw_pictures(self, lesson: Lesson, submission: Submission) -> list[Picture]:
        """Draw what a submission answers beside what the reference does; empty where the course has no pictures of it.

        Raises:
            LearnerError, WorkerError: The submission cannot be loaded.
        """
        with closing(LearnerFunctions(self.lines.fixed_checks(lesson), submission, self.workers)) as loaded:
            return list(self._draw(lesson, loaded))

    def _draw(self, lesson: Lesson, loaded: LoadedSubmission) -> Iterator[Picture]:
        if self.answers.release or not lesson.pictures_path.is_file():
            return
        loaded.expect_small_calls()
        yield from draw_pictures(lesson, loaded.live_subject, self.answers.load(lesson).twin(), self.course.arrays)

    def _add_pictures(self, pictures: list[Picture], lesson: Lesson, loaded: LoadedSubmission) -> None:
        """Add those of a submission; whatever comes of that changes no verdict."""
        try:
            for picture in self._draw(lesson, loaded):
                pictures.append(picture)
        except (LearnerError, WorkerError):
            pass  # it cannot be loaded again
        except CourseError as error:
            pictures.append(Picture("", lesson.title, "", {}, {}, (error.what,)))
        loaded.drop_output()

    def _examine(
        self,
        checks: LessonChecks,
        submission: Submission,
        loaded: LoadedSubmission,
        hints_used: int = 0,
        pictures: list[Picture] | None = None,
    ) -> LessonResult:
        started = time.monotonic()
        try:
            finding = self._find(checks, submission, loaded)
            printed = "".join(loaded.printed)
            if pictures is not None and loaded.found:
                self._add_pictures(pictures, checks.lesson, loaded)
        finally:
            loaded.close()
        result = self._make_result(checks, submission, finding, printed, loaded.told)
        return replace(result, duration_s=round(time.monotonic() - started, 3), hints_used=hints_used)

    def _find(self, checks: LessonChecks, submission: Submission, loaded: LoadedSubmission) -> Finding:
        """Load, check, diagnose: each step takes what the one before it returned."""
        lesson = checks.lesson
        try:
            loaded.load()
        except LearnerError as error:
            return find_nothing_loaded(lesson, submission, checks.checks, error)
        results = check_submission(checks, submission, loaded)
        call_seconds = self.course.limits_for(lesson).call_seconds
        facts = Facts(lesson, submission, loaded.found, loaded.public, call_seconds, self.course.lessons)
        failures = name_failures(facts, results)
        drawing = {result.function for result in results if "random" in result.form}
        unnamed = [name for name, mistake in failures.items() if mistake is None]
        evidence: dict[str, Diagnosis | LearnerError] = {name: Diagnosis() for name in unnamed}
        finding = find_mistakes(facts, results, failures, evidence)
        if unnamed:
            told = loaded.told | {NOT_LOOKED_FOR: True}
            self.on_score(self._make_result(checks, submission, finding, "".join(loaded.printed), told))
            if not self.looks_for_mistakes:
                loaded.told = told
                return finding
            self.launcher.fork_ahead()  # in it the line is looked for
        with loaded.costs_no_score():
            for name in unnamed:
                named = {each.id for found in evidence.values() if isinstance(found, Diagnosis) for each in found.named}
                evidence[name] = self._probe(checks, name, loaded, name in drawing, named)
            finding = find_mistakes(facts, results, failures, evidence)
            named_in = {name: self._named(lesson, name, evidence[name]) for name in unnamed}
            finding.lines = self.lines.find(lesson, submission, loaded, results, named_in)
        return finding

    def _probe(
        self, checks: LessonChecks, function: str, loaded: LoadedSubmission, draws: bool, beside: Collection[str]
    ) -> Diagnosis | LearnerError:
        """Probe a function for known mistakes; return why it cannot be loaded again if that is so.

        Args:
            draws: It has dropout on: without it, other mistakes can be told.
            beside: What has been named in other functions.
        """
        try:
            subject = loaded.live_subject()
        except LearnerError as error:
            return error
        lesson = checks.lesson
        if isinstance(self.answers, RecordedAnswers):
            return Diagnosis(self.answers.name_mistake(lesson, function, checks.seed, subject))
        diagnostician = self.diagnosticians(lesson).get(function)
        if diagnostician is None:
            return Diagnosis()
        diagnosis = diagnostician.diagnose(subject, loaded.known.observations, beside)
        mending = MendingModule(subject, self.answers.load(lesson).twin())
        if draws:
            diagnosis = name_drawn(diagnostician, diagnosis, mending, name_randomness(function))
        else:
            diagnosis = diagnose_mended(diagnostician, diagnosis, mending)
        if self.kept:
            self.kept.write(lesson, diagnostician.outputs)
        examples = diagnostician.mistake_set.examples
        diagnosis.counterexamples = find_counterexample(function, examples, subject, self.answers.load(lesson))
        return diagnosis

    def _named(self, lesson: Lesson, function: str, found: Diagnosis | LearnerError) -> NamedMistakes | None:
        """Return the mistakes that were named in a function, if any."""
        diagnostician = self.diagnosticians(lesson).get(function)
        if diagnostician is None or not isinstance(found, Diagnosis) or not found.named:
            return None
        return NamedMistakes(diagnostician.mistake_set, [each.id for each in found.named])

    def _make_result(
        self,
        lesson_checks: LessonChecks,
        submission: Submission,
        finding: Finding,
        output: str,
        told: Mapping[str, bool],
    ) -> LessonResult:
        lesson, release = lesson_checks.lesson, self.answers.release
        checks, named = finding.checks, finding.named
        passed = bool(checks) and all(check.passed for check in checks)
        following = feedback.next_lesson(self.course, lesson.name, self.next_lessons)
        uses = [
            name
            for name in submission.siblings
            if name in self.course.lessons and may_be_at_fault(name, submission, named)
        ]
        runs = {f"{lesson.name}.{check.name}" for check in lesson_checks.checks if check.is_run}
        pieces = ", ".join(f"{name}.py" for name in sorted(submission.siblings) if name in self.course.lessons)
        made_with = [f"It is made with your {pieces}."] if pieces and lesson.kind == "capstone" else []
        return LessonResult(
            lesson=lesson.name,
            state=finding.state,
            score=feedback.score_of(checks),
            passed=passed,
            device=self._device_for(lesson),
            seed=lesson_checks.seed,
            duration_s=0.0,
            checks=tuple(checks),
            mistakes=tuple(named),
            strengths=feedback.strengths_of(checks),
            weaknesses=() if passed else feedback.weaknesses_of(checks, named, finding.stages, finding.lines, runs),
            suggestions=feedback.suggestions_for(lesson, passed, named, checks, following, uses, compare=not release),
            counterexamples=tuple(finding.counterexamples),
            lines=tuple(finding.lines),
            output=output,
            notes=(*submission.notes, *made_with, *((release.note(lesson.name),) if release else ()), *told),
            measured=tuple(text for text, shown in told.items() if not shown),
            file=submission.path,
            public=release is not None,
        )
