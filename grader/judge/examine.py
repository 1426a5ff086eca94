"""Judge one lesson of one submission: run the hidden checks on it, name its mistakes, put the verdict together."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from grader.errors import CourseError, WorkerError
from grader.judge import verdicts
from grader.judge.bans import find_ban
from grader.judge.diagnose import Diagnostician
from grader.judge.feedback import score_of, strengths_of, suggestions_for, weaknesses_of
from grader.judge.kit import CheckFailed
from grader.judge.launch import Launcher
from grader.judge.plugin import Bench, Check, collect_and_drive
from grader.judge.rand import Rand, derive
from grader.judge.remembered import Remembered
from grader.judge.subject import LearnerError, LocalSubject, RemoteSubject, Subject, learner_error, no_answer
from grader.judge.verdicts import Finding
from grader.judge.worker import Worker
from grader.judge.workers import Workers
from grader.model import CheckResult, Course, Lesson, LessonResult, Submission
from grader.worker.warm import settle_torch

SECOND_PATIENCE = 2.0  # seconds for a call, once one has not come to an end: somebody waits for the verdict


def with_judge(
    course: Course, lessons: Iterable[Lesson], launcher: Launcher, device: str, drive: Callable[[Judge], None]
) -> None:
    """Collect the checks of `lessons` once and call `drive(judge)`; the judge can examine any number of submissions."""
    files = [lesson.checks_path for lesson in lessons]
    missing = [path for path in files if not path.is_file()]
    if missing:
        raise CourseError(
            "The course's hidden checks are not here.", where=str(missing[0]), next_step="pip install selfattend"
        )
    collect_and_drive(course.root, files, lambda bench: drive(Judge(course, bench, launcher, device)))


class Judge:
    """Examines submissions. One judge serves a whole batch; each examination takes a fresh worker."""

    def __init__(self, course: Course, bench: Bench, launcher: Launcher, device: str = "cpu") -> None:
        self.course, self.bench, self.launcher, self.device = course, bench, launcher, device
        self.workers = Workers(launcher)
        if course.arrays == "torch":
            settle_torch()
        self._materials = cache(self._load_materials)
        self._stories: dict[tuple[str, str, int], list[Any]] = {}

    def examine(self, lesson: Lesson, submission: Submission, seed: int, hints_used: int = 0) -> LessonResult:
        """The verdict on one submission of one lesson. Never raises for anything a submission does."""
        return self._examine(Examination(self, lesson, submission, seed), hints_used)

    def examine_own(self, lesson: Lesson, namespace: Mapping[str, Any], seed: int) -> LessonResult:
        """The verdict on functions of our own (a known mistake, an alternative), judged in this process."""
        return self._examine(OwnExamination(self, lesson, namespace, seed), 0)

    def _examine(self, examination: Examination, hints_used: int) -> LessonResult:
        started = time.monotonic()
        try:
            finding = examination.run()
        finally:
            examination.close()
        return self._result(examination, finding, round(time.monotonic() - started, 3), hints_used)

    def _result(self, examination: Examination, finding: Finding, duration: float, hints_used: int) -> LessonResult:
        checks, lesson = finding.checks, examination.lesson
        passed = bool(checks) and all(check.passed for check in checks)
        following = verdicts.following_lesson(self.course, lesson.name)
        uses = [name for name in examination.submission.siblings if name in self.course.lessons]
        return LessonResult(
            lesson=lesson.name,
            state=finding.state,
            score=score_of(checks),
            passed=passed,
            device=self.device,
            seed=examination.seed,
            duration_s=duration,
            checks=tuple(checks),
            mistakes=tuple(finding.named),
            strengths=strengths_of(checks),
            weaknesses=() if passed else weaknesses_of(checks, finding.named, finding.stages),
            suggestions=suggestions_for(lesson, passed, finding.named, checks, following, uses),
            counterexamples=tuple(finding.counterexamples),
            output="".join(examination.printed),
            notes=(*examination.submission.notes, *finding.notes),
            hints_used=hints_used,
            file=examination.submission.path,
        )

    def materials(self, lesson: Lesson) -> tuple[LocalSubject, Diagnostician]:
        """The reference and what is known of the mistakes, loaded once for each lesson."""
        return self._materials(lesson.name)

    def reference(self, lesson: Lesson, check: Check, seed: int) -> Remembered:
        """The reference for one run of one check; what it answered before on this seed is remembered."""
        reference, _ = self.materials(lesson)
        if self._stories and next(iter(self._stories))[2] != seed:
            self._stories.clear()
        story = self._stories.setdefault((lesson.name, check.name, seed), [])
        return Remembered(reference, lesson.kinds, story)

    def _load_materials(self, name: str) -> tuple[LocalSubject, Diagnostician]:
        lesson = self.course.lessons[name]
        reference = LocalSubject(vars(load_file(lesson.solution_path)), lesson.kinds)
        families = load_file(lesson.mistakes_path).FAMILIES if lesson.mistakes_path.is_file() else []
        return reference, Diagnostician(families, lesson.kinds, self.course.arrays)


def load_file(path: Path) -> ModuleType:
    """One of the course's own files as a module. Course files are trusted; a submission never comes this way."""
    name = f"selfattend_course_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CourseError(f"{path.name} cannot be used: {type(error).__name__}: {error}", where=str(path)) from error
    return module


