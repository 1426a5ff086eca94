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
from grader.similarity.candidates import MAX_CANDIDATES, MAX_FURTHER, MIN_WORTH, Candidates
from grader.similarity.class_index import ClassIndex
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
    """Add pairs until a time, those first that may be the strongest; of two learners' attempts only the strongest one.

    It is not complete either where the last of those that were chosen is worth a look, and there were more.
    """
    if time.monotonic() > until:
        return
    index = ClassIndex(solutions, corpus)
    candidates = Candidates(index)
    is_last_one = False
    for number, pair in enumerate(candidates.chosen, 1):
        if time.monotonic() > until:
            return
        is_last_one |= _add_pair(compared, *pair, index) and number == MAX_CANDIDATES
    compared.complete = _compare_further(compared, candidates, index, until) and not (is_last_one and candidates.left)


def _compare_further(compared: Compared, candidates: Candidates, index: ClassIndex, until: float) -> bool:
    """Add further pairs of learners of whom none was added; return False if one that may be evidence is left.

    Who has many attempts could else hide the one that was copied behind those that share a little less than it takes.
    """
    tried = 0
    for pair, worth in candidates.further:
        if _learners(*pair) in compared.pairs:
            continue
        if time.monotonic() > until:
            return False
        if tried < MAX_FURTHER:
            tried += 1
            _add_pair(compared, *pair, index)
        elif worth >= MIN_WORTH:
            return False
    return True


def _add_pair(compared: Compared, first: Solution, second: Solution, index: ClassIndex) -> bool:
    """Add a pair that is worth a look, and stronger than another one of its learners; return False for others."""
    evidence = compare(first, second, index)
    learners = _learners(first, second)
    if evidence is None or evidence.strength < max(1.0, compared.pairs.get(learners, (0.0,))[0]):
        return False
    compared.pairs[learners] = evidence.strength, _pair(compared.lesson, first, second, evidence)
    return True


def _learners(first: Solution, second: Solution) -> tuple[str, str]:
    return min(first.learner, second.learner), max(first.learner, second.learner)


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
