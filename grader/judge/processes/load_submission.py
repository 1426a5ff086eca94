"""Ask a worker to load a submission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.judge.processes.connection import Worker
from grader.model import Lesson, Submission
from grader.worker.wire import EncodedValue


def load_submission(
    worker: Worker,
    lesson: Lesson,
    submission: Submission,
    device: str,
    forbids: Sequence[str],
    *,
    shared: bool = False,
    watched: bool = False,
    runs_nothing: bool = False,
    without: Sequence[tuple[str, int, str]] = (),
    sequences: Sequence[EncodedValue] = (),
    seeds: Sequence[int] = (),
    seconds: float | None = None,
) -> dict[str, Any]:
    """Have a worker load a submission, and return its reply.

    Args:
        forbids: What its calls are watched for.
        shared: Other lessons of the same learner may have been loaded there before.
        watched: What its expressions give can be watched; its calls are not.
        runs_nothing: At its top level it only imports, defines functions and names constants.
        without: Statements that are not run: file, line, and what each calls.
        sequences: The requests of whole transcripts, to be answered at once.
        seeds: Of the random generators before each sequence.
        seconds: How long all that may take; None for as long as one call may take.

    Raises:
        WorkerError: The worker gave no answer.
    """
    return worker.request(
        "load",
        seconds,
        name=submission.lesson,
        path=submission.path,
        source=submission.source,
        siblings={name: list(pair) for name, pair in submission.siblings.items()},
        forbids=list(forbids),
        names=list(lesson.kinds),
        shared=shared,
        watched=watched,
        runs_nothing=runs_nothing,
        without=list(map(list, without)),
        device=device,
        sequences=list(sequences),
        seeds=list(seeds),
    )
