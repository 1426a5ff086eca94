"""What every verdict of one run has in common. Two runs with equal settings give equal scores for equal hand-ins."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grader.model import SCHEMA, Course, Lesson


@dataclass(frozen=True)
class Settings:
    """The course (where it lies, and what is in its files), the lessons in its order, the seed and the device."""

    root: str
    course_id: str
    course_version: str
    content: str  # SHA-256 of the files that decide about the verdicts
    engine: str
    lessons: tuple[str, ...]
    seed: int
    device: str

    def to_header(self) -> dict[str, Any]:
        """The first line of a journal: all but the place of the course, which does not change a verdict."""
        return {
            "schema": SCHEMA,
            "course": {"id": self.course_id, "version": self.course_version, "content": self.content},
            "engine": self.engine,
            "lessons": list(self.lessons),
            "seed": self.seed,
            "device": self.device,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data to send to another process; `Settings(**data)` is the way back."""
        return asdict(self)


def settings_for(course: Course, lessons: Collection[Lesson], seed: int, device: str, engine: str) -> Settings:
    """The settings of a run over these lessons."""
    chosen = [lesson for lesson in course.lessons.values() if lesson in lessons]
    return Settings(
        str(course.root), course.id, course.version, _digest(course, chosen), engine,
        tuple(lesson.name for lesson in chosen), seed, device,
    )  # fmt: skip


def _digest(course: Course, lessons: Iterable[Lesson]) -> str:
    sha = hashlib.sha256(repr((course.arrays, course.limits)).encode())
    for lesson in lessons:
        for path in (lesson.exercise_path, lesson.solution_path, lesson.checks_path, lesson.mistakes_path):
            sha.update(_content(path))
        sha.update(repr((lesson.forbids, lesson.aliases)).encode())
    return sha.hexdigest()[:16]


def _content(path: Path) -> bytes:
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return b"missing"
