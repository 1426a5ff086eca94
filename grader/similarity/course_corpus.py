"""What a course itself says: its stubs, references, known mistakes and alternatives, and the code in its texts.

Nobody need have copied that from a neighbour, so it is no clue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from grader.model import Course, Lesson
from grader.similarity.tokens import read
from grader.similarity.winnowing import hashes

_FENCED = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Known:
    """Hashes of all runs of tokens, sorted; all names; all remarks."""

    hashes: npt.NDArray[np.uint32]
    names: frozenset[str]
    remarks: frozenset[str]


def known_of(course: Course) -> Known:
    """What all lessons of the course say: in one lesson a learner may well use what another one taught."""
    found: set[int] = set()
    names: set[str] = set()
    remarks: set[str] = set()
    for lesson in course.lessons.values():
        for source in _sources(lesson):
            reading = read(source, lesson.kinds)
            found.update(hashes(reading))
            names.update(re.findall(r"[^\W\d]\w*", source))
            remarks |= reading.remarks
    return Known(np.array(sorted(found), dtype=np.uint32), frozenset(names), frozenset(remarks))


def _sources(lesson: Lesson) -> Iterator[str]:
    """Every Python text of a lesson that is there: a course for learners has no solutions."""
    for path in (lesson.exercise_path, lesson.solution_path, lesson.mistakes_path):
        yield _text(path)
    yield from _FENCED.findall(_text(lesson.text_path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
