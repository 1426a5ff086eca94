"""Make the assessment: predicted, verified and claimed scores, never blended; strengths, weaknesses, what to do next.

{"schema": 1, "predicted", "verified": {"score", "low", "high"} or null, "reason", "claimed", "claims", "topics",
 "also", "strengths", "weaknesses", "suggestions", "certainty", "brier", "bias", "history", "contradicted", "answers"}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from grader.model import SCHEMA, Answered, Claimed, LessonProgress, QuizSession
from grader.quiz.assessment import calibration
from grader.quiz.assessment.evidence import CLAIM_CREDIT, Evidence, collect_evidence, items_of, latest_claims
from grader.quiz.assessment.misconceptions import contradicted_claims, suggestions, weaknesses
from grader.quiz.assessment.scoring import MIN_ITEMS, MIN_TOPICS, SCALE, SOLID, TopicScore, clip_score, label, overall
from grader.quiz.bank.bank import Bank

MASTERED_AFTER = timedelta(days=7)
SOLVED = 10.0


@dataclass(frozen=True)
class LearnerLog:
    """Everything that is known of a learner."""

    answers: Sequence[Answered] = ()
    claims: Sequence[Claimed] = ()
    sessions: Sequence[QuizSession] = ()
    progress: Mapping[str, LessonProgress] = field(default_factory=dict)


def assess(bank: Bank, log: LearnerLog) -> dict[str, Any]:
    """Assess a learner: return the documented object of `learn report --json`. Only claims that count are in `log`."""
    evidence = collect_evidence(bank, log.answers, log.progress)
    assessed = [each for each in evidence if each.topic in bank.assessed]
    topics = [_topic(bank, each, log) for each in assessed]
    verified, reason = _verified_score(assessed)
    weak = weaknesses(bank, log.answers)
    doubts = contradicted_claims(bank, log.answers, log.claims)
    past = calibration.history(log.sessions, log.answers)
    return {
        "schema": SCHEMA,
        "predicted": last_prediction(log.sessions),
        "verified": verified,
        "reason": reason,
        "claimed": claimed_score(log.claims),
        "claims": claims_by_topic(log.claims),
        "topics": topics,
        "also": [_topic(bank, each, log) for each in evidence if each.topic not in bank.assessed],
        "strengths": _strengths(topics, log.progress),
        "weaknesses": weak,
        "suggestions": suggestions(topics, weak, doubts, log.progress),
        "contradicted": doubts,
        "certainty": calibration.certainty_table(log.answers),
        "brier": calibration.brier(log.answers),
        "bias": calibration.bias(past),
        "history": past,
        "answers": sum(len(each.answers) for each in evidence),
    }


def count_exercises(assessment: Mapping[str, Any]) -> int:
    """Count the exercises on which an assessment rests, besides its checked answers."""
    return sum(len(topic["exercises"]) for topic in (*assessment["topics"], *assessment["also"]))


def last_prediction(sessions: Sequence[QuizSession]) -> float | None:
    """Return the score that the learner predicted last, before answering."""
    predicting = [session for session in sessions if session.predicted is not None]
    return max(predicting, key=lambda session: session.started).predicted if predicting else None


def claimed_score(claims: Sequence[Claimed]) -> float | None:
    """Return ten times the share of key points claimed, averaged over the open questions answered."""
    shares = [each["share"] for each in claims_by_topic(claims)]
    return round(SCALE * sum(shares) / len(shares), 1) if shares else None


def claims_by_topic(claims: Sequence[Claimed]) -> list[dict[str, Any]]:
    """Count the claims of each open answer: {"topic", "yes", "partly", "no", "share"}."""
    marks: dict[str, list[str]] = {}
    for claim in latest_claims(claims):
        marks.setdefault(claim.topic, []).append(claim.mark)
    return [
        {
            "topic": topic,
            **{mark: given.count(mark) for mark in CLAIM_CREDIT},
            "share": sum(CLAIM_CREDIT[mark] for mark in given) / len(given),
        }
        for topic, given in marks.items()
    ]


def _verified_score(assessed: Sequence[Evidence]) -> tuple[dict[str, float] | None, str]:
    scores = [each.score for each in assessed if each.score]
    min_topics = min(MIN_TOPICS, len(assessed))  # a release of a few lessons has a few topics
    result = overall(scores, min_topics)
    covered = sum(score.covered for score in scores)
    if result is None:
        return None, (
            f"not enough evidence: {covered} of {len(assessed)} topics covered, {min_topics} are needed "
            f"(a topic is covered by {MIN_ITEMS} checked answers)"
        )
    rounded = {name: round(getattr(result, name), 1) for name in ("score", "low", "high")}
    return rounded | {"covered": covered, "topics": len(assessed)}, ""


def _topic(bank: Bank, evidence: Evidence, log: LearnerLog) -> dict[str, Any]:
    topic, score = bank.topic(evidence.topic), evidence.score
    return {
        "name": topic.name,
        "title": topic.title,
        "lesson": topic.lesson,
        **_numbers(score),
        "mastered": _is_mastered(evidence, log.sessions),
        "exercises": [{"lesson": each.lesson, "share": round(each.share, 4)} for each in evidence.exercises],
        "marks": [_mark(answer) for answer in evidence.answers],
    }


def _numbers(score: TopicScore | None) -> dict[str, Any]:
    if score is None:
        nothing = dict.fromkeys(("guess", "share", "variance", "score"))
        return {"items": 0, "credit": 0.0, **nothing, "label": "", "covered": False}
    return {
        "items": score.items,
        "credit": round(score.credit, 4),
        "guess": round(score.guess, 4),
        "share": round(score.share, 4),
        "variance": round(score.variance, 6),
        "score": round(clip_score(SCALE * score.share), 1) if score.covered else None,
        "label": score.label if score.covered else "",
        "covered": score.covered,
    }


def _mark(answer: Answered) -> dict[str, Any]:
    return {
        "family": answer.family,
        "attempt": answer.attempt,
        "kind": answer.kind,
        "typed": answer.typed,
        "credit": round(answer.credit, 4),
        "guess": round(answer.guess, 4),
        "certainty": answer.certainty,
        "tags": list(answer.tags),
        "when": answer.when.isoformat(),
    }


def _is_mastered(evidence: Evidence, sessions: Sequence[QuizSession]) -> bool:
    """Return True if a topic is solid, and solid again in mixed sessions a week or more after its first one."""
    if evidence.score is None or evidence.score.label != SOLID or not evidence.answers:
        return False
    mixed = {session.id for session in sessions if len(session.topics) > 1}
    began = min((session.started for session in sessions if evidence.topic in session.topics), default=None)
    later = [
        answer
        for answer in evidence.answers
        if began is not None and answer.session in mixed and answer.when - began >= MASTERED_AFTER
    ]
    return len(later) >= MIN_ITEMS and label(items_of(later, [])) == SOLID


def _strengths(topics: Sequence[Mapping[str, Any]], progress: Mapping[str, LessonProgress]) -> list[str]:
    """List solid topics, then solved exercises."""
    found = [
        f"{topic['title']}: {'mastered' if topic['mastered'] else 'solid'}, {topic['credit']:g} of {topic['items']}"
        for topic in topics
        if topic["label"] == SOLID
    ]
    solved = [name for name, known in progress.items() if known.last_score == SOLVED and not known.gave_up]
    return found + [f"exercise {name}: every check passed" for name in solved]
