"""Summarize one session: its score beside the prediction, its topics, what was sure but wrong.

What all sessions together show is the assessment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from grader.model import Answered, QuizSession
from grader.quiz.assessment.calibration import describe_error
from grader.quiz.assessment.evidence import make_item, topic_of, tries_that_count
from grader.quiz.assessment.scoring import score_alone
from grader.quiz.model import Question
from grader.quiz.session.session import Session, is_sure_but_wrong


def summarize(session: Session, log: Sequence[Answered] = (), sessions: Sequence[QuizSession] = ()) -> dict[str, Any]:
    """Summarize the first tries of a session, and under "again" the repeated ones.

    Args:
        session: The one that ended.
        log: All answers of the learner, by which practice is known.
        sessions: All sessions of the learner.

    Returns:
        {"answers", "right", "practice", "score", "low", "high", "predicted", "predicted_after", "topics",
        "counts_for", "sure_but_wrong", "missed", "again"}. The score is that of all of them together, from 0 to
        10, as a topic of these answers has it, with its 90% interval; None without an answer.
    """
    asked = session.first_answers()
    answers = [answer for _, answer in asked]
    repeated = [answer for answer in session.answers if not answer.first]
    return {
        "answers": len(answers),
        "right": _count_right(answers),
        "practice": _count_practice(session, answers, log, sessions),
        **_score(answers),
        "predicted": session.data.predicted,
        "predicted_after": session.data.predicted_after,
        "topics": _topics(session, answers),
        "counts_for": _counts_for(session, answers),
        "sure_but_wrong": [_sure_but_wrong(session, *each) for each in asked if is_sure_but_wrong(each[1])],
        "missed": [answer.family for answer in answers if answer.credit < 1],
        "again": {"answers": len(repeated), "right": _count_right(repeated)},
    }


def make_remarks(summary: Mapping[str, Any]) -> list[str]:
    """Return what is said below the score of a session, in every face: of repeats, predictions, and where it counts."""
    counted = filter(None, [say_where_counted(summary)])
    return [*_tell_repeated(summary["again"]), *_compare_predictions(summary), *counted]


def _tell_repeated(again: Mapping[str, int]) -> list[str]:
    """Say how many of the questions that were asked again were right."""
    count, right = again["answers"], again["right"]
    return [f"Of {count} asked again {right} {'was' if right == 1 else 'were'} right."] if count else []


def _compare_predictions(summary: Mapping[str, Any]) -> list[str]:
    """Say of each prediction of a session by how much it was off its score."""
    said = (("predicted", "You predicted"), ("predicted_after", "After answering you said"))
    return [
        f"{when} {summary[key]:.1f}: {_off(summary[key] - summary['score'])}."
        for key, when in said
        if summary[key] is not None and summary["score"] is not None
    ]


def say_where_counted(summary: Mapping[str, Any]) -> str:
    """Say under which topics a report has the answers of a session on one topic; "" where that is its own."""
    names, counted = [topic["name"] for topic in summary["topics"]], summary["counts_for"]
    if len(names) != 1 or [each["name"] for each in counted] == names:
        return ""
    titles = [f"“{each['title']}”" + (f" ({each['answers']})" if len(counted) > 1 else "") for each in counted]
    return f"In the report these questions count for {', '.join(titles)}."


def _off(difference: float) -> str:
    return "exactly so" if abs(difference) < 0.05 else describe_error(difference)


def _count_practice(
    session: Session, answers: Sequence[Answered], log: Sequence[Answered], sessions: Sequence[QuizSession]
) -> int:
    """Count the answers that came too soon after feedback to be evidence."""
    counting = {
        answer.family
        for answer, _ in tries_that_count(session.bank, log, sessions)
        if answer.session == session.data.id
    }
    return sum(answer.family not in counting for answer in answers) if log else 0


def _score(answers: Sequence[Answered]) -> dict[str, float | None]:
    if not answers:
        return {"score": None, "low": None, "high": None}
    result = score_alone([make_item(answer) for answer in answers])
    return {name: round(getattr(result, name), 1) for name in ("score", "low", "high")}


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


def _counts_for(session: Session, answers: Sequence[Answered]) -> list[dict[str, Any]]:
    """Count answers by the topic under which a report has them: {"name", "title", "answers"}."""
    names = Counter(topic_of(session.bank, session.bank.family(answer.family)) for answer in answers)
    return [
        {"name": name, "title": session.bank.topic(name).title, "answers": count} for name, count in names.most_common()
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
