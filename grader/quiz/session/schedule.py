"""When a question is to be asked again: by FSRS, from the log alone. It never changes a score.

FSRS (Free Spaced Repetition Scheduler, package fsrs) models how long something is remembered. Its cards are rebuilt
from the log of answers each time, so the log is the only truth. A first try is a review: wrong is "again"; right but
guessed is "hard"; right is "good"; nothing is "easy". Each review is a new variant, so what is predicted is when to
ask, not how likely the answer is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta

from grader.model import Answered
from grader.quiz.assessment.evidence import first_tries
from grader.quiz.session.session import is_sure_but_wrong

SURE_BUT_WRONG = timedelta(days=7)  # corrected best right after feedback, and likely to be back a week later


def schedule(answers: Sequence[Answered]) -> dict[str, datetime]:
    """When each family that was ever asked is due next. Imports fsrs."""
    if not answers:
        return {}
    from fsrs import Card, Rating, Scheduler

    ratings = {"again": Rating.Again, "hard": Rating.Hard, "good": Rating.Good}
    scheduler = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    cards: dict[str, Card] = {}
    for answer in _first(answers):
        card = cards.get(answer.family) or Card(card_id=len(cards))  # a card without an id waits to get one
        cards[answer.family], _ = scheduler.review_card(card, ratings[rating(answer)], answer.when.astimezone(UTC))
    latest = first_tries(answers)
    return {
        family: min(card.due, latest[family].when + SURE_BUT_WRONG) if is_sure_but_wrong(latest[family]) else card.due
        for family, card in cards.items()
    }


def due(answers: Sequence[Answered], now: datetime) -> list[str]:
    """The families that are due on the day of `now`, in its time zone: sure-but-wrong first, then the longest due."""
    latest = first_tries(answers)
    waiting = [(not is_sure_but_wrong(latest[family]), when, family) for family, when in schedule(answers).items()
               if _day(when, now) <= now.date()]  # fmt: skip
    return [family for _, _, family in sorted(waiting)]


def next_due(answers: Sequence[Answered], now: datetime) -> tuple[date, int] | None:
    """The next day after that of `now` on which something is due, and how much; None if nothing ever is."""
    days = sorted(day for when in schedule(answers).values() if (day := _day(when, now)) > now.date())
    return (days[0], days.count(days[0])) if days else None


def missed(answers: Sequence[Answered]) -> list[str]:
    """The families whose latest first try was not wholly right: sure-but-wrong first, then the latest."""
    wrong = [answer for answer in first_tries(answers).values() if answer.credit < 1]
    ordered = sorted(reversed(wrong), key=lambda answer: not is_sure_but_wrong(answer))
    return [answer.family for answer in ordered]


def rating(answer: Answered) -> str:
    """What an answer is to FSRS: "again", "hard" or "good"."""
    if answer.credit < 1:
        return "again"
    return "hard" if answer.certainty == "guess" else "good"


def _first(answers: Iterable[Answered]) -> list[Answered]:
    return sorted((answer for answer in answers if answer.first), key=lambda answer: answer.when)


def _day(when: datetime, now: datetime) -> date:
    return when.astimezone(now.tzinfo).date()
