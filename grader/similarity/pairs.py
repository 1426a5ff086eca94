"""The pairs of a class that are worth a look, the strongest evidence first."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from grader.model import MAX_PAIRS, Course
from grader.model.groups import Groups
from grader.similarity.class_index import MAX_CANDIDATES, ClassIndex
from grader.similarity.course_corpus import CourseCorpus, read_corpus
from grader.similarity.evidence import Evidence, compare
from grader.similarity.solution import Solution, make_solution

Item = tuple[str, str, Mapping[str, Any], Mapping[str, Any]]


@dataclass
class Compared:
    """The pairs of one lesson with their strength, by the two learners; `complete` unless there was too little time.

    Nor is it where so many are alike that not all that may be were compared.
    """

    lesson: str
    pairs: dict[tuple[str, str], tuple[float, dict[str, Any]]] = field(default_factory=dict)
    complete: bool = False


def compare_lessons(course: Course, items: Iterable[Item], seconds: float = math.inf) -> Iterator[Compared]:
    """Compare the hand-ins of a class, lesson by lesson: none can take the others' part of these seconds, or memory.

    An item is a record's id, its learner, the record, and by lesson what `fingerprint` returned. Of a record only
    `lessons[LESSON]` (`passed`, `mistakes` and `checks`) and `together` are read. Items are iterated once, before the
    seconds begin. Two attempts of one learner are never a pair, nor are members of a group.
    """
    corpus = read_corpus(course)
    by_lesson: dict[str, list[Solution]] = defaultdict(list)
    for id, learner, record, prints in items:
        author = min((learner, *record.get("together", ())))
        for lesson, printed in prints.items():
            result = record.get("lessons", {}).get(lesson, {})
            by_lesson[lesson].append(make_solution(id, author, result, printed, corpus))
    ends = time.monotonic() + seconds
    for left, (lesson, solutions) in zip(range(len(by_lesson), 0, -1), by_lesson.items(), strict=True):
        compared = Compared(lesson)
        now = time.monotonic()
        with suppress(MemoryError):
            _compare_lesson(compared, solutions, corpus, now + (ends - now) / left)
        yield compared


def strongest_pairs(lessons: Iterable[Compared]) -> list[dict[str, Any]]:
    """Return the pairs of a class as `results.json` holds them, at most MAX_PAIRS, the strongest first.

    Of more, those go first that join learners whom no stronger pair has joined, in any lesson and then in their own:
    the other pairs of a ring would else take the places of everybody.
    """
    found = [
        (strength, pair, learners) for compared in lessons for learners, (strength, pair) in compared.pairs.items()
    ]
    found.sort(key=lambda one: -one[0])
    anywhere, in_lesson = Groups(), Groups()
    ranks = []
    for _, pair, (first, second) in found:
        lesson = pair["lesson"]
        ranks.append((not anywhere.join(first, second), not in_lesson.join((lesson, first), (lesson, second))))
    kept = sorted(range(len(found)), key=ranks.__getitem__)[:MAX_PAIRS]
    return [found[place][1] for place in sorted(kept)]


def _compare_lesson(compared: Compared, solutions: list[Solution], corpus: CourseCorpus, until: float) -> None:
    """Add pairs until a time, those first that share most; of two learners' attempts only the strongest pair.

    It is not complete either where the last of those that share most is worth a look, and there were more.
    """
    if time.monotonic() > until:
        return
    index = ClassIndex(solutions, corpus)
    best = compared.pairs
    is_last_one = False
    for number, (first, second) in enumerate(index.candidates(), 1):
        if time.monotonic() > until:
            return
        evidence = compare(first, second, index)
        learners = (min(first.learner, second.learner), max(first.learner, second.learner))
        if evidence and evidence.strength >= max(1.0, best.get(learners, (0.0,))[0]):
            best[learners] = evidence.strength, _pair(compared.lesson, first, second, evidence)
            is_last_one |= number == MAX_CANDIDATES
    compared.complete = not (is_last_one and index.candidates_left)


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
