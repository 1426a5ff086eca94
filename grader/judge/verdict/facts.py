"""What is known of a submission once its checks have been run, as plain data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from grader.model import Lesson, Submission


@dataclass(frozen=True)
class Facts:
    """What the findings for a lesson are made from, beside the results of its checks."""

    lesson: Lesson
    submission: Submission
    found: Mapping[str, tuple[str, list[str]]]  # of each name to write: its kind and its parameters
    public: Sequence[str]  # all public names of the file
    call_seconds: float  # that one call may take
    lessons: Collection[str]  # the names of the course's lessons
