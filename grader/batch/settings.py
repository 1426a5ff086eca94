"""What every verdict of one run has in common. Two runs with equal settings give equal scores for equal hand-ins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grader.model import SCHEMA, Course, Lesson


@dataclass(frozen=True)
class Settings:
    """The course (where it lies, and what is in its files), the lessons in its order, the seed and the device.

    `isolation` is how well learners' code must be locked in: "required", "available" or "process".
    """

    root: str
    course_id: str
    course_version: str
    content: str  # SHA-256 of the files that decide about the verdicts
    engine: str
    lessons: tuple[str, ...]
    seed: int
    device: str
    isolation: str = "available"

    def to_header(self) -> dict[str, Any]:
        """All of it that a verdict depends on: not the place of the course, nor how well code was locked in."""
        return {
            "schema": SCHEMA,
            "course": {"id": self.course_id, "version": self.course_version, "content": self.content},
            "engine": self.engine,
            "lessons": list(self.lessons),
            "seed": self.seed,
            "device": self.device,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data to send to another process; `Settings.from_dict` is the way back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        """The settings that `to_dict` gave."""
        return cls(**{**data, "lessons": tuple(data["lessons"])})


def key_of(header: Mapping[str, Any]) -> str:
    """A short name for the settings of a header: equal for equal ones."""
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()[:16]


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """What two headers do not have in common, as an instructor knows it, with both values: "seed: 7 and 8"."""
    words: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        "course": lambda header: header["course"]["id"],
        "lessons": lambda header: ",".join(header["lessons"]),
        "seed": lambda header: header["seed"],
        "device": lambda header: header["device"],
        "version of this program": lambda header: header["engine"],
        "version of the course": lambda header: header["course"]["version"],
    }
    pairs = {name: (word(one), word(other)) for name, word in words.items()}
    said = [f"{name}: {first} and {second}" for name, (first, second) in pairs.items() if first != second]
    same = all(pairs[name][0] == pairs[name][1] for name in ("course", "version of the course", "lessons"))
    if same and one["course"] != other["course"]:  # of other lessons, other files are looked at
        said.append("the course's files: they were changed in between")
    return said


def settings_for(
    course: Course, lessons: Collection[Lesson], seed: int, device: str, engine: str, isolation: str = "available"
) -> Settings:
    """The settings of a run over these lessons."""
    chosen = [lesson for lesson in course.lessons.values() if lesson in lessons]
    return Settings(
        str(course.root), course.id, course.version, _digest(course, chosen), engine,
        tuple(lesson.name for lesson in chosen), seed, device, isolation,
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
