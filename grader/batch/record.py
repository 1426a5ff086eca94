"""One submission's results as the plain data that the journal, the results and the feedback files hold.

    {"id", "source", "digest", "score", "complete", "states": {STATE: how many lessons}, "problem", "notes",
     "duration_s", "lessons": {LESSON: the object of `learn check --json`}}

`score` is the mean over the lessons that have one, to one decimal; 10.0 only when each of them is 10.0; null when none
has. A lesson that was not handed in has none; one on which the grader itself failed has the score of the checks that
did run, or none. Neither is a zero, and `complete` says that something is lacking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from grader.batch.discover import Learner, printable
from grader.batch.settings import Settings
from grader.model import LessonResult, SubmissionResult

Record = dict[str, Any]
LACKING = ("missing", "grader-error")


def record_of(
    learner: Learner, results: Sequence[LessonResult], *, digest: str, notes: Iterable[str] = (), problem: str = ""
) -> Record:
    """The record of a submission from the results of all its lessons."""
    whole = SubmissionResult(learner.id, mean_score(results), {result.lesson: result for result in results})
    content = whole.to_dict()
    return {
        "id": content["id"],
        "source": printable(learner.path.name),
        "digest": digest,
        "score": content["score"],
        "complete": not any(result.state in LACKING for result in results),
        "states": dict(Counter(result.state for result in results)),
        "problem": problem,
        "notes": list(notes),
        "duration_s": round(sum(result.duration_s for result in results), 3),
        "lessons": content["lessons"],
    }


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


def grader_failed(learner: Learner, settings: Settings, reason: str) -> Record:
    """The record of a submission on which our own process died, twice."""
    reason = f"The grader itself failed on this submission, and its author is not to blame: {reason}"
    results = [without_score(lesson, "grader-error", settings) for lesson in settings.lessons]
    return record_of(learner, results, digest="", problem=reason)
