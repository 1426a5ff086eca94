"""Code that every learner got from the course: stubs, references, known mistakes, and code in its texts.

What stands there need not have been copied from another learner, so it is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from grader.model import Course, Lesson
from grader.similarity.tokens import read_tokens
from grader.similarity.winnowing import hash_runs

_FENCED = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class CourseCorpus:
    """The sorted hashes of all runs of tokens, all names and all remarks."""

    hashes: npt.NDArray[np.uint32]
    names: frozenset[str]
    remarks: frozenset[str]


def read_corpus(course: Course) -> CourseCorpus:
    """Read all lessons of the course: a learner may use in one lesson what another one taught."""
    found: set[int] = set()
    names: set[str] = set()
    remarks: set[str] = set()
    for lesson in course.lessons.values():
        for source in _sources(lesson):
            tokens = read_tokens(source, lesson.kinds)
            found.update(hash_runs(tokens))
            names.update(re.findall(r"[^\W\d]\w*", source))
            remarks |= tokens.remarks
    return CourseCorpus(np.array(sorted(found), dtype=np.uint32), frozenset(names), frozenset(remarks))


def _sources(lesson: Lesson) -> Iterator[str]:
    """Yield the Python texts of a lesson; a course for learners has no solutions."""
    for path in (lesson.exercise_path, lesson.solution_path, lesson.mistakes_path):
        yield _text(path)
    yield from _FENCED.findall(_text(lesson.text_path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
