"""One grading process: a judge and its parent of workers, asked over pipes to grade one learner after another.

    python -P -m grader.batch.processes.process_main SETTINGS_JSON

In, one JSON object a line: `{"learner": Learner.to_dict()}`, with `"hand_in"` where it is sent instead of read here.
Out, one a line: first `{"ready": true}` or `{"failed": {...}}`, then for each learner `{"record", "fingerprints",
"isolation"}`, or `{"error": "..."}` if the grader itself failed. Standard output belongs to the course's files and to
pytest; what is sent goes over a descriptor of its own.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from grader.batch.processes.serialize import unpack
from grader.batch.processes.temp_folder import Scratch
from grader.batch.settings import Settings
from grader.course.discover import load
from grader.errors import SelfattendError
from grader.intake.learner import Learner
from grader.judge.session import judge_with

if TYPE_CHECKING:
    from grader.batch.make_record import GradedHandIn
    from grader.judge.examination import Judge

END_SECONDS = 30.0  # for the workers and their parent to end, once nobody asks any more


def main(settings: Settings) -> int:
    """Serve until standard input ends; the exit status."""
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        try:
            course = load(Path(settings.root))
            lessons = [course.lessons[name] for name in settings.lessons]
            device, isolation = settings.device, settings.isolation
            judge_with(
                course, lessons, lambda judge: _serve(judge, settings, answers), device=device, isolation=isolation
            )
        except SelfattendError as error:
            described = {"what": error.what, "where": error.where, "next_step": error.next_step}
            _send(answers, {"failed": {**described, "exit_code": error.exit_code}})
            return error.exit_code
    return 0


def _serve(judge: Judge, settings: Settings, answers: BinaryIO) -> None:
    from grader.batch.grade_learner import LearnerGrader  # not before the launcher has started: it imports pytest

    scratch, busy = Scratch(), threading.Event()
    threading.Thread(target=_end_with_parent, args=(scratch, busy), daemon=True).start()
    try:
        grading = LearnerGrader(judge, settings, scratch.root)
        _send(answers, {"ready": True})
        for line in sys.stdin.buffer:
            busy.set()
            _send(answers, _graded(grading, json.loads(line), answers))
            busy.clear()
    finally:
        scratch.remove()


def _graded(grading: Any, asked: dict[str, Any], answers: BinaryIO) -> dict[str, Any]:
    hand_in = unpack(asked["hand_in"]) if "hand_in" in asked else None
    try:
        graded: GradedHandIn = grading.grade(Learner.from_dict(asked["learner"]), hand_in)
        return graded.to_json()
    except Exception as error:  # the next process tries again; this one may be beyond repair
        _send(answers, {"error": f"{type(error).__name__}: {error}"})
        raise


def _end_with_parent(scratch: Scratch, busy: threading.Event) -> None:
    """Wait until nobody can ask any more. Then a process that waits for questions ends by itself; one that is at work
    is ended here: whoever asked is dead. Its workers and their parent end with it."""
    line = select.poll()
    line.register(0, 0)  # a line that is closed is told without being asked for
    line.poll()
    deadline = time.monotonic() + END_SECONDS
    while not busy.is_set() and time.monotonic() < deadline:
        time.sleep(0.1)
    scratch.remove()
    os._exit(1)


def _send(answers: BinaryIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main(Settings.from_dict(json.loads(sys.argv[1]))))
