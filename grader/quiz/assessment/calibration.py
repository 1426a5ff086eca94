"""Compare certainty with correctness, and predictions with results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from grader.model import CERTAINTIES, Answered, QuizSession
from grader.quiz.assessment.evidence import make_item
from grader.quiz.assessment.scoring import score_alone
from grader.quiz.model import Unreadable

PROBABILITY = {"guess": 0.2, "fairly": 0.7, "sure": 0.95}  # of being wholly right: what each word is taken to mean
GUESS = {"choice": 0.4, "bug": 0.3, "multi": 0.1, "order": 0.1, "match": 0.1}  # of a guess, where the kind matters
MIN_ANSWERS_FOR_BRIER = 20
MIN_ANSWERS_IN_SESSION = 5
MIN_PREDICTION, MAX_PREDICTION = 0.0, 10.0
SCALE_SAYS = "0 is what guessing earns, 10 is everything known, 5 is half of it."
LAST_SESSIONS = 5  # whose predictions are averaged
PAST_PREDICTIONS = 3  # that are averaged before the next one
MIN_BIAS = 0.25  # below which predictions were right


def meaning(certainty: str, kind: str) -> float:
    """Return how likely an answer of this kind is right if it was given with this certainty."""
    return GUESS.get(kind, PROBABILITY[certainty]) if certainty == "guess" else PROBABILITY[certainty]


def parse_prediction(typed: str) -> float:
    """Parse a score from 0 to 10 as people type it: `7`, `7.5`, `7,5`, `7/10`. Raises Unreadable."""
    text = typed.strip().removesuffix("/10").strip().replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not MIN_PREDICTION <= value <= MAX_PREDICTION:
        raise Unreadable("type a number from 0 to 10")
    return round(value, 1)


def certainty_table(answers: Iterable[Answered]) -> list[dict[str, Any]]:
    """Count the wholly right answers for each certainty: {"certainty", "answers", "right", "meant", "errors"}.

    `meant` is the share of right answers that the word stands for, `errors` the sum of (p - correct)^2.
    """
    asked = _with_certainty(answers)
    table = []
    for word in reversed(CERTAINTIES):
        mine = [answer for answer in asked if answer.certainty == word]
        meant = [meaning(word, answer.kind) for answer in mine]
        counts = {"answers": len(mine), "right": sum(answer.credit >= 1 for answer in mine)}
        average = sum(meant) / len(meant) if meant else PROBABILITY[word]
        errors = round(sum(map(_error, mine)), 4)
        table.append({"certainty": word, **counts, "meant": round(average, 4), "errors": errors})
    return table


def brier(answers: Iterable[Answered]) -> float | None:
    """Return the mean of (p - correct)^2: 0 is perfect, 0.25 that of always one half; None with too few answers."""
    errors = [_error(answer) for answer in _with_certainty(answers)]
    return sum(errors) / len(errors) if len(errors) >= MIN_ANSWERS_FOR_BRIER else None


def history(sessions: Iterable[QuizSession], answers: Sequence[Answered]) -> list[dict[str, Any]]:
    """Compare the prediction of each finished session with its score, oldest first; leave short sessions out.

    Returns:
        {"when", "mode", "predicted", "after", "scored", "items", "bias"} for each session; scores are from 0 to 10.
    """
    found = []
    for session in sorted(sessions, key=lambda session: session.started):
        mine = [answer for answer in answers if answer.session == session.id and answer.first]
        if session.finished is None or session.predicted is None or len(mine) < MIN_ANSWERS_IN_SESSION:
            continue
        scored = score_alone([make_item(answer) for answer in mine]).score
        found.append(
            {
                "when": session.started.isoformat(),
                "mode": session.mode,
                "predicted": session.predicted,
                "after": session.predicted_after,
                "scored": round(scored, 1),
                "items": len(mine),
                "bias": round(session.predicted - scored, 1),
            }
        )
    return found


def bias(past: Sequence[dict[str, Any]], last: int = LAST_SESSIONS) -> float | None:
    """Return by how much the last predictions were too high on average; None without any."""
    recent = [each["bias"] for each in past[-last:]]
    return round(sum(recent) / len(recent), 1) if recent else None


def describe_past_bias(sessions: Iterable[QuizSession], answers: Sequence[Answered]) -> str:
    """Say by how much the learner's last predictions were off; "" where there are none."""
    past = history(sessions, answers)
    off = bias(past, PAST_PREDICTIONS)
    if off is None:
        return ""
    says = "right" if abs(off) < MIN_BIAS else describe_error(off)
    count = min(PAST_PREDICTIONS, len(past))
    return (
        f"Your last {count} predictions were {says} on average." if count > 1 else f"Your last prediction was {says}."
    )


def describe_error(off: float) -> str:
    """Say by how much, and in which direction, a prediction was off."""
    return f"{abs(off):.1f} too {'high' if off > 0 else 'low'}"


def _error(answer: Answered) -> float:
    return (meaning(answer.certainty, answer.kind) - (answer.credit >= 1)) ** 2


def _with_certainty(answers: Iterable[Answered]) -> list[Answered]:
    return [answer for answer in answers if answer.first and answer.certainty in PROBABILITY]
