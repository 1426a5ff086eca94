"""Judge one lesson of one submission: run the hidden checks on it, name its mistakes, put the verdict together."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from grader.course.learner_copy import AGAIN
from grader.errors import CourseError, GraderError, WorkerError
from grader.judge.checks.check import Check
from grader.judge.checks.pytest_plugin import Bench, collect_and_drive
from grader.judge.course_answers import materials_of
from grader.judge.errors import CheckFailed, LearnerError
from grader.judge.processes.connection import Worker
from grader.judge.processes.launcher import Launcher
from grader.judge.processes.load_submission import load_submission
from grader.judge.processes.remote_module import LocalSubject, RemoteSubject, Subject, no_answer, reply_of
from grader.judge.processes.reply_schema import reply_to
from grader.judge.processes.worker_pool import Workers
from grader.judge.transcript.prefetch import AskedAhead, Recorder, Story, may_be_asked_ahead, told
from grader.judge.values import redacted_explanation
from grader.judge.values.random_inputs import Rand
from grader.judge.verdict import lesson_findings
from grader.judge.verdict.feedback import score_of, strengths_of, suggestions_for, weaknesses_of
from grader.judge.verdict.lesson_findings import Finding
from grader.model import CheckResult, Course, Lesson, LessonResult, Submission
from grader.source.forbidden_calls import find_ban
from grader.worker.preload import configure_torch

SECOND_PATIENCE = 2.0  # seconds for a call, once one has not come to an end: somebody waits for the verdict


def with_judge(
    course: Course, lessons: Iterable[Lesson], launcher: Launcher, device: str, drive: Callable[[Judge], None]
) -> None:
    """Collect the checks of `lessons` once and call `drive(judge)`; the judge can examine any number of submissions."""
    materials = materials_of(course)
    files = [materials.checks_file(lesson) for lesson in lessons]
    missing = [path for path in files if not path.is_file()]
    if missing and materials.release is not None:
        raise CourseError("A file of this release is missing.", where=str(missing[0]), next_step=AGAIN)
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
        self.materials = materials_of(course)
        self._stories: dict[tuple[str, str, int], Story] = {}
        self.going_on: Collection[str] | None = None  # lessons that may come next; all of them unless somebody says so
        if course.arrays == "torch":
            configure_torch()

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
        following = lesson_findings.following_lesson(self.course, lesson.name, self.going_on)
        uses = [name for name in examination.submission.siblings if name in self.course.lessons]
        release = self.materials.release
        notes = (release.note(lesson.name),) if release else ()
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
            suggestions=suggestions_for(lesson, passed, finding.named, checks, following, uses, compare=not release),
            counterexamples=tuple(finding.counterexamples),
            output="".join(examination.printed),
            notes=(*examination.submission.notes, *finding.notes, *notes),
            hints_used=hints_used,
            file=examination.submission.path,
            public=release is not None,
        )

    @property
    def asks_ahead(self) -> bool:
        """Whether it pays to find out what checks will ask, of a reference that is here and on the same device: not for
        a single submission."""
        return self.workers.sharing and self.device == "cpu" and self.materials.release is None

    def checks_of(self, lesson: Lesson) -> list[Check]:
        """The checks that are run, in their order."""
        return self.bench.checks.get(self.materials.checks_file(lesson), [])

    def story(self, lesson: Lesson, check: Check, seed: int) -> Story:
        """What a check asks of a right submission."""
        key = (lesson.name, check.name, seed)
        if key not in self._stories:
            if self._stories and next(iter(self._stories))[2] != seed:
                self._stories.clear()
            recorder = Recorder(self.materials.of(lesson)[0].twin(), lesson.kinds)
            reference = self.materials.reference(lesson, check.item.name, seed)
            self.bench.run(check, recorder, reference, lambda name: self.materials.rand(lesson, name, seed))
            self._stories[key] = recorder.story()
        return self._stories[key]

    def reference_fails(self, lesson: Lesson, check: Check, seed: int) -> BaseException | None:
        """What the check raises on the reference itself; None where it passes."""
        submission, reference = self.materials.reference_twice(lesson, check.item.name, seed)
        return self.bench.run(check, submission, reference, lambda name: self.materials.rand(lesson, name, seed))


class Examination:
    """One submission of one lesson under examination."""

    def __init__(self, judge: Judge, lesson: Lesson, submission: Submission, seed: int) -> None:
        self.judge, self.lesson, self.submission, self.seed = judge, lesson, submission, seed
        self.kinds = lesson.kinds
        self.worker: Worker | None = None
        self.subject: Subject | None = None
        self.names: dict[str, Any] = {}
        self.results: dict[str, CheckResult] = {}
        self.printed: list[str] = []
        self.deaths: dict[str, int] = {}
        self.timed_out = False
        self.asks_ahead = judge.asks_ahead and may_be_asked_ahead(submission)
        beside = submission.siblings
        self.bans = {name: find_ban(submission.source, name, lesson.forbids, beside) for name in self.kinds}
        self.deadline = time.monotonic() + judge.course.limits.total_seconds

    def run(self) -> Finding:
        """Load, check, diagnose."""
        checks = self.judge.checks_of(self.lesson)
        try:
            self._start()
        except LearnerError as error:
            return lesson_findings.would_not_import(self, checks, error)
        for check in checks:
            self.results[check.name] = self._run_check(check)
        return lesson_findings.diagnosed(self, list(self.results.values()))

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
        worker = self._load_anew()
        if self.asks_ahead:
            self.subject = AskedAhead(worker, self.kinds, self._revive)
        else:
            self.subject = RemoteSubject(worker, self.kinds, self.judge.device)

    def _revive(self) -> Worker:
        """Another worker, for one that died of questions that were asked ahead: they are asked one by one from now on,
        and so it is found out which of them it was."""
        self.asks_ahead = False
        return self._load_anew()

    def _load_anew(self) -> Worker:
        """A worker that has loaded the submission. Raises LearnerError."""
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
        self.names = reply_of(self.worker, "load", {}, reply)
        return self.worker

    def _load(self) -> dict[str, Any]:
        assert self.worker is not None
        self.worker.patience = self.judge.course.limits.call_seconds
        # after the checks come the probes that name a mistake: they have less time, and a certain end too
        self.worker.until = self.deadline + self.judge.course.limits.total_seconds / 4
        if self.timed_out:
            self.worker.patience = min(self.worker.patience, SECOND_PATIENCE)
        return load_submission(
            self.worker, self.lesson, self.submission, self.seed, self.judge.device, shared=self.judge.workers.sharing
        )

    def _run_check(self, check: Check) -> CheckResult:
        function = self.function_of(check)
        outcome, reason = self._why_not(check)
        if outcome:
            return replace(check.result(self.lesson.name, outcome, reason, function=function), gist=reason)
        try:
            failure = self._ask(check, self.live_subject())
        except LearnerError as error:
            return self._ended(check, function, error)
        if failure is None:
            return check.result(self.lesson.name, "passed", "", self._collect_output(), function)
        return self._ended(check, function, failure)

    def _why_not(self, check: Check) -> tuple[str, str]:
        """The outcome of a check that is not run, and why; empty where it is run."""
        function = self.function_of(check)
        needed = [self.results[need] for need in check.needs if need in self.results]
        reason = lesson_findings.cannot_run(self, function, [result for result in needed if not result.passed])
        if reason:
            return "timed-out" if reason == lesson_findings.NO_TIME_LEFT else "skipped", reason
        ban = self.bans.get(function)  # found in the source, before anything ran
        return ("forbidden", lesson_findings.describe_ban(ban, self.submission.path)) if ban else ("", "")

    def _ask(self, check: Check, subject: Subject) -> BaseException | None:
        """Run a check; what it raised. Raises LearnerError where there is no worker."""

        def run() -> BaseException | None:
            reference = self.judge.materials.reference(self.lesson, check.item.name, self.seed)
            return self.judge.bench.run(check, subject, reference, self._rand)

        if isinstance(subject, AskedAhead) and not subject.foresees(check.name):
            coming = [one for one in self.judge.checks_of(self.lesson) if self._comes(one)]
            subject.foresee({one.name: self.judge.story(self.lesson, one, self.seed) for one in coming})
        return told(subject, check.name, run)

    def _comes(self, check: Check) -> bool:
        """Whether a check is among those to be run next: nothing that it needs is still to be found out."""
        if check.name in self.results or self._why_not(check)[0]:
            return False
        names = {one.name for one in self.judge.checks_of(self.lesson)}
        return all(need in self.results for need in check.needs if need in names)

    def _ended(self, check: Check, function: str, error: BaseException) -> CheckResult:
        """The result of a check that raised."""
        if isinstance(error, LearnerError):
            if self.worker is not None and not self.worker.alive:
                self.deaths[function] = self.deaths.get(function, 0) + 1
            self.timed_out |= error.kind == "timed-out"
            outcome, message = error.kind if error.kind != "syntax" else "raised", lesson_findings.describe(error)
            short = redacted_explanation.of_error(error, self.submission, self.lesson.forbids)
        elif isinstance(error, CheckFailed):
            outcome, message = "failed", str(error)
            short = redacted_explanation.of_failure(
                message, error.form, error.hint, self.judge.materials.checks_file(self.lesson)
            )
        elif self._speaks_of_the_submission(check, error):
            outcome, message = "failed", lesson_findings.unusable(self.subject, error)
            short = redacted_explanation.of_unusable(getattr(self.subject, "last_value", None))
        else:
            outcome, message = "grader-error", f"The check itself failed: {type(error).__name__}: {error}"
            short = "The grader itself failed on this check; it does not count."
        asked = lesson_findings.asked(self.subject)
        message = f"{message}\n{asked}" if asked and outcome != "grader-error" else message
        return replace(check.result(self.lesson.name, outcome, message, self._collect_output(), function), gist=short)

    def _speaks_of_the_submission(self, check: Check, error: BaseException) -> bool:
        """Whether the reference itself passes: then what a check stumbled over is what the submission returned."""
        return not isinstance(error, GraderError) and self.judge.reference_fails(self.lesson, check, self.seed) is None

    def _rand(self, name: str) -> Rand:
        return self.judge.materials.rand(self.lesson, name, self.seed)

    def _collect_output(self) -> str:
        text = self.worker.take_output() if self.worker is not None else ""
        self.printed.append(text)
        return text

    def close(self) -> None:
        """Let the worker go."""
        if self.worker is not None:
            self.judge.workers.give_back(self.worker, self.submission)
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
        self.names = reply_to("names", {}, self.subject.ask("names", names=list(self.kinds)))
