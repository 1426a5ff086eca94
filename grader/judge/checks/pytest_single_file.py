"""Run one file of hidden checks with pytest: `pytest solutions/core/test_softmax.py --submission FILE`.

The same worker, the same fixtures, pytest's own output. For course authors: no diagnosis and no score.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.course.load_course import load
from grader.errors import CourseError, SelfattendError
from grader.judge.course_answers import CourseAnswers, open_course_answers
from grader.judge.errors import LearnerError
from grader.judge.processes.connection import Worker
from grader.judge.processes.isolation_policy import policy_for
from grader.judge.processes.launcher import Launcher, start_launcher
from grader.judge.processes.load_submission import load_submission
from grader.judge.processes.remote_module import RemoteModule, reply_of
from grader.model import Course, Lesson
from grader.submission import read_submission


class SingleFileRun:
    """Plugin that gives the fixtures their values. It keeps one worker per lesson, and replaces one that has died."""

    def __init__(self, config: pytest.Config) -> None:
        self.path = Path(config.getoption("--submission"))
        self.seed: int | None = config.getoption("--check-seed")
        self.device = str(config.getoption("--check-device"))
        self._answers: dict[Path, CourseAnswers] = {}
        self._launcher: Launcher | None = None
        self._workers: dict[str, Worker] = {}

    def subjects(self, item: pytest.Item) -> SimpleNamespace:
        """Return `submission`, `reference` and `make_rand` for one check."""
        try:
            answers, lesson = self._lesson_of(Path(item.path))
            seed = self._seed(answers)
            worker = self._worker(answers.course, lesson)
        except SelfattendError as error:
            pytest.exit(str(error), returncode=error.exit_code)
        return SimpleNamespace(
            submission=RemoteModule(worker, lesson.kinds, self.device),
            reference=answers.reference(lesson, item.name, seed),
            make_rand=lambda name: answers.rand(lesson, name, seed),
        )

    def _seed(self, answers: CourseAnswers) -> int:
        """Return the seed asked for; in a release one of those that were recorded."""
        if answers.release is not None:
            self.seed = answers.release.seed(self.seed)
        return self.seed or 0

    def _lesson_of(self, checks: Path) -> tuple[CourseAnswers, Lesson]:
        root = next((parent for parent in checks.parents if (parent / "course.toml").is_file()), checks.parent)
        if root not in self._answers:
            self._answers[root] = open_course_answers(load(root))
        answers = self._answers[root]
        for lesson in answers.course.lessons.values():
            if answers.checks_file(lesson) == checks:
                return answers, lesson
        raise CourseError("this file is not the checks of a lesson", where=str(checks), next_step="learn list")

    def _worker(self, course: Course, lesson: Lesson) -> Worker:
        known = self._workers.get(lesson.name)
        if known is not None and known.alive:
            return known
        if self._launcher is None:
            self._launcher = start_launcher(course.arrays, policy_for(course, self.device), course.limits)
        worker = self._launcher.lease()
        reply = load_submission(worker, lesson, read_submission(self.path, lesson, course), self.device, lesson.forbids)
        try:
            reply_of(worker, "load", {}, reply)
        except LearnerError as error:
            worker.close()
            pytest.exit(str(error), returncode=1)
        self._workers[lesson.name] = worker
        return worker

    def pytest_unconfigure(self) -> None:
        """End every worker."""
        for worker in self._workers.values():
            worker.close()
        if self._launcher is not None:
            self._launcher.close()
