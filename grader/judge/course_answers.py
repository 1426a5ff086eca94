"""What submissions are compared with: the reference, known mistakes and random inputs of a course, or recordings."""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path
from typing import Any

from grader.course.learner_copy import Release, public_answers, public_checks, public_names, release_of
from grader.errors import CourseError
from grader.judge.course_files import load_file
from grader.judge.diagnosis.ask_again import ask_again
from grader.judge.errors import LearnerError
from grader.judge.mistakes.locked_names import damaged, read_locked_names
from grader.judge.mistakes.mistake_set import MistakeSet
from grader.judge.processes.remote_module import CallableModule, LocalModule
from grader.judge.transcript.replay import ROUNDING, PlayedRand, Player
from grader.judge.transcript.transcript_file import TranscriptFile
from grader.judge.values.random_inputs import Rand, derive
from grader.model import Course, Lesson, Named


class CourseAnswers:
    """The answers of a course that has its solutions. `name`: a check's name in pytest."""

    release: Release | None = None

    def __init__(self, course: Course) -> None:
        self.course = course
        self._loaded = cache(self._load)

    def checks_file(self, lesson: Lesson) -> Path:
        """Return the file of the checks that can be run."""
        return lesson.checks_path

    def load(self, lesson: Lesson) -> LocalModule:
        """Return the reference; it is loaded once."""
        return self._loaded(lesson.name)

    def reference(self, lesson: Lesson, name: str, seed: int) -> CallableModule:
        """Return the reference for one run of one check."""
        return self.reference_twice(lesson, name, seed)[1]

    def reference_twice(self, lesson: Lesson, name: str, seed: int) -> tuple[CallableModule, CallableModule]:
        """Return the reference for one run of one check, as the submission and as the reference."""
        reference = self.load(lesson)
        reference.release()
        return reference, reference

    def rand(self, lesson: Lesson, name: str, seed: int) -> Rand:
        """Return the random inputs of one run of one check."""
        return Rand(derive(seed, lesson.name, name), self.course.arrays)

    def _load(self, name: str) -> LocalModule:
        lesson = self.course.lessons[name]
        return LocalModule(vars(load_file(lesson.solution_path)), lesson.kinds)


class RecordedAnswers(CourseAnswers):
    """The answers of a release for learners: recordings of the reference, and locked names of known mistakes."""

    def __init__(self, course: Course, release: Release) -> None:
        super().__init__(course)
        self.release = release
        self._recorded = cache(lambda name: TranscriptFile(public_answers(course.root, course.lessons[name])))
        self._names = cache(lambda name: read_locked_names(public_names(course.root, course.lessons[name])))

    def checks_file(self, lesson: Lesson) -> Path:
        return public_checks(self.course.root, lesson)

    def reference_twice(self, lesson: Lesson, name: str, seed: int) -> tuple[CallableModule, CallableModule]:
        transcript = self._recorded(lesson.name).read(name, seed)
        submission = Player(lesson.kinds, transcript.submission, ROUNDING)
        return submission, Player(lesson.kinds, transcript.reference, ROUNDING)

    def rand(self, lesson: Lesson, name: str, seed: int) -> Rand:
        return PlayedRand(seed, self.course.arrays, self._recorded(lesson.name).read(name, seed).draws)

    def name_mistake(self, lesson: Lesson, function: str, seed: int, subject: CallableModule) -> list[Named]:
        """Name the mistake that answers the recorded probes of a function as a subject does, if there is one."""

        def observe(probe: str) -> Any:
            return ask_again(subject, self._recorded(lesson.name).read(probe, seed).submission, lambda value: value)

        try:
            return self._names(lesson.name).find(function, seed, observe)
        except LearnerError:  # a probe ended its process
            return []
        except (ValueError, LookupError, TypeError, AttributeError, zlib.error):
            raise damaged(public_names(self.course.root, lesson)) from None

    def _load(self, name: str) -> LocalModule:
        return LocalModule({}, self.course.lessons[name].kinds)


def open_course_answers(course: Course) -> CourseAnswers:
    """Return the answers that a course has. Raises CourseError for a damaged release."""
    release = release_of(course)
    return CourseAnswers(course) if release is None else RecordedAnswers(course, release)


def load_mistake_sets(lesson: Lesson) -> list[MistakeSet]:
    """Load the known mistakes of a lesson; empty if it has no file of them. Raises CourseError."""
    path = lesson.mistakes_path
    if not path.is_file():
        return []
    sets = getattr(load_file(path), "MISTAKE_SETS", None)
    if not isinstance(sets, list) or not all(isinstance(each, MistakeSet) for each in sets):
        what = f"{path.name} has no list MISTAKE_SETS of the functions' mistakes"
        next_step = "end the file with MISTAKE_SETS = [...], a MistakeSet for each function; then run `grader audit`"
        raise CourseError(what, where=str(path), next_step=next_step)
    return sets
