"""Rows of the store to the model's dataclasses, and back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from grader.model import LessonProgress

if TYPE_CHECKING:
    from grader.model import Attempt, LessonResult, Named

MAX_OUTPUT = 10_000  # characters of learner output kept with one attempt, all its checks together


def to_text(when: datetime) -> str:
    """A time as the store keeps it: UTC, always of one width. A time without a zone is the local one."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds")


def to_time(text: str) -> datetime:
    """The time that `to_text` wrote."""
    return datetime.fromisoformat(text)


def to_json(result: LessonResult) -> str:
    """A result as JSON text, with no more of the learner's output than is worth keeping."""
    import json  # here: a list without attempts does without it

    data = result.to_dict()
    room = MAX_OUTPUT
    for part in (data, *data["checks"]):
        room -= len(part["output"])
        if room < 0:
            part["output"] = _clipped(part["output"], keep=max(0, room + len(part["output"])))
    return json.dumps(data)


def _clipped(text: str, keep: int) -> str:
    return f"{text[:keep]}\n... ({len(text) - keep} more characters were not kept)" if len(text) > keep else text


def to_attempt(row: tuple[Any, ...]) -> Attempt:
    """From (lesson, at, state, score, passed, source_sha256, result)."""
    import json

    from grader.model import Attempt  # here: `learn list` needs no results

    lesson, at, state, score, passed, digest, result = row
    return Attempt(lesson, to_time(at), state, score, bool(passed), digest, dict(json.loads(result)))


def to_progress(row: tuple[Any, ...]) -> LessonProgress:
    """From a row of the summary."""
    import json

    lesson, attempts, best, solved, last_score, last_at, last_result, hints, gave_up = row
    return LessonProgress(
        lesson=lesson,
        attempts=attempts or 0,
        best_score=best,
        last_score=last_score,
        last_when=to_time(last_at) if last_at else None,
        solved_when=to_time(solved) if solved else None,
        hints_used=hints or 0,
        solution_seen=gave_up is not None,
        gave_up=bool(gave_up),
        last_mistakes=to_mistakes(json.loads(last_result)) if last_result else (),
    )


def to_mistakes(result: dict[str, Any]) -> tuple[Named, ...]:
    """The named mistakes of a stored result, whatever version wrote it."""
    if not result.get("mistakes"):
        return ()
    from grader.model import Named

    keys = ("id", "function", "says", "suggests")
    return tuple(Named(*(str(mistake.get(key, "")) for key in keys)) for mistake in result["mistakes"])
