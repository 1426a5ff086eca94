"""One grading process: a judge and its parent of workers, asked over pipes to grade one learner after another.

    python -P -m grader.batch.station SETTINGS_JSON

In, one JSON object a line: a learner, `{"id", "path", "kind", "feedback"}`. Out, one a line: first `{"ready": true}` or
`{"failed": {...}}`, then for each learner `{"record": {...}}`, or `{"error": "..."}` if the grader itself failed.
Standard output belongs to the course's files and to pytest; what is sent goes over a descriptor of its own.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from grader.batch.discover import Learner
from grader.batch.settings import Settings
from grader.course.discover import load
from grader.errors import SelfattendError
from grader.judge.session import judge_with

if TYPE_CHECKING:
    from grader.judge.examine import Judge


def main(settings: Settings) -> int:
    """Serve until standard input ends; the exit status."""
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        try:
            course = load(Path(settings.root))
            lessons = [course.lessons[name] for name in settings.lessons]
            judge_with(course, lessons, lambda judge: _serve(judge, settings, answers), device=settings.device)
        except SelfattendError as error:
            described = {"what": error.what, "where": error.where, "next_step": error.next_step}
            _send(answers, {"failed": {**described, "exit_code": error.exit_code}})
            return error.exit_code
    return 0


def _serve(judge: Judge, settings: Settings, answers: BinaryIO) -> None:
    from grader.batch.grade import Grading  # not before the launcher has started: it imports pytest

    grading = Grading(judge, settings)
    _send(answers, {"ready": True})
    for line in sys.stdin.buffer:
        learner = json.loads(line)
        try:
            reply = {"record": grading.grade(Learner(**{**learner, "path": Path(learner["path"])}))}
        except Exception as error:  # the next process tries again; this one may be beyond repair
            _send(answers, {"error": f"{type(error).__name__}: {error}"})
            raise
        _send(answers, reply)


def _send(answers: BinaryIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main(Settings(**{**(given := json.loads(sys.argv[1])), "lessons": tuple(given["lessons"])})))
