"""Compare the hand-ins of a class at the end of a run, within limits of time and memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from grader.batch.outputs import parse_record
from grader.errors import GraderError
from grader.judge.own_limits import within_limits
from grader.model import Course
from grader.store.class_store import ClassStore

if TYPE_CHECKING:
    from grader.similarity import Compared

SIMILARITY_SECONDS = 600.0  # for all hand-ins of a class, of which thousands take seconds
COMPARING_SHARE = 0.5  # of that, divided among the lessons; the rest is for reading, and for a step that takes long
NEXT_STEP = "look among the hand-ins for very large ones, and run the command again without them, or with more memory"


def compare_class(course: Course, store: ClassStore) -> tuple[list[dict[str, Any]], list[str], GraderError | None]:
    """Return the pairs of similar hand-ins, the lessons that were not compared to the end, and what ended it early."""
    from grader.similarity import compare_lessons, strongest_pairs  # numpy: nothing else of a run needs it

    lessons: list[Compared] = []
    failure = None
    try:
        with within_limits(SIMILARITY_SECONDS, course.limits.memory_mb, "comparing the hand-ins", NEXT_STEP):
            # one by one: what was added stays, whatever ends it
            lessons.extend(compare_lessons(course, _items(store), SIMILARITY_SECONDS * COMPARING_SHARE))
    except GraderError as error:
        failure = error
    return strongest_pairs(lessons), [one.lesson for one in lessons if not one.complete], failure


def _items(store: ClassStore) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Yield what is compared of each hand-in: of the run's own lessons, since each takes its part of the time."""
    from grader.similarity import read_fingerprints

    lessons = store.facts()["settings"]["lessons"]
    for result, summary in zip(store.results(), store.summaries(parse_record), strict=True):
        kept = store.fingerprint(result.id, read_fingerprints) or {}
        prints = {lesson: kept[lesson] for lesson in lessons if lesson in kept}
        is_right = all(lesson.score == 10.0 for lesson in summary.lessons.values())  # the record says no more
        record = summary if is_right else store.record(result.id, parse_record)
        if prints and record:
            yield result.id, result.learner, record.to_json(), prints
