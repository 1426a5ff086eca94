"""Make the assessment: predicted, verified, claimed and built, never blended; strengths, weaknesses, what to do next.

{"schema": 1, "predicted", "verified": {"score", "low", "high", "covered", "topics", "names", "spread"} or null,
 "reason", "as_of": {"first", "last"} or null, "claimed", "claims", "claimed_of": {"answered", "of"}, "built", "topics",
 "also", "facets", "strengths", "weaknesses", "suggestions", "contradicted", "certainty", "brier", "bias", "history",
 "answers"}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from grader.model import SCHEMA, Answered, Claimed, LessonProgress, QuizSession
from grader.quiz.assessment import calibration
from grader.quiz.assessment.built import built
from grader.quiz.assessment.evidence import (
    CLAIM_CREDIT,
    Counted,
    Evidence,
    collect,
    evidence_by_facet,
    evidence_by_topic,
    latest_claims,
)
from grader.quiz.assessment.facets import score_facets
from grader.quiz.assessment.misconceptions import contradicted_claims, shown_misconceptions, suggestions, weaknesses
from grader.quiz.assessment.scoring import (
    MIN_ITEMS,
    MIN_TOPICS,
    SCALE,
    SOLID,
    Overall,
    TopicScore,
    label,
    overall,
)
from grader.quiz.bank.bank import Bank

MASTERED_AFTER = timedelta(days=7)
TRAP_COSTS = 0.5  # key points
SO_FAR = "strong so far"  # of a topic with too few answers to be solid, all of them right


@dataclass(frozen=True)
class LearnerLog:
    """Everything that is known of a learner. `progress` has every exercise of the course."""

    answers: Sequence[Answered] = ()
    claims: Sequence[Claimed] = ()
    sessions: Sequence[QuizSession] = ()
    progress: Mapping[str, LessonProgress] = field(default_factory=dict)
    public: bool = False  # the exercises were checked by a release's public checks alone


def assess(bank: Bank, log: LearnerLog, now: datetime | None = None) -> dict[str, Any]:
    """Assess a learner: return the documented object of `learn report --json`. Only claims that count are in `log`."""
    counted = collect(bank, log.answers, now or datetime.now(UTC), log.sessions)
    evidence = evidence_by_topic(bank, counted)
    assessed = [each for each in evidence if each.name in bank.assessed]
    topics = [_topic(bank, each, log) for each in assessed]
    facets = score_facets(evidence_by_facet(bank, counted))
    verified, reason = _verified_score(bank, assessed)
    named = shown_misconceptions(bank, [each.answer for each in counted], log.progress)
    weak = weaknesses(named, topics, facets)
    doubts = contradicted_claims(bank, [each.answer for each in counted], log.claims)
    claims = claims_by_topic(log.claims)
    past = calibration.history(log.sessions, log.answers)
    return {
        "schema": SCHEMA,
        "predicted": last_prediction(bank, log.sessions),
        "verified": verified,
        "reason": reason,
        "as_of": _as_of(counted),
        "claimed": claimed_score(claims),
        "claims": claims,
        "claimed_of": {"answered": len(claims), "of": _count_open_questions(bank)},
        "built": built(log.progress, log.public),
        "topics": topics,
        "also": [_topic(bank, each, log) for each in evidence if each.name not in bank.assessed],
        "facets": facets,
        "strengths": _strengths(topics, facets),
        "weaknesses": weak,
        "suggestions": suggestions(topics, weak, doubts, log.progress),
        "contradicted": doubts,
        "certainty": calibration.certainty_table(log.answers),
        "brier": calibration.brier(log.answers),
        "bias": calibration.bias(past),
        "history": past,
        "answers": len(counted),
    }


def last_prediction(bank: Bank, sessions: Sequence[QuizSession]) -> float | None:
    """Return the score that the learner predicted before the last assessment; what one topic will give is no such."""
    predicting = [each for each in sessions if each.predicted is not None and is_assessment(bank, each)]
    return max(predicting, key=lambda session: session.started).predicted if predicting else None


def is_assessment(bank: Bank, session: QuizSession) -> bool:
    """Return True for a session on all topics of the assessment."""
    return session.mode in ("quiz", "exam") and set(bank.assessed or bank.names) <= set(session.topics)


def claimed_score(claims: Sequence[Mapping[str, Any]]) -> float | None:
    """Return ten times the share of key points claimed, averaged over the open questions answered."""
    shares = [each["share"] for each in claims]
    return round(SCALE * sum(shares) / len(shares), 1) if shares else None


def claims_by_topic(claims: Sequence[Claimed]) -> list[dict[str, Any]]:
    """Count the claims of each open answer: {"topic", "yes", "partly", "no", "traps", "share"}."""
    marks: dict[str, list[str]] = {}
    for claim in latest_claims(claims):
        marks.setdefault(claim.topic, []).append(claim.mark)
    fell = [claim.topic for claim in latest_claims(claims, traps=True) if claim.mark == "yes"]
    return [
        {
            "topic": topic,
            **{mark: given.count(mark) for mark in CLAIM_CREDIT},
            "traps": fell.count(topic),
            "share": _share_claimed(given, fell.count(topic)),
        }
        for topic, given in marks.items()
    ]


def _share_claimed(marks: Sequence[str], traps: int) -> float:
    return max(0.0, sum(CLAIM_CREDIT[mark] for mark in marks) - TRAP_COSTS * traps) / len(marks)


def _count_open_questions(bank: Bank) -> int:
    return sum(topic.open is not None for topic in bank.topics())


def _as_of(counted: Sequence[Counted]) -> dict[str, str] | None:
    """Return the days of the first and the last answer that counts."""
    days = [each.answer.when.date().isoformat() for each in counted]
    return {"first": min(days), "last": max(days)} if days else None


def _verified_score(bank: Bank, assessed: Sequence[Evidence]) -> tuple[dict[str, Any] | None, str]:
    min_topics = min(MIN_TOPICS, len(assessed))  # a release of a few lessons has a few topics
    result = overall([each.score for each in assessed if each.score], min_topics, of=len(assessed))
    names = [bank.topic(each.name).title for each in assessed if each.score and each.score.covered]
    if result is None:
        return None, (
            f"not enough evidence: {len(names)} of the assessment's {len(assessed)} topics covered, {min_topics} are "
            f"needed (a topic is covered by {MIN_ITEMS} checked answers)"
        )
    return _rounded(result) | {"covered": len(names), "topics": len(assessed), "names": names}, ""


def _rounded(result: Overall) -> dict[str, float]:
    numbers = {name: round(getattr(result, name), 1) for name in ("score", "low", "high")}
    return numbers | {"spread": round(result.spread, 6)}


def _topic(bank: Bank, evidence: Evidence, log: LearnerLog) -> dict[str, Any]:
    topic, score = bank.topic(evidence.name), evidence.score
    right = sum(answer.credit >= 1 for answer in evidence.answers)
    so_far = score is not None and score.covered and right == len(score.items) and score.label != SOLID
    return {
        "name": topic.name,
        "title": topic.title,
        "lesson": topic.lesson,
        "right": right,
        "partly": evidence.partly,
        **_numbers(score),
        "mastered": _is_mastered(evidence, log.sessions),
        "so_far": SO_FAR if so_far else "",
        "marks": [_mark(each) for each in evidence.counted],
    }


def _numbers(score: TopicScore | None) -> dict[str, Any]:
    if score is None:
        nothing = dict.fromkeys(("guess", "unknown", "share", "variance", "score"))
        return {"items": 0, "weight": 0.0, "credit": 0.0, **nothing, "label": "", "covered": False}
    return {
        "items": len(score.items),
        "weight": round(score.weight, 4),
        "credit": round(score.credit * score.weight, 4),
        "guess": round(score.guess, 4),
        "unknown": round(score.unknown, 4),
        "share": round(score.share, 4),
        "variance": round(score.variance(min(1.0, max(0.0, score.share))), 6),
        "score": round(score.score, 1) if score.covered else None,
        "label": score.label if score.covered else "",
        "covered": score.covered,
    }


def _mark(counted: Counted) -> dict[str, Any]:
    answer = counted.answer
    return {
        "family": answer.family,
        "attempt": answer.attempt,
        "kind": answer.kind,
        "typed": answer.typed,
        "credit": round(answer.credit, 4),
        "guess": round(answer.guess, 4),
        "weight": round(counted.weight, 4),
        "certainty": answer.certainty,
        "tags": list(answer.tags),
        "when": answer.when.isoformat(),
    }


def _is_mastered(evidence: Evidence, sessions: Sequence[QuizSession]) -> bool:
    """Return True if a topic is solid, and solid again in mixed sessions a week or more after its first one."""
    if evidence.score is None or evidence.score.label != SOLID:
        return False
    mixed = {session.id for session in sessions if len(session.topics) > 1}
    began = min((session.started for session in sessions if evidence.name in session.topics), default=None)
    later = [
        each.item
        for each in evidence.counted
        if began is not None and each.answer.session in mixed and each.answer.when - began >= MASTERED_AFTER
    ]
    return len(later) >= MIN_ITEMS and label(later) == SOLID


def _strengths(topics: Sequence[Mapping[str, Any]], facets: Sequence[Mapping[str, Any]]) -> list[str]:
    """List strong facets, then solid topics, then those that are strong so far."""
    strong = [each for each in facets if each["finding"] == SOLID]
    solid = [each for each in topics if each["label"] == SOLID]
    return [
        *(
            f"{each['title'][:1].upper()}{each['title'][1:]}: {each['right']} of {each['items']} right"
            for each in strong
        ),
        *(
            f"{each['title']}: {'mastered' if each['mastered'] else 'solid'}, {each['right']} of {each['items']} right"
            for each in solid
        ),
        *(f"{each['title']}: {SO_FAR}, {each['right']} of {each['items']} right" for each in topics if each["so_far"]),
    ]
