"""What a judge compares with: the reference, the known mistakes and the random inputs of a course; or, in a release for
learners, what was recorded of them."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from grader.course.learner_copy import Release, public_answers, public_checks, release_of
from grader.errors import CourseError
from grader.judge.diagnosis.diagnosis import Diagnostician
from grader.judge.processes.remote_module import LocalSubject, Subject
from grader.judge.transcript.remembered import Remembered
from grader.judge.transcript.transcript import PlayedRand, Player
from grader.judge.transcript.transcript_file import Answers
from grader.judge.values.random_inputs import Rand, derive
from grader.model import Course, Lesson


class Solutions:
    """Those of a course that has its solutions. `name`: a check's, as pytest has it."""

    release: Release | None = None

    def __init__(self, course: Course) -> None:
        self.course = course
        self._loaded = cache(self._load)
        self._stories: dict[tuple[str, str, int], list[Any]] = {}

    def checks_file(self, lesson: Lesson) -> Path:
        """Where the checks that can be run stand."""
        return lesson.checks_path

    def of(self, lesson: Lesson) -> tuple[LocalSubject, Diagnostician]:
        """The reference, and what is known of the mistakes; loaded once for each lesson."""
        return self._loaded(lesson.name)

    def reference(self, lesson: Lesson, name: str, seed: int) -> Subject:
        """The reference for one run of one check; what it answered before on this seed is remembered."""
        reference, _ = self.of(lesson)
        if self._stories and next(iter(self._stories))[2] != seed:
            self._stories.clear()
        story = self._stories.setdefault((lesson.name, name, seed), [])
        return Remembered(reference, lesson.kinds, story)

    def reference_twice(self, lesson: Lesson, name: str, seed: int) -> tuple[Subject, Subject]:
        """The reference in the place of a submission too, for one run of one check."""
        reference, _ = self.of(lesson)
        reference.release()
        return reference, reference

    def rand(self, lesson: Lesson, name: str, seed: int) -> Rand:
        """What one run of one check draws."""
        return Rand(derive(seed, lesson.name, name), self.course.arrays)

    def _load(self, name: str) -> tuple[LocalSubject, Diagnostician]:
        lesson = self.course.lessons[name]
        reference = LocalSubject(vars(load_file(lesson.solution_path)), lesson.kinds)
        families = load_file(lesson.mistakes_path).FAMILIES if lesson.mistakes_path.is_file() else []
        return reference, Diagnostician(families, lesson.kinds, self.course.arrays)


class Recordings(Solutions):
    """Those of a release. It knows no mistakes, and the reference only by the answers that were recorded."""

    def __init__(self, course: Course, release: Release) -> None:
        super().__init__(course)
        self.release = release
        self._answers = cache(lambda name: Answers(public_answers(course.root, course.lessons[name])))

    def checks_file(self, lesson: Lesson) -> Path:
        return public_checks(self.course.root, lesson)

    def reference(self, lesson: Lesson, name: str, seed: int) -> Subject:
        return Player(lesson.kinds, self._answers(lesson.name).story(name, seed).reference)

    def reference_twice(self, lesson: Lesson, name: str, seed: int) -> tuple[Subject, Subject]:
        story = self._answers(lesson.name).story(name, seed)
        return Player(lesson.kinds, story.submission), Player(lesson.kinds, story.reference)

    def rand(self, lesson: Lesson, name: str, seed: int) -> Rand:
        return PlayedRand(seed, self.course.arrays, self._answers(lesson.name).story(name, seed).draws)

    def _load(self, name: str) -> tuple[LocalSubject, Diagnostician]:
        kinds = self.course.lessons[name].kinds
        return LocalSubject({}, kinds), Diagnostician([], kinds, self.course.arrays)


def materials_of(course: Course) -> Solutions:
    """What there is of a course. Raises CourseError for a damaged release."""
    release = release_of(course)
    return Solutions(course) if release is None else Recordings(course, release)


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
