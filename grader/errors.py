"""Every error that the engine raises on purpose.

SelfattendError            what happened, where, and the next command; shown without a traceback
├── UsageError             the caller asked for something that cannot be (exit 2)
│   ├── CourseError        a course's files are not as they must be
│   ├── UnknownLesson      no lesson of that name
│   ├── SubmissionError    a learner's file is missing or cannot be read
│   └── WorkspaceError     no workspace here, or one that this version cannot use
├── StoreError             progress cannot be read or written (exit 3)
├── GraderError            our own machinery failed; never the learner's fault (exit 3)
│   └── IsolationError     the protection that was asked for is not available here
└── WorkerError            the learner's process did not answer as a worker does
    ├── WorkerTimeout      it took longer than its limit
    ├── WorkerCrashed      it died, or sent what no worker sends
    └── WorkerOutOfMemory  it hit its memory limit
"""

from __future__ import annotations


class SelfattendError(Exception):
    """Base of all errors: `what` happened, `where` (a file, a line), and the `next_step` to take."""

    exit_code = 3

    def __init__(self, what: str, *, where: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.next_step = next_step

    def __str__(self) -> str:
        parts = [self.what]
        if self.where:
            parts.append(f"Where: {self.where}")
        if self.next_step:
            parts.append(f"Next:  {self.next_step}")
        return "\n".join(parts)


class UsageError(SelfattendError):
    """The caller asked for something that cannot be."""

    exit_code = 2


class CourseError(UsageError):
    """A course's files are not as they must be."""


class UnknownLesson(UsageError):
    """No lesson of that name."""


class SubmissionError(UsageError):
    """A learner's file is missing or cannot be read."""


class WorkspaceError(UsageError):
    """No workspace here, or one that this version cannot use."""


class StoreError(SelfattendError):
    """Progress cannot be read or written."""


class GraderError(SelfattendError):
    """Our own machinery failed; never the learner's fault."""


class IsolationError(GraderError):
    """The protection that was asked for is not available here."""


class WorkerError(SelfattendError):
    """The learner's process did not answer as a worker does."""


class WorkerTimeout(WorkerError):
    """It took longer than its limit. `frames`: where it was then, as the worker described it; unchecked."""

    def __init__(self, what: str, frames: object = ()) -> None:
        super().__init__(what)
        self.frames = frames


class WorkerCrashed(WorkerError):
    """It died, or sent what no worker sends."""
