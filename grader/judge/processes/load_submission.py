"""Ask a worker to load a submission."""

from __future__ import annotations

from typing import Any

from grader.judge.processes.connection import Worker
from grader.judge.values.random_inputs import worker_seed
from grader.model import Lesson, Submission


def load_submission(
    worker: Worker, lesson: Lesson, submission: Submission, seed: int, device: str, *, shared: bool = False
) -> dict[str, Any]:
    """Have a worker load a submission, and return its reply.

    Args:
        shared: Other lessons of the same learner may have been loaded there before.

    Raises:
        WorkerError: The worker gave no answer.
    """
    return worker.request(
        "load",
        name=lesson.name,
        path=submission.path,
        source=submission.source,
        siblings={name: list(pair) for name, pair in submission.siblings.items()},
        seed=worker_seed(seed, lesson.name),
        forbids=list(lesson.forbids),
        names=list(lesson.kinds),
        shared=shared,
        device=device,
    )
