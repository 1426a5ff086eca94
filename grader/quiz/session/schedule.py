"""Schedule when a question is asked again, with FSRS, from the log alone. The schedule never changes a score.

FSRS (Free Spaced Repetition Scheduler, package fsrs) models how long something is remembered. Its cards are rebuilt
from the log of answers each time. A first try is a review: a wrong answer is rated "again", a guessed one "hard", any
other right one "good". Each review asks a new variant, so FSRS predicts when to ask, not how likely the answer is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from grader.model import Answered, QuizSession
from grader.quiz.assessment.evidence import first_tries
from grader.quiz.assessment.fading import make_scheduler
from grader.quiz.bank.bank import Bank
from grader.quiz.session.session import is_sure_but_wrong

SURE_BUT_WRONG_AFTER = timedelta(days=7)  # such errors are corrected by feedback, and often return a week later


def to_review(bank: Bank, answers: Sequence[Answered]) -> list[Answered]:
    """Return the answers to questions that a review may ask again: those that the course still has.

    A static one that was answered right is not asked again: soon it would be known by heart.
    """
    waiting = set()
    for name, latest in first_tries(answers).items():
        family = bank.find_family(name)
        if family and not (family.is_static and latest.credit >= 1):
            waiting.add(name)
    return [answer for answer in answers if answer.family in waiting]


def due_times(answers: Sequence[Answered]) -> dict[str, datetime]:
    """Return when each family that was ever asked is due next. Imports fsrs."""
    if not answers:
        return {}
    from fsrs import Card, Rating

    scheduler = make_scheduler()
    cards: dict[str, Card] = {}
    for answer in sorted((answer for answer in answers if answer.first), key=lambda answer: answer.when):
        card = cards.get(answer.family) or Card(card_id=len(cards))  # without an id a card waits a moment to draw one
        cards[answer.family], _ = scheduler.review_card(
            card, Rating[rating(answer).capitalize()], answer.when.astimezone(UTC)
        )
    latest = first_tries(answers)
    return {
        family: min(card.due, latest[family].when + SURE_BUT_WRONG_AFTER)
        if is_sure_but_wrong(latest[family])
        else card.due
        for family, card in cards.items()
    }


def due(answers: Sequence[Answered], now: datetime) -> list[str]:
    """Return the families due on the day of `now`, in its time zone: sure-but-wrong first, then the longest due."""
    latest = first_tries(answers)
    waiting = [
        (not is_sure_but_wrong(latest[family]), when, family)
        for family, when in due_times(answers).items()
        if _day(when, now) <= now.date()
    ]
    return [family for _, _, family in sorted(waiting)]


def ask_again(answers: Sequence[Answered], now: datetime) -> list[str]:
    """Return the families that a review asks: what is due, then what was missed."""
    return list(dict.fromkeys([*due(answers, now), *missed(answers)]))


def next_due(answers: Sequence[Answered], now: datetime) -> tuple[date, int] | None:
    """Return the next day after that of `now` on which families are due, and how many; None if no family is."""
    days = sorted(day for when in due_times(answers).values() if (day := _day(when, now)) > now.date())
    return (days[0], days.count(days[0])) if days else None


def missed(answers: Sequence[Answered]) -> list[str]:
    """Return the families whose latest first try was not wholly right: sure-but-wrong first, then the latest."""
    wrong = [answer for answer in first_tries(answers).values() if answer.credit < 1]
    ordered = sorted(reversed(wrong), key=lambda answer: not is_sure_but_wrong(answer))
    return [answer.family for answer in ordered]


def missed_answers(bank: Bank, answers: Sequence[Answered], sessions: Sequence[QuizSession]) -> list[Answered]:
    """Return the latest first tries that were not wholly right and may be shown, in the order of `missed`.

    An exam that is not finished shows nothing yet.
    """
    hidden = {each.id for each in sessions if each.mode == "exam" and not each.finished}
    shown = [answer for answer in answers if answer.session not in hidden]
    latest = first_tries(shown)
    return [latest[family] for family in missed(shown) if bank.find_family(family)]


def rating(answer: Answered) -> str:
    """Rate an answer for FSRS: "again", "hard" or "good"."""
    if answer.credit < 1:
        return "again"
    return "hard" if answer.certainty == "guess" else "good"


def _day(when: datetime, now: datetime) -> date:
    return when.astimezone(now.tzinfo).date()
