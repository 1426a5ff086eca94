"""One submission's results as the plain data that the store, the results and the feedback files hold.

    {"id", "learner", "name", "together", "attempt", "late", "source", "feedback", "digest", "score", "complete",
     "states": {STATE: how many lessons}, "problem", "notes", "duration_s",
     "previous": null or {"score", "lessons": {LESSON: score}, "when"},
     "lessons": {LESSON: the object of `learn check --json`}}

`score` is the mean over the lessons that have one, to one decimal; 10.0 only when each of them is 10.0; null when none
has. A lesson that was not handed in has none; one on which the grader itself failed has the score of the checks that
did run, or none. Neither is a zero, and `complete` says that something is lacking. `previous` is what the same work was
given before it was graded again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.batch.settings import Settings
from grader.intake.learner import Learner
from grader.intake.name_patterns import JUDGED, UNDECIDED
from grader.model import LessonResult, SubmissionResult

Record = dict[str, Any]
LACKING = ("missing", "grader-error")
DETAILS = ("notes", "lessons")  # what makes a record long


@dataclass(frozen=True)
class Graded:
    """What a grading process gives back for one submission.

    `fingerprints` (by lesson, plain data) are what its files are compared with others by; `isolation` are the layers of
    protection that the code ran under, None where none of it ran.
    """

    record: Record
    fingerprints: dict[str, Any] = field(default_factory=dict)
    isolation: tuple[str, ...] | None = None


def record_of(
    learner: Learner, results: Sequence[LessonResult], *, digest: str, notes: Iterable[str] = (), problem: str = ""
) -> Record:
    """The record of a submission from the results of all its lessons."""
    notes = list(notes)
    whole = SubmissionResult(learner.id, mean_score(results), {result.lesson: result for result in results})
    content = whole.to_dict()
    return {
        "id": content["id"],
        "learner": learner.learner,
        "name": learner.name,
        "together": list(learner.together),
        "attempt": learner.attempt,
        "late": learner.late,
        "source": learner.source,
        "feedback": learner.feedback,
        "digest": digest,
        "score": content["score"],
        "complete": not any(result.state in LACKING for result in results),
        "states": dict(Counter(result.state for result in results)),
        "problem": problem or " ".join(_doubts([*notes, *(note for result in results for note in result.notes)])),
        "notes": notes,
        "duration_s": round(sum(result.duration_s for result in results), 3),
        "previous": None,
        "lessons": content["lessons"],
    }


def _doubts(notes: Iterable[str]) -> dict[str, None]:
    """The notes that say which of several files was judged, each once: a human should look whether it was meant."""
    return {note: None for note in notes if JUDGED in note or note.endswith(UNDECIDED)}


def mean_score(results: Iterable[LessonResult]) -> float | None:
    """The mean of the scores that there are, to one decimal; 10.0 only when every one of them is."""
    scores = [result.score for result in results if result.score is not None]
    if not scores:
        return None
    mean = round(sum(scores) / len(scores), 1)
    return mean if min(scores) == 10.0 else min(mean, 9.9)


def without_score(lesson: str, state: str, settings: Settings, notes: Iterable[str] = ()) -> LessonResult:
    """The result of a lesson that was not judged: it is missing, or the grader itself failed."""
    device = "cpu" if settings.device == "auto" else settings.device
    return LessonResult(lesson, state, None, False, device, settings.seed, 0.0, notes=tuple(notes))


def grader_failed(learner: Learner, settings: Settings, reason: str) -> Graded:
    """What there is of a submission on which our own process died, twice."""
    reason = f"The grader itself failed on this submission, and its author is not to blame: {reason}"
    results = [without_score(lesson, "grader-error", settings) for lesson in settings.lessons]
    return Graded(record_of(learner, results, digest="", problem=reason))


def has_failed(record: Mapping[str, Any]) -> bool:
    """Whether the grader itself failed on some of it, so that it is to be graded again."""
    return "grader-error" in record["states"]


def summary_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without its details: of each lesson its state and score."""
    lessons = {name: {"state": one["state"], "score": one["score"]} for name, one in record["lessons"].items()}
    return {key: value for key, value in record.items() if key not in DETAILS} | {"lessons": lessons}


def previous_of(old: Mapping[str, Any], when: str) -> dict[str, Any] | None:
    """What a new record says of the one that it replaces, given at `when`. Of one on which the grader failed: what that
    one had replaced, for it has changed nobody's score."""
    if has_failed(old):
        previous: dict[str, Any] | None = old["previous"]
        return previous
    scores = {name: lesson["score"] for name, lesson in old["lessons"].items()}
    return {"score": old["score"], "lessons": scores, "when": when}
