"""One solution of a lesson, reduced to what distinguishes it from others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.similarity.course_corpus import CourseCorpus
from grader.similarity.winnowing import RUN_LENGTH, Prints, unpack_prints

NOT_ATTEMPTED = frozenset({"stub", "missing-function"})
# what the judge can say of any lesson: that something was raised, for example, not which mistake caused it
# fmt: off
GENERIC_MISTAKES = frozenset({
    "exception", "timeout", "out-of-memory", "crashed", "syntax-error", "unreadable-file", "wrong-signature",
    "wrong-format", "forbidden-call", "returned-none", "randomness", "wrong-default", "no-gradient", "wrong-gradient",
    "no-influence", "all-zero", "wrong-factor", "wrong-scale", "wrong-weights", "wrong-order", "wrong-parts",
    "inverted", "sees-too-much", "changes-arguments", "not-repeatable", "shared-state",
})
# fmt: on


@dataclass(frozen=True)
class WrongAnswer:
    """The known mistakes of a solution, and a hash (of this process) of its results in the failed checks."""

    mistakes: tuple[str, ...]
    returned: int


@dataclass(frozen=True, eq=False)
class Solution:
    """The `prints` of a file, a hash of its `text`, and the `names` and `remarks` that the course does not use."""

    id: str
    learner: str
    prints: Prints
    text: int
    names: frozenset[str]
    remarks: frozenset[str]
    wrong: WrongAnswer | None

    @property
    def tokens(self) -> int:
        """How many tokens the prints go over, from the file's first one."""
        return int(self.prints["at"][-1]) + RUN_LENGTH if len(self.prints) else 0


def make_solution(
    id: str, learner: str, result: Mapping[str, Any], prints: Mapping[str, Any], corpus: CourseCorpus
) -> Solution:
    """Make it from a lesson's result (`LessonResult.to_dict()`) and what `fingerprint` returned for its source."""
    names = frozenset(prints["names"]) - corpus.names
    remarks = frozenset(prints["remarks"]) - corpus.remarks
    return Solution(
        id, learner, unpack_prints(prints["prints"]), prints["text"], names, remarks, find_wrong_answer(result)
    )


def find_wrong_answer(result: Mapping[str, Any]) -> WrongAnswer | None:
    """Return how a solution is wrong; None if it is right, was not judged, or was not written."""
    mistakes = result.get("mistakes", ())
    named = {mistake["id"] for mistake in mistakes}
    if result.get("passed") or NOT_ATTEMPTED & named:
        return None
    # the first line has the values; the next ones name the learner's file
    shown: list[tuple[str, ...]] = [
        (check["id"], check["outcome"], check["message"].partition("\n")[0])
        for check in result.get("checks", ())
        if check["outcome"] not in ("passed", "skipped", "grader-error")
    ]
    if not shown:  # a syntax error, for example: no check can run
        shown = [(mistake["id"], mistake["says"]) for mistake in mistakes]
    return WrongAnswer(tuple(sorted(named - GENERIC_MISTAKES)), hash(tuple(shown))) if shown else None
