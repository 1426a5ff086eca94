"""Convert rows of the database to the model's dataclasses, and back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from grader.model import LessonProgress

if TYPE_CHECKING:
    from grader.model import Attempt, LessonResult, Named

MAX_OUTPUT = 10_000  # characters of a learner's output kept with one attempt, over all its checks


def format_time(when: datetime) -> str:
    """Format a time as the store keeps it: UTC, always of one width. A time without a zone is local."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds")


def parse_time(text: str) -> datetime:
    """Parse a time that `format_time` wrote. Raises ValueError."""
    when = datetime.fromisoformat(text)
    if when.tzinfo is None or not 1970 < when.year < 9000:  # in any other zone it is a date, too
        raise ValueError(f"{text} is no time of ours")
    return when


def result_to_json(result: LessonResult) -> str:
    """Convert a result to JSON, with at most MAX_OUTPUT characters of the learner's output."""
    import json  # here, because a summary without attempts does not need it

    data = result.to_dict()
    left = MAX_OUTPUT
    for part in (data, *data["checks"]):
        left -= len(part["output"])
        if left < 0:
            part["output"] = _clip(part["output"], keep=max(0, left + len(part["output"])))
    return json.dumps(data)


def _clip(text: str, keep: int) -> str:
    return f"{text[:keep]}\n... ({len(text) - keep} more characters were not kept)" if len(text) > keep else text


def to_attempt(row: tuple[Any, ...]) -> Attempt:
    """Convert (lesson, at, state, score, passed, source_sha256, result)."""
    from grader.model import Attempt  # here: `learn list` needs no results
    from grader.model.validate import parse_json, validated

    lesson, at, state, score, passed, digest, result = row
    attempt = Attempt(lesson, parse_time(at), state, score, bool(passed), digest, parse_json(result))
    for key in ("checks", "mistakes"):
        if not all(isinstance(each, dict) for each in attempt.result.get(key, ())):
            raise ValueError(f"an entry of its {key} is no object")
    return validated(attempt, Attempt)


def to_progress(row: tuple[Any, ...]) -> LessonProgress:
    """Convert a row of the summary."""
    import json

    lesson, attempts, best, solved, last_score, last_at, last_result, hints, taken, gave_up = row
    if not all(score is None or 0 <= score <= 10 for score in (best, last_score)):
        raise ValueError("this is no score")
    return LessonProgress(
        lesson=lesson,
        attempts=attempts or 0,
        best_score=best,
        last_score=last_score,
        last_when=parse_time(last_at) if last_at else None,
        solved_when=parse_time(solved) if solved else None,
        hints_used=hints or 0,
        hints_taken=taken or 0,
        solution_seen=gave_up is not None,
        gave_up=bool(gave_up),
        last_mistakes=to_mistakes(json.loads(last_result)) if last_result else (),
    )


def to_mistakes(result: dict[str, Any]) -> tuple[Named, ...]:
    """Return the named mistakes of a stored result of any version."""
    if not result.get("mistakes"):
        return ()
    from grader.model import Named

    keys = ("id", "function", "says", "suggests")
    return tuple(Named(*(str(mistake.get(key, "")) for key in keys)) for mistake in result["mistakes"])
