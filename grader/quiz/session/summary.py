"""Summarize one session: its score beside the prediction, its topics, what was sure but wrong.

What all sessions together show is the assessment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from grader.model import Answered
from grader.quiz.assessment.evidence import items_of
from grader.quiz.assessment.scoring import SCALE, Z90, clip_score, topic_score
from grader.quiz.model import Question
from grader.quiz.session.session import Session, is_sure_but_wrong


def summarize(session: Session) -> dict[str, Any]:
    """Summarize the first tries of a session, and under "again" the repeated ones.

    Returns:
        {"answers", "right", "score", "low", "high", "predicted", "predicted_after", "topics", "sure_but_wrong",
        "missed", "again"}. The score is that of scoring.topic_score over all of them, from 0 to 10, with its 90%
        interval; None without an answer.
    """
    asked = session.first_answers()
    answers = [answer for _, answer in asked]
    repeated = [answer for answer in session.answers if not answer.first]
    return {
        "answers": len(answers),
        "right": _count_right(answers),
        **_score(answers),
        "predicted": session.data.predicted,
        "predicted_after": session.data.predicted_after,
        "topics": _topics(session, answers),
        "sure_but_wrong": [_sure_but_wrong(session, *each) for each in asked if is_sure_but_wrong(each[1])],
        "missed": [answer.family for answer in answers if answer.credit < 1],
        "again": {"answers": len(repeated), "right": _count_right(repeated)},
    }


def _score(answers: Sequence[Answered]) -> dict[str, float | None]:
    if not answers:
        return {"score": None, "low": None, "high": None}
    score = topic_score(items_of(answers, []))
    half_width = Z90 * math.sqrt(score.variance)
    shares = {"score": score.share, "low": score.share - half_width, "high": score.share + half_width}
    return {name: round(clip_score(SCALE * share), 1) for name, share in shares.items()}


def _topics(session: Session, answers: Sequence[Answered]) -> list[dict[str, Any]]:
    """Count answers by topic, in the order of the session's topics: {"name", "title", "answers", "right"}."""
    by_topic: dict[str, list[Answered]] = {name: [] for name in session.data.topics}
    for answer in answers:
        by_topic.setdefault(answer.topic, []).append(answer)
    return [
        {"name": name, "title": session.bank.topic(name).title, "answers": len(mine), "right": _count_right(mine)}
        for name, mine in by_topic.items()
        if mine
    ]


def _sure_but_wrong(session: Session, question: Question, answer: Answered) -> dict[str, Any]:
    misconceptions = [session.bank.misconception(tag) for tag in answer.tags]
    return {
        "family": question.family,
        "topic": question.topic,
        "title": session.bank.topic(question.topic).title,
        "text": question.text,
        "typed": answer.typed,
        "says": [each.says for each in misconceptions if each],
    }


def _count_right(answers: Sequence[Answered]) -> int:
    return sum(answer.credit >= 1 for answer in answers)
