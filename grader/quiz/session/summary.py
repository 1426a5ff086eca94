"""What came out of one sitting: its score beside the prediction, its topics, and what was sure but wrong.

This is a sitting by itself. What all sittings together show is the assessment.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grader.model import Answered
from grader.quiz.assessment.evidence import items_of
from grader.quiz.assessment.scoring import SCALE, Z90, topic_score
from grader.quiz.model import Question
from grader.quiz.session.session import Sitting, is_sure_but_wrong


def outcome(sitting: Sitting) -> dict[str, Any]:
    """{"answers", "right", "score", "low", "high", "predicted", "predicted_after", "topics", "sure_but_wrong",
    "missed", "again"}: of first tries, but for "again", those that came again.

    The score is that of scoring.topic_score over all of them, with its 90% interval; null without an answer.
    """
    asked = sitting.answered()
    answers = [answer for _, answer in asked]
    repeated = [answer for answer in sitting.answers if not answer.first]
    return {
        "answers": len(answers),
        "right": _right(answers),
        **_score(answers),
        "predicted": sitting.session.predicted,
        "predicted_after": sitting.session.predicted_after,
        "topics": _topics(sitting, answers),
        "sure_but_wrong": [_sure(sitting, *each) for each in asked if is_sure_but_wrong(each[1])],
        "missed": [answer.family for answer in answers if answer.credit < 1],
        "again": {"answers": len(repeated), "right": _right(repeated)},
    }


def _score(answers: Sequence[Answered]) -> dict[str, float | None]:
    if not answers:
        return {"score": None, "low": None, "high": None}
    whole = topic_score(items_of(answers, []))
    half = Z90 * math.sqrt(whole.variance)
    ends = {"score": whole.share, "low": whole.share - half, "high": whole.share + half}
    return {name: round(SCALE * min(1.0, max(0.0, share)), 1) for name, share in ends.items()}


def _topics(sitting: Sitting, answers: Sequence[Answered]) -> list[dict[str, Any]]:
    """In the order of the sitting's topics: {"name", "title", "answers", "right"}."""
    by_topic: dict[str, list[Answered]] = {name: [] for name in sitting.session.topics}
    for answer in answers:
        by_topic.setdefault(answer.topic, []).append(answer)
    return [
        {"name": name, "title": sitting.bank.topic(name).title, "answers": len(mine), "right": _right(mine)}
        for name, mine in by_topic.items()
        if mine
    ]


def _sure(sitting: Sitting, question: Question, answer: Answered) -> Mapping[str, Any]:
    known = [sitting.bank.misconception(tag) for tag in answer.tags]
    return {
        "family": question.family, "topic": question.topic, "title": sitting.bank.topic(question.topic).title,
        "text": question.text, "typed": answer.typed, "says": [each.says for each in known if each],
    }  # fmt: skip


def _right(answers: Sequence[Answered]) -> int:
    return sum(answer.credit >= 1 for answer in answers)
