"""Every error that the engine raises on purpose; shown without a traceback."""

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
        where = f"\nWhere: {self.where}" if self.where else ""
        return self.what + where + (f"\nNext:  {self.next_step}" if self.next_step else "")


class UsageError(SelfattendError):
    """The caller asked for something that cannot be."""

    exit_code = 2


class CourseError(UsageError):
    """A course's files are not as they must be."""


class UntrustedCourse(CourseError):
    """A workspace or an assignment's file asks for a course that the user has not chosen yet."""


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


class MachineError(GraderError):
    """This machine lacks room, memory or open files, or a disk fails; whoever's file is read."""


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
