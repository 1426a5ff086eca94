"""Main program of a grading process: a judge that grades one learner after another, asked over pipes.

    python -P -m grader.batch.processes.process_main SETTINGS_JSON

In, one JSON object a line: `{"learner": Learner.to_dict(), "left_out": a lesson or "", "judged": what was judged
before, "looks_for_mistakes": true}`, with `"hand_in"` where it is sent instead of read here.
Out, one a line: first `{"ready": true}` or `{"failed": {...}}`, then for each learner `{"step": "..."}` as each step
begins, with `"judged"` where a lesson is, and `{"record", "fingerprints", "isolation"}`, or `{"error": "..."}` if the
grader itself failed. Replies go over a copy of standard output, which the course's files and pytest may write to.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from grader.batch.make_record import Judged
from grader.batch.settings import Settings
from grader.course.course_files import course_files, require_unchanged
from grader.course.load_course import load
from grader.errors import SelfattendError
from grader.intake.hand_in import HandIn
from grader.intake.learner import Learner
from grader.judge.processes.isolation_policy import ON_TRUST
from grader.judge.session import judge_with
from grader.model import Course

if TYPE_CHECKING:
    from grader.batch.one_learner.grade_learner import LearnerGrader
    from grader.judge.examination import Judge

END_SECONDS = 30.0  # for the workers and their fork server to end after the parent hangs up


def main(settings: Settings) -> int:
    """Serve until standard input ends, and return the exit status."""
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)
        try:
            course = load(Path(settings.root))
            with _forgetting_compiled(course) if settings.isolation in ON_TRUST else nullcontext():
                require_unchanged(course, settings.files)
                lessons = [course.lessons[name] for name in settings.lessons]
                drive = partial(_serve, settings=settings, replies=replies)
                judge_with(course, lessons, drive, device=settings.device, isolation=settings.isolation)
        except SelfattendError as error:
            described = {name: getattr(error, name) for name in ("what", "where", "next_step", "exit_code")}
            _send(replies, {"failed": described})
            return error.exit_code
    return 0


@contextmanager
def _forgetting_compiled(course: Course) -> Iterator[None]:
    """Remove what Python has compiled of the course, before and after: code that may write could leave its own there.

    A later run would use that, though it isolates what it grades.
    """

    def forget() -> None:
        for folder in {Path(cache_from_source(str(path))).parent for path in course_files(course)}:
            shutil.rmtree(folder, ignore_errors=True)

    forget()
    try:
        yield
    finally:
        forget()


def _serve(judge: Judge, settings: Settings, replies: BinaryIO) -> None:
    # not before the launcher has started: it imports pytest
    from grader.batch.one_learner.grade_learner import LearnerGrader

    if settings.isolation not in ON_TRUST:  # else a learner's code could reach them
        judge.keep_fingerprints()
    busy = threading.Event()
    threading.Thread(target=_end_with_parent, args=(busy,), daemon=True).start()

    def tell(step: str, judged: Judged | None) -> None:
        _send(replies, {"step": step} | ({"judged": judged.to_json()} if judged else {}))

    grader = LearnerGrader(judge, settings, tell)
    _send(replies, {"ready": True})
    for line in sys.stdin.buffer:
        busy.set()
        _send(replies, _grade(grader, json.loads(line), replies))
        busy.clear()


def _grade(grader: LearnerGrader, request: dict[str, Any], replies: BinaryIO) -> dict[str, Any]:
    hand_in = HandIn.from_dict(request["hand_in"]) if "hand_in" in request else None
    learner, left_out = Learner.from_dict(request["learner"]), request.get("left_out", "")
    judged, looks = map(Judged.from_json, request.get("judged", ())), request.get("looks_for_mistakes", True)
    try:
        return grader.grade(learner, hand_in, left_out, judged, looks).to_json()
    except Exception as error:  # the next process tries again; this one may be beyond repair
        _send(replies, {"error": f"{type(error).__name__}: {error}"})
        raise


def _end_with_parent(busy: threading.Event) -> None:
    """Block until the parent has closed its end of the pipe, then exit, with the workers.

    A process that waits for requests ends by itself; one that is grading for a dead parent is ended here.
    """
    stdin = select.poll()
    stdin.register(0, 0)  # a hang-up is reported without being asked for
    stdin.poll()
    deadline = time.monotonic() + END_SECONDS
    while not busy.is_set() and time.monotonic() < deadline:
        time.sleep(0.1)
    os._exit(1)


def _send(replies: BinaryIO, message: dict[str, Any]) -> None:
    replies.write(json.dumps(message).encode() + b"\n")
    replies.flush()


if __name__ == "__main__":
    sys.exit(main(Settings.from_dict(json.loads(sys.argv[1]))))
