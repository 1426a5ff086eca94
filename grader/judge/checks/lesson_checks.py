"""The checks of one lesson on one seed, together with what they compare with."""

from __future__ import annotations

from functools import cached_property

from grader.judge.checks.check import Check
from grader.judge.checks.check_runner import CheckRunner
from grader.judge.course_answers import CourseAnswers
from grader.judge.processes.remote_module import Subject
from grader.judge.transcript.prefetch import Recorder, Story
from grader.judge.values.random_inputs import Rand
from grader.model import Lesson


class LessonChecks:
    """Runs the checks of one lesson on one seed, on any number of submissions."""

    def __init__(self, runner: CheckRunner, answers: CourseAnswers, lesson: Lesson, seed: int) -> None:
        self.runner, self.answers, self.lesson, self.seed = runner, answers, lesson, seed
        self._stories: dict[str, Story] = {}

    @cached_property
    def checks(self) -> list[Check]:
        """The checks in their order."""
        return self.runner.checks.get(self.answers.checks_file(self.lesson), [])

    def run(self, check: Check, submission: Subject) -> BaseException | None:
        """Run a check and return what it raised. Raises Diverged."""
        return self._run(check, submission, self.answers.reference(self.lesson, check.item.name, self.seed))

    def run_on_reference(self, check: Check) -> BaseException | None:
        """Run a check on the reference itself and return what it raised."""
        return self._run(check, *self.answers.reference_twice(self.lesson, check.item.name, self.seed))

    def story(self, check: Check) -> Story:
        """What a check asks of a right submission."""
        if check.name not in self._stories:
            reference, _ = self.answers.load(self.lesson)
            recorder = Recorder(reference.twin(), self.lesson.kinds)
            self.run(check, recorder)
            self._stories[check.name] = recorder.story()
        return self._stories[check.name]

    def _run(self, check: Check, submission: Subject, reference: Subject) -> BaseException | None:
        return self.runner.run(check, submission, reference, self._rand)

    def _rand(self, name: str) -> Rand:
        return self.answers.rand(self.lesson, name, self.seed)
