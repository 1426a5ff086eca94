"""How well learners know what they know: certainty against correctness, prediction against result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from grader.model import CERTAINTIES, Answered, QuizSession
from grader.quiz.assessment.evidence import items_of
from grader.quiz.assessment.scoring import SCALE, topic_score

PROBABILITY = {"guess": 0.4, "fairly": 0.7, "sure": 0.95}  # what each word is taken to mean
FEWEST_FOR_VERDICT = 20
FEWEST_IN_SITTING = 6
LAST = 5  # sittings whose predictions are averaged


def certainty_table(answers: Iterable[Answered]) -> list[dict[str, Any]]:
    """For each certainty, how many answers were wholly right: {"certainty", "answers", "right", "meant"}."""
    asked = [answer for answer in answers if answer.first and answer.certainty in PROBABILITY]
    table = []
    for word in reversed(CERTAINTIES):
        mine = [answer for answer in asked if answer.certainty == word]
        right = sum(answer.credit >= 1 for answer in mine)
        table.append({"certainty": word, "answers": len(mine), "right": right, "meant": PROBABILITY[word]})
    return table


def brier(answers: Iterable[Answered]) -> float | None:
    """The mean of (p - correct)^2: 0 for a prophet, 0.25 for who always says one half; None with too few answers."""
    errors = [
        (PROBABILITY[answer.certainty] - (answer.credit >= 1)) ** 2
        for answer in answers
        if answer.first and answer.certainty in PROBABILITY
    ]
    return sum(errors) / len(errors) if len(errors) >= FEWEST_FOR_VERDICT else None


def history(sessions: Iterable[QuizSession], answers: Sequence[Answered]) -> list[dict[str, Any]]:
    """Finished sittings with a prediction, oldest first: {"when", "predicted", "scored", "items", "bias"}.

    `scored` is the guess-corrected share of that sitting's first tries, times 10; sittings of a few items are left out.
    """
    found = []
    for session in sorted(sessions, key=lambda session: session.started):
        mine = [answer for answer in answers if answer.session == session.id and answer.first]
        if session.finished is None or session.predicted is None or len(mine) < FEWEST_IN_SITTING:
            continue
        scored = min(SCALE, max(0.0, SCALE * topic_score(items_of(mine, [])).share))
        found.append({
            "when": session.started.isoformat(), "mode": session.mode, "predicted": session.predicted,
            "after": session.predicted_after, "scored": round(scored, 1), "items": len(mine),
            "bias": round(session.predicted - scored, 1),
        })  # fmt: skip
    return found


def bias(history_: Sequence[dict[str, Any]], last: int = LAST) -> float | None:
    """By how much predictions were too high on average, over the last few sittings; None if there are none."""
    recent = [each["bias"] for each in history_[-last:]]
    return round(sum(recent) / len(recent), 1) if recent else None
