"""What a learner has done in one lesson."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.model.lesson_result import Named


MIN_SCORE = 1.0  # of an exercise


@dataclass(frozen=True)
class LessonProgress:
    """What the store knows of one lesson. Times are UTC; a lesson of which only hints were read has no scores.

    `attempts` and `hints_used` are those until it was solved, `hints_taken` are all.
    """

    lesson: str
    attempts: int = 0
    best_score: float | None = None
    last_score: float | None = None
    last_when: datetime | None = None
    solved_when: datetime | None = None  # when all checks passed for the first time
    hints_used: int = 0
    hints_taken: int = 0
    solution_seen: bool = False
    gave_up: bool = False
    last_mistakes: tuple[Named, ...] = ()

    @property
    def solved(self) -> bool:
        return self.solved_when is not None

    @property
    def is_untouched(self) -> bool:
        """Return True if nothing was ever written when the lesson was checked: its only mistake is the stub."""
        return self.best_score == MIN_SCORE and {mistake.id for mistake in self.last_mistakes} == {"stub"}
