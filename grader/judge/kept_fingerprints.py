"""Keep the fingerprints of known mistakes between commands: computing them is most of what naming a mistake costs.

A file of plain numbers and words for each function of a lesson, in the user's cache folder, which no worker can reach.
Its name holds a digest of all that a fingerprint depends on. A file that is damaged counts as none, and one that lies
can keep a mistake from being named, but not name one: answers whose fingerprints are equal are compared themselves.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.course.course_files import digest
from grader.files import cache_folder, read_bounded, write_cached
from grader.judge.diagnosis.mistake_outputs import MistakeOutputs
from grader.model import Course, Lesson

ENGINE = Path(__file__).resolve().parents[1]  # of it, what is asked and how it is answered
PARTS = ("api", "judge", "worker")
MAX_BYTES = 8 << 20
MAX_FILES = 200
GROWTH = 1.25  # so many times what was kept are there before it is written again


class KeptFingerprints:
    """The fingerprints of a course's known mistakes in the user's cache folder."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._folder = cache_folder("fingerprints")
        self._kept: dict[Path, int] = {}  # how many each file holds

    def read(self, lesson: Lesson, outputs: MistakeOutputs) -> None:
        """Give the outputs of a function's mistakes what was kept of them, if that fits."""
        if path := self._path(lesson, outputs):
            with suppress(OSError, ValueError, RecursionError):
                outputs.restore(json.loads(read_bounded(path, MAX_BYTES)))
            self._kept[path] = outputs.count

    def write(self, lesson: Lesson, outputs: MistakeOutputs) -> None:
        """Keep them, where enough have been added; what cannot be written is not kept."""
        path = self._path(lesson, outputs)
        if path is None or outputs.count < GROWTH * max(1, self._kept.get(path, 0)):
            return
        self._kept[path] = outputs.count
        text = json.dumps(outputs.to_data())
        if len(text) <= MAX_BYTES:
            write_cached(path, text, MAX_FILES)

    @cached_property
    def _digest(self) -> str:
        return _digest(self._course)

    def _path(self, lesson: Lesson, outputs: MistakeOutputs) -> Path | None:
        return self._folder and self._folder / f"{lesson.name}.{outputs.mistake_set.function}.{self._digest}.json"


def _digest(course: Course) -> str:
    """Return a digest of all that fingerprints depend on: course, engine, libraries, machine."""
    found: list[Any] = [digest(course), sys.version, platform.machine(), ENGINE.as_posix()]
    for part in PARTS:
        for path in sorted((ENGINE / part).rglob("*.py")):
            stat = path.stat()
            found.append((path.relative_to(ENGINE).as_posix(), stat.st_size, stat.st_mtime_ns))
    for name in ("numpy", "torch"):
        found.append(getattr(sys.modules.get(name), "__version__", ""))
    if torch := sys.modules.get("torch"):
        found.append(torch.backends.cpu.get_cpu_capability())
    return hashlib.sha256(repr(found).encode()).hexdigest()[:32]
