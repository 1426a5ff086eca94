"""Run one file of hidden checks by hand: `pytest solutions/core/test_softmax.py --submission FILE`.

The same worker, the same fixtures, pytest's own output. For course authors: no diagnosis and no score.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.course.discover import load
from grader.errors import SelfattendError
from grader.judge.examine import load_file, load_submission
from grader.judge.launch import start_launcher
from grader.judge.rand import Rand, derive
from grader.judge.session import policy_for
from grader.judge.subject import LocalSubject, RemoteSubject, learner_error
from grader.judge.worker import Worker
from grader.model import Course, Lesson
from grader.submission import read_submission


class ByHand:
    """Keeps one worker for each file of checks, and replaces one that has died."""

    def __init__(self, config: pytest.Config) -> None:
        self.path = Path(config.getoption("--submission"))
        self.seed = int(config.getoption("--check-seed"))
        self.device = str(config.getoption("--check-device"))
        self._courses: dict[Path, Course] = {}
        self._launcher: Any = None
        self._workers: dict[str, Worker] = {}

    def bench(self, item: pytest.Item) -> SimpleNamespace:
        """The subjects for one check: `submission`, `reference`, `make_rand`."""
        try:
            course, lesson = self._lesson_of(Path(item.path))
            worker = self._worker(course, lesson)
        except SelfattendError as error:
            pytest.exit(str(error), returncode=error.exit_code)
        return SimpleNamespace(
            submission=RemoteSubject(worker, lesson.kinds, self.device),
            reference=LocalSubject(vars(load_file(lesson.solution_path)), lesson.kinds),
            make_rand=lambda name: Rand(derive(self.seed, lesson.name, name), course.arrays),
        )

    def _lesson_of(self, checks: Path) -> tuple[Course, Lesson]:
        root = next((parent for parent in checks.parents if (parent / "course.toml").is_file()), checks.parent)
        if root not in self._courses:
            self._courses[root] = load(root)
        course = self._courses[root]
        return course, next(lesson for lesson in course.lessons.values() if lesson.checks_path == checks)

    def _worker(self, course: Course, lesson: Lesson) -> Worker:
        known = self._workers.get(lesson.name)
        if known is not None and known.alive:
            return known
        if self._launcher is None:
            self._launcher = start_launcher(course.arrays, policy_for(course, self.device), course.limits)
        worker: Worker = self._launcher.lease()
        submission = read_submission(self.path, lesson, course)
        reply = load_submission(worker, lesson, submission, self.seed, self.device)
        if "error" in reply:
            worker.close()
            pytest.exit(str(learner_error(reply["error"])), returncode=1)
        self._workers[lesson.name] = worker
        return worker

    def pytest_unconfigure(self) -> None:
        """End every worker."""
        for worker in self._workers.values():
            worker.close()
        if self._launcher is not None:
            self._launcher.close()
