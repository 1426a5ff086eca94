"""What ends a check: the check's own verdict, or an error of the submission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class CheckFailed(AssertionError):
    """A check found a difference; the message is for the learner.

    `form` says the same without any value that came from the submission, `hint` is the check's own addition: what
    the redacted explanation is made of. `of_values`: the form was right, and values differ.
    """

    def __init__(self, message: str, form: str = "", hint: str = "", of_values: bool = False) -> None:
        super().__init__(message)
        self.form, self.hint, self.of_values = form, hint, of_values


class LearnerError(Exception):
    """The submission gave no value. `kind`: raised, timed-out, out-of-memory, crashed, forbidden or syntax."""

    def __init__(self, kind: str, type_name: str, text: str, frames: Sequence[Sequence[Any]] = ()) -> None:
        super().__init__(f"{type_name}: {text}" if type_name else text)
        self.kind = kind
        self.type_name = type_name
        self.text = text
        self.frames = [tuple(frame) for frame in frames]

    def copy(self) -> LearnerError:
        """Return the same error without its traceback, which holds the frames of all that it passed through."""
        return LearnerError(self.kind, self.type_name, self.text, self.frames)
