"""One hand-in of one lesson, as far as it tells it from others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.similarity.course_corpus import Known
from grader.similarity.winnowing import Prints, unpacked

UNWRITTEN = frozenset({"stub", "missing-function"})  # not wrong in any way of its own
# What the engine says of any lesson: that something was raised, say, not which known mistake is behind it.
UNEXPLAINED = frozenset({
    "exception", "timeout", "out-of-memory", "crashed", "syntax-error", "unreadable-file", "wrong-signature",
    "wrong-format", "forbidden-call", "returned-none",
})  # fmt: skip


@dataclass(frozen=True)
class Wrong:
    """How an answer is wrong: the known mistakes in it, and a hash (of this process) of what it returned or raised in
    each failed check."""

    mistakes: tuple[str, ...]
    returned: int


@dataclass(frozen=True)
class Answer:
    """`prints` are all of the file's, `text` a hash of its words as they stand; `names` and `remarks` are those that
    the course does not use."""

    id: str
    learner: str
    prints: Prints
    text: int
    names: frozenset[str]
    remarks: frozenset[str]
    wrong: Wrong | None


def answer_of(id: str, learner: str, result: Mapping[str, Any], prints: Mapping[str, Any], known: Known) -> Answer:
    """From the result of one lesson (`LessonResult.to_dict()`) and what `fingerprint` said of its source."""
    names = frozenset(prints["names"]) - known.names
    remarks = frozenset(prints["remarks"]) - known.remarks
    return Answer(id, learner, unpacked(prints["prints"]), prints["text"], names, remarks, wrong_of(result))


def wrong_of(result: Mapping[str, Any]) -> Wrong | None:
    """How this answer is wrong; None if it is right, was not judged, or was not written."""
    mistakes = result.get("mistakes", ())
    named = {mistake["id"] for mistake in mistakes}
    if result.get("passed") or UNWRITTEN & named:
        return None
    # the first line has the values; those below it name the learner's file
    shown: list[tuple[str, ...]] = [
        (check["id"], check["outcome"], check["message"].partition("\n")[0])
        for check in result.get("checks", ())
        if check["outcome"] not in ("passed", "skipped", "grader-error")
    ]
    if not shown:  # a typo, say, is told before any check can run
        shown = [(mistake["id"], mistake["says"]) for mistake in mistakes]
    return Wrong(tuple(sorted(named - UNEXPLAINED)), hash(tuple(shown))) if shown else None
