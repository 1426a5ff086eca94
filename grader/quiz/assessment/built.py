"""Count what a learner built: the exercises. They are no part of any other score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.model import LessonProgress
from grader.model.progress import MIN_SCORE

MAX_SCORE = 10.0


def built(progress: Mapping[str, LessonProgress], public: bool = False) -> dict[str, Any]:
    """Count the exercises that were solved without their solution, with what it took.

    Returns:
        {"score": 0 to 10, "public", "solved", "of", "tries", "hints", "exercises": {"lesson", "score", "solved",
        "seen", "tries", "hints"} for each that was begun}. An exercise's score is the best one, from 1 to 10 as
        `learn check` told it. What is `public` was solved as far as public checks can tell.
    """
    begun = [known for known in progress.values() if known.attempts and not known.is_untouched]
    solved = sum(_is_built(known) for known in begun)
    return {
        "score": round(MAX_SCORE * solved / len(progress), 1) if progress else None,
        "public": public,
        "solved": solved,
        "of": len(progress),
        "tries": sum(known.attempts for known in begun),
        "hints": sum(known.hints_used for known in progress.values()),
        "exercises": [_exercise(known) for known in begun],
    }


def _is_built(known: LessonProgress) -> bool:
    return known.solved and not known.gave_up


def _exercise(known: LessonProgress) -> dict[str, Any]:
    return {
        "lesson": known.lesson,
        "score": MIN_SCORE if known.best_score is None else known.best_score,
        "solved": _is_built(known),
        "seen": known.gave_up,
        "tries": known.attempts,
        "hints": known.hints_used,
    }
