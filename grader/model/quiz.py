"""Answers to quiz questions as the store keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

CERTAINTIES = ("guess", "fairly", "sure")
MODES = ("quiz", "exam", "redo", "review", "audit")  # what an answer was given in
CLAIMS = ("yes", "partly", "no")
DONT_KNOW = "?"  # typed in place of an answer


@dataclass(frozen=True)
class Answered:
    """One answer of a learner as the store keeps it: the only evidence there is."""

    family: str
    topic: str
    kind: str
    attempt: int  # which variant of the family, from 1
    session: str
    mode: str
    typed: str
    credit: float  # 0 to 1
    guess: float  # what guessing earns on average
    certainty: str  # one of CERTAINTIES, or "" where it was not asked for
    tags: tuple[str, ...]  # misconceptions
    first: bool  # not a second try in the same session, after feedback
    when: datetime  # UTC
    seconds: float = 0.0

    @property
    def is_unknown(self) -> bool:
        """Return True if the learner said that they do not know."""
        return self.typed == DONT_KNOW


@dataclass(frozen=True)
class Claimed:
    """A key point, or a trap, of an open question as the learner marked it in their answer."""

    topic: str
    point: str
    mark: str  # one of CLAIMS; for a trap "yes" means that the answer fell into it
    trap: bool
    session: str
    when: datetime


@dataclass(frozen=True)
class QuizSession:
    """One session; `predicted` is the score (0 to 10) that the learner expected, before and after answering."""

    id: str
    mode: str
    topics: tuple[str, ...]
    started: datetime
    finished: datetime | None = None
    predicted: float | None = None
    predicted_after: float | None = None