def load_submission(
    worker: Worker, lesson: Lesson, submission: Submission, seed: int, device: str, *, shared: bool = False
) -> dict[str, Any]:
    """Have a worker load a submission; its reply. `shared`: other lessons may have been loaded there before. Raises
    WorkerError."""
    return worker.request(
        "load", name=lesson.name, path=submission.path, source=submission.source, seed=seed % 2**31,
        siblings={name: list(pair) for name, pair in submission.siblings.items()}, shared=shared,
        forbids=list(lesson.forbids), names=list(lesson.kinds), device=device,
    )  # fmt: skip


class Examination:
    """One submission of one lesson under examination."""

    def __init__(self, judge: Judge, lesson: Lesson, submission: Submission, seed: int) -> None:
        self.judge, self.lesson, self.submission, self.seed = judge, lesson, submission, seed
        self.kinds = lesson.kinds
        self.worker: Worker | None = None
        self.subject: Subject | None = None
        self.names: dict[str, Any] = {}
        self.printed: list[str] = []
        self.deaths: dict[str, int] = {}
        self.timed_out = False
        self.bans = {name: find_ban(submission.source, name, lesson.forbids) for name in self.kinds}
        self.deadline = time.monotonic() + judge.course.limits.total_seconds

    def run(self) -> Finding:
        """Load, check, diagnose."""
        checks = self.judge.bench.checks.get(self.lesson.checks_path, [])
        try:
            self._start()
        except LearnerError as error:
            return verdicts.would_not_import(self, checks, error)
        results: dict[str, CheckResult] = {}
        for check in checks:
            results[check.name] = self._run_check(check, results)
        return verdicts.diagnosed(self, list(results.values()))

    def function_of(self, check: Check) -> str:
        """The function that a check is about; a lesson with one function need not say."""
        return check.function or self.lesson.functions[0].name

    def live_subject(self) -> Subject:
        """The submission in a living worker; a new one if the last died."""
        if self.worker is None or not self.worker.alive:
            self._start()
        assert self.subject is not None
        return self.subject

    def _start(self) -> None:
        self.close()
        self.worker = self.judge.workers.take()
        try:
            reply = self._load()
            if reply.get("unclean") is True:  # an earlier lesson of this learner left traces in the process
                self.worker.close()
                self.worker = self.judge.launcher.lease()
                reply = self._load()
        except WorkerError as error:
            raise no_answer(error) from None
        finally:
            self._collect_output()
        if "error" in reply:
            raise learner_error(reply["error"])
        self.names = verdicts.checked_names(reply)
        self.subject = RemoteSubject(self.worker, self.kinds, self.judge.device)

    def _load(self) -> dict[str, Any]:
        assert self.worker is not None
        self.worker.patience = self.judge.course.limits.call_seconds
        if self.timed_out:
            self.worker.patience = min(self.worker.patience, SECOND_PATIENCE)
        return load_submission(
            self.worker, self.lesson, self.submission, self.seed, self.judge.device, shared=self.judge.workers.sharing
        )

    def _run_check(self, check: Check, results: dict[str, CheckResult]) -> CheckResult:
        function = self.function_of(check)
        unmet = [results[need] for need in check.needs if need in results and not results[need].passed]
        reason = verdicts.cannot_run(self, function, unmet)
        if reason:
            outcome = "timed-out" if reason == verdicts.NO_TIME_LEFT else "skipped"
            return check.result(self.lesson.name, outcome, reason, function=function)
        ban = self.bans.get(function)
        if ban is not None:
            message = verdicts.describe_ban(ban, self.submission.path)
            return check.result(self.lesson.name, "forbidden", message, function=function)
        try:
            subject = self.live_subject()
        except LearnerError as error:
            return self._ended(check, function, error)
        reference = self.judge.reference(self.lesson, check, self.seed)
        failure = self.judge.bench.run(check, subject, reference, self._rand)
        if failure is None:
            return check.result(self.lesson.name, "passed", "", self._collect_output(), function)
        return self._ended(check, function, failure)

    def _ended(self, check: Check, function: str, error: BaseException) -> CheckResult:
        """The result of a check that raised."""
        if isinstance(error, LearnerError):
            if self.worker is not None and not self.worker.alive:
                self.deaths[function] = self.deaths.get(function, 0) + 1
            self.timed_out |= error.kind == "timed-out"
            outcome, message = error.kind if error.kind != "syntax" else "raised", verdicts.describe(error)
        elif isinstance(error, CheckFailed):
            outcome, message = "failed", str(error)
        elif self._reference_passes(check):
            outcome, message = "failed", verdicts.unusable(self.subject, error)
        else:
            outcome, message = "grader-error", f"The check itself failed: {type(error).__name__}: {error}"
        asked = verdicts.asked(self.subject)
        message = f"{message}\n{asked}" if asked and outcome != "grader-error" else message
        return check.result(self.lesson.name, outcome, message, self._collect_output(), function)

    def _reference_passes(self, check: Check) -> bool:
        """Whether the reference itself passes: then what a check stumbled over is what the submission returned."""
        reference, _ = self.judge.materials(self.lesson)
        passes = self.judge.bench.run(check, reference, reference, self._rand) is None
        reference.release()
        return passes

    def _rand(self, name: str) -> Rand:
        return Rand(derive(self.seed, self.lesson.name, name), self.judge.course.arrays)

    def _collect_output(self) -> str:
        text = self.worker.take_output() if self.worker is not None else ""
        self.printed.append(text)
        return text

    def close(self) -> None:
        """Let the worker go."""
        if self.worker is not None:
            self.judge.workers.give_back(self.worker)
            self.worker = None


class OwnExamination(Examination):
    """The same examination of functions of our own: no worker, no limits."""

    def __init__(self, judge: Judge, lesson: Lesson, namespace: Mapping[str, Any], seed: int) -> None:
        super().__init__(judge, lesson, Submission(lesson.name, "", ""), seed)
        self.namespace = namespace

    def live_subject(self) -> Subject:
        """Always there."""
        if self.subject is None:
            self._start()
        assert self.subject is not None
        return self.subject

    def _start(self) -> None:
        self.subject = LocalSubject(self.namespace, self.kinds)
        self.names = verdicts.checked_names(self.subject.ask("names", names=list(self.kinds)))
