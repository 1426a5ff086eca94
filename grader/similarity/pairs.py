"""A whole class to its pairs: which two hand-ins are worth a closer look, the strongest evidence first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from grader.model import Course
from grader.similarity.class_index import Classroom
from grader.similarity.course_corpus import Known, known_of
from grader.similarity.evidence import Evidence, compare
from grader.similarity.solution import Answer, answer_of

MOST_PAIRS = 100

Item = tuple[str, str, Mapping[str, Any], Mapping[str, Any]]


def similar(course: Course, items: Iterable[Item]) -> list[dict[str, Any]]:
    """The pairs of a class, as `results.json` holds them; at most MOST_PAIRS.

    An item is a record's id, its learner, the record, and what `fingerprint` said of each of its lessons, by lesson.
    Of a record only `lessons[LESSON]` is read (`passed`, `mistakes` and `checks`), and `together`, with whom it was
    handed in. Items are gone through once. Two attempts of one learner are never a pair, nor are members of a group.
    """
    known = known_of(course)
    by_lesson: dict[str, list[Answer]] = defaultdict(list)
    for id, learner, record, prints in items:
        author = min((learner, *record.get("together", ())))
        for lesson, printed in prints.items():
            result = record.get("lessons", {}).get(lesson, {})
            by_lesson[lesson].append(answer_of(id, author, result, printed, known))
    found = [pair for lesson, everyone in by_lesson.items() for pair in _pairs_of(lesson, everyone, known)]
    found.sort(key=lambda pair: -pair[0])
    return [pair for _, pair in found[:MOST_PAIRS]]


def _pairs_of(lesson: str, everyone: list[Answer], known: Known) -> list[tuple[float, dict[str, Any]]]:
    """The pairs of one lesson with their strength; of several attempts of the same two learners only the strongest."""
    room = Classroom(everyone, known)
    best: dict[tuple[str, str], tuple[float, dict[str, Any]]] = {}
    for first, second in room.candidates():
        evidence = compare(first, second, room)
        learners = (min(first.learner, second.learner), max(first.learner, second.learner))
        if evidence and evidence.strength >= max(1.0, best.get(learners, (0.0,))[0]):
            best[learners] = evidence.strength, _pair(lesson, first, second, evidence)
    return list(best.values())


def _pair(lesson: str, first: Answer, second: Answer, evidence: Evidence) -> dict[str, Any]:
    return {
        "first": first.id,
        "second": second.id,
        "lesson": lesson,
        "share": round(evidence.code.share, 2),
        "same_mistake": evidence.same_returned or bool(evidence.same_mistakes),
        "first_lines": list(evidence.code.first),
        "second_lines": list(evidence.code.second),
        "note": evidence.note,
    }
