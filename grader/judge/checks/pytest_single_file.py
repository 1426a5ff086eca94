"""Run one file of hidden checks by hand: `pytest solutions/core/test_softmax.py --submission FILE`.

The same worker, the same fixtures, pytest's own output. For course authors: no diagnosis and no score.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.course.discover import load
from grader.errors import CourseError, SelfattendError
from grader.judge.course_answers import Solutions, materials_of
from grader.judge.processes.connection import Worker
from grader.judge.processes.isolation_policy import policy_for
from grader.judge.processes.launcher import start_launcher
from grader.judge.processes.load_submission import load_submission
from grader.judge.processes.remote_module import RemoteSubject, learner_error
from grader.model import Course, Lesson
from grader.submission import read_submission


class ByHand:
    """Keeps one worker for each file of checks, and replaces one that has died."""

    def __init__(self, config: pytest.Config) -> None:
        self.path = Path(config.getoption("--submission"))
        self.seed: int | None = config.getoption("--check-seed")
        self.device = str(config.getoption("--check-device"))
        self._materials: dict[Path, Solutions] = {}
        self._launcher: Any = None
        self._workers: dict[str, Worker] = {}

    def bench(self, item: pytest.Item) -> SimpleNamespace:
        """The subjects for one check: `submission`, `reference`, `make_rand`."""
        try:
            materials, lesson = self._lesson_of(Path(item.path))
            seed = self._seed(materials)
            worker = self._worker(materials.course, lesson, seed)
        except SelfattendError as error:
            pytest.exit(str(error), returncode=error.exit_code)
        return SimpleNamespace(
            submission=RemoteSubject(worker, lesson.kinds, self.device),
            reference=materials.reference(lesson, item.name, seed),
            make_rand=lambda name: materials.rand(lesson, name, seed),
        )

    def _seed(self, materials: Solutions) -> int:
        """The seed asked for. A release has answers for its own only."""
        if materials.release is not None:
            self.seed = materials.release.seed(self.seed)
        return self.seed or 0

    def _lesson_of(self, checks: Path) -> tuple[Solutions, Lesson]:
        root = next((parent for parent in checks.parents if (parent / "course.toml").is_file()), checks.parent)
        if root not in self._materials:
            self._materials[root] = materials_of(load(root))
        materials = self._materials[root]
        lessons = materials.course.lessons.values()
        found = next((lesson for lesson in lessons if materials.checks_file(lesson) == checks), None)
        if found is None:
            raise CourseError("this file is not the checks of a lesson", where=str(checks), next_step="learn list")
        return materials, found

    def _worker(self, course: Course, lesson: Lesson, seed: int) -> Worker:
        known = self._workers.get(lesson.name)
        if known is not None and known.alive:
            return known
        if self._launcher is None:
            self._launcher = start_launcher(course.arrays, policy_for(course, self.device), course.limits)
        worker: Worker = self._launcher.lease()
        submission = read_submission(self.path, lesson, course)
        reply = load_submission(worker, lesson, submission, seed, self.device)
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
