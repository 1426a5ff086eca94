"""Ask a submission and the reference the same, until they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import CallableModule
from grader.judge.values.compare import explain, is_array, same, to_numpy
from grader.judge.verdict.messages import describe_error

MAX_TEXT = 300  # characters of how the answers differ, which may hold words of the submission


@dataclass(frozen=True)
class Seen:
    """What both answered.

    Attributes:
        asked: The question, as it can be typed.
        yours: The submission's answer, an array of the shape of the expected one; None if there is no such thing.
        trouble: How the answers differ; "" if they do not.
    """

    asked: str
    yours: Any
    expected: Any
    trouble: str = ""

    def take(self, part: Callable[[Any], Any]) -> Seen:
        """Return the same of a part of each answer, such as one slice."""
        return replace(self, yours=None if self.yours is None else part(self.yours), expected=part(self.expected))


def first_difference(
    submission: CallableModule, reference: CallableModule, asks: Mapping[str, Callable[[CallableModule], Any]]
) -> Seen:
    """Return the answers to the first question that a submission answers differently, else to the first.

    Args:
        asks: By the call as it can be typed, a function of a submission (or the reference) that makes it and returns an
            array. They are asked in this order.
    """
    first = None
    for asked, ask in asks.items():
        seen = _compare(asked, ask, submission, ask(reference))
        if seen.trouble:
            return seen
        first = first or seen
    if first is None:
        raise ValueError("there is nothing to ask")
    return first


def _compare(asked: str, ask: Callable[[CallableModule], Any], submission: CallableModule, expected: Any) -> Seen:
    try:
        yours = ask(submission)
    except LearnerError as error:
        what = _readable(describe_error(error).partition("\n")[0])
        return Seen(asked, None, expected, f"Yours gives no answer. {what}")
    except (TypeError, ValueError, LookupError, AttributeError, RuntimeError):
        # what the question makes of the answer fits no such answer
        return Seen(asked, None, expected, "Yours gives no such answer.")
    trouble = "" if same(yours, expected) else _readable(explain(yours, expected))
    fits = is_array(yours) and type(yours) is type(expected) and yours.shape == expected.shape
    return Seen(asked, yours if fits and to_numpy(yours).dtype.kind in "biuf" else None, expected, trouble)


def _readable(text: str) -> str:
    """Return the beginning of a text that a submission may have had a say in, without characters that command."""
    return "".join(char for char in text[:MAX_TEXT] if char.isprintable())
