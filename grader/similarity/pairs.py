"""The pairs of a class that are worth a look, the strongest evidence first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from grader.model import Course
from grader.similarity.class_index import ClassIndex
from grader.similarity.course_corpus import CourseCorpus, read_corpus
from grader.similarity.evidence import Evidence, compare
from grader.similarity.solution import Solution, make_solution

MAX_PAIRS = 100

Item = tuple[str, str, Mapping[str, Any], Mapping[str, Any]]


def find_similar(course: Course, items: Iterable[Item]) -> list[dict[str, Any]]:
    """Return the pairs of a class as `results.json` holds them, at most MAX_PAIRS.

    An item is a record's id, its learner, the record, and by lesson what `fingerprint` returned. Of a record only
    `lessons[LESSON]` (`passed`, `mistakes` and `checks`) and `together` are read. Items are iterated once. Two attempts
    of one learner are never a pair, nor are members of a group.
    """
    corpus = read_corpus(course)
    by_lesson: dict[str, list[Solution]] = defaultdict(list)
    for id, learner, record, prints in items:
        author = min((learner, *record.get("together", ())))
        for lesson, printed in prints.items():
            result = record.get("lessons", {}).get(lesson, {})
            by_lesson[lesson].append(make_solution(id, author, result, printed, corpus))
    found = [pair for lesson, solutions in by_lesson.items() for pair in _lesson_pairs(lesson, solutions, corpus)]
    found.sort(key=lambda pair: -pair[0])
    return [pair for _, pair in found[:MAX_PAIRS]]


def _lesson_pairs(lesson: str, solutions: list[Solution], corpus: CourseCorpus) -> list[tuple[float, dict[str, Any]]]:
    """Return the pairs of one lesson with their strength; of two learners' attempts only the strongest pair."""
    index = ClassIndex(solutions, corpus)
    best: dict[tuple[str, str], tuple[float, dict[str, Any]]] = {}
    for first, second in index.candidates():
        evidence = compare(first, second, index)
        learners = (min(first.learner, second.learner), max(first.learner, second.learner))
        if evidence and evidence.strength >= max(1.0, best.get(learners, (0.0,))[0]):
            best[learners] = evidence.strength, _pair(lesson, first, second, evidence)
    return list(best.values())


def _pair(lesson: str, first: Solution, second: Solution, evidence: Evidence) -> dict[str, Any]:
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
