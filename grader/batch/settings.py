"""Settings of a run. Two runs with equal settings give equal scores for equal hand-ins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.model import SCHEMA, Course, Lesson

LOOKING = "looking for mistakes in "  # before a lesson, in what a grading process says that it is at


@dataclass(frozen=True)
class Settings:
    """The course (its folder and the content of its files), the lessons in its order, the seed and the device.

    `isolation` says how learners' code is isolated, as for `judge_with`; `pictures`, whether they are drawn.
    """

    root: str
    course_id: str
    course_version: str
    content: str  # digest of the files that verdicts depend on
    engine: str
    lessons: tuple[str, ...]
    seed: int
    device: str
    isolation: str = "available"
    pictures: bool = False
    files: str = ""  # digest of all files of the course, which may not change while it is graded

    def to_header(self) -> dict[str, Any]:
        """Return what verdicts depend on: neither the course's folder, nor the isolation, nor pictures."""
        return {
            "schema": SCHEMA,
            "course": {"id": self.course_id, "version": self.course_version, "content": self.content},
            "engine": self.engine,
            "lessons": list(self.lessons),
            "seed": self.seed,
            "device": self.device,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        """Read what `asdict` returned."""
        return cls(**{**data, "lessons": tuple(data["lessons"])})


def key_of(header: Mapping[str, Any]) -> str:
    """Return a short key, equal for equal headers."""
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()[:16]


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return the differences of two headers in an instructor's words: "seed: 7 and 8"."""
    words: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        "course": lambda header: header["course"]["id"],
        "lessons": lambda header: ",".join(header["lessons"]),
        "seed": lambda header: header["seed"],
        "device": lambda header: header["device"],
        "version of this program": lambda header: header["engine"],
        "version of the course": lambda header: header["course"]["version"],
    }
    pairs = {name: (word(one), word(other)) for name, word in words.items()}
    found = [f"{name}: {first} and {second}" for name, (first, second) in pairs.items() if first != second]
    same = all(pairs[name][0] == pairs[name][1] for name in ("course", "version of the course", "lessons"))
    if same and one["course"] != other["course"]:  # other lessons have other files
        found.append("the course's files: they were changed in between")
    return found


def make_settings(
    course: Course, lessons: Collection[Lesson], seed: int, device: str, engine: str, isolation: str = "available"
) -> Settings:
    """Make the settings of a run over these lessons."""
    chosen = [lesson for lesson in course.lessons.values() if lesson in lessons]
    content, names = _digest(course, chosen), tuple(lesson.name for lesson in chosen)
    return Settings(str(course.root), course.id, course.version, content, engine, names, seed, device, isolation)


def _digest(course: Course, lessons: Iterable[Lesson]) -> str:
    sha = hashlib.sha256(repr((course.arrays, course.limits)).encode())
    for lesson in lessons:
        for path in (lesson.exercise_path, lesson.solution_path, lesson.checks_path, lesson.mistakes_path):
            sha.update(_file_digest(path))
        own = (dict(lesson.limits),) if lesson.limits else ()
        sha.update(repr((lesson.forbids, lesson.aliases, *own)).encode())
    return sha.hexdigest()[:16]


def _file_digest(path: Path) -> bytes:
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return b"missing"
