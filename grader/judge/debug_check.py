"""`--pdb`: the learner's debugger at the first call that fails.

The checks are run once more, and every request to the submission is written down. The requests of the first failing
check are then replayed (`debug_replay.py`) by an ordinary Python process in the learner's own terminal, without any
isolation: the last call among them under pdb.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.judge.checks.loaded_submission import LearnerFunctions
from grader.judge.checks.run_checks import run_checks
from grader.judge.debug_replay import CALLS, Failure, Request
from grader.judge.errors import LearnerError
from grader.judge.examination import Judge
from grader.judge.processes.connection import Worker
from grader.judge.processes.remote_module import CallableModule, RemoteModule
from grader.judge.session import judge_with
from grader.model import Course, Lesson, Submission
from grader.worker.arrays import duplicate

RUN = "import sys; sys.path.append({root!r}); from grader.judge.debug_replay import replay; replay({file!r})"


def debug_first_failure(
    course: Course, lesson: Lesson, submission: Submission, seed: int, say: Callable[[str], None]
) -> None:
    """Open pdb at the first line of the first failing call, then where it raises; return when the learner leaves it.

    Needs a terminal.

    Args:
        say: Called with each sentence for the learner.
    """
    found: list[Failure] = []
    judge_with(course, [lesson], lambda judge: found.extend(_find(judge, lesson, submission, seed)), device="cpu")
    if not found:
        say("No failing check got as far as calling your code, so there is nothing to debug: see the message above.")
        return
    say(f"The check that fails: {found[0].says}")
    say("You stand at the first line of the call that it made. n: next line, p NAME: print, q: quit.")
    say("c: run on; if the call raises an error, you stand at the line that raised it.")
    say("Here your code runs without isolation, as `python` would run it. Starting ...")
    _replay_in_child(pickle.dumps((course.arrays, lesson, submission, found[0])))


class _RecordingSubject(RemoteModule):
    """A submission of which every request is written down before it is made: it may be the last."""

    def __init__(self, worker: Worker, kinds: dict[str, str], requests: list[Request]) -> None:
        super().__init__(worker, kinds)
        self._requests = requests

    def ask(self, operation: str, **content: Any) -> dict[str, Any]:
        self._requests.append((operation, duplicate(content), 0))
        reply = super().ask(operation, **content)
        self._requests[-1] = (*self._requests[-1][:2], int(reply.get("handle", 0)))
        return reply


class _RecordedFunctions(LearnerFunctions):
    """A learner's functions that keep the requests of the check which is run."""

    requests: list[Request]

    def make_subject(self, worker: Worker) -> CallableModule:
        self.requests = []
        return _RecordingSubject(worker, self.kinds, self.requests)

    def live_subject(self) -> CallableModule:
        subject = super().live_subject()
        self.requests.clear()
        return subject


def _find(judge: Judge, lesson: Lesson, submission: Submission, seed: int) -> list[Failure]:
    """Find the first check that fails after it has called the submission."""
    checks = judge.lesson_checks(lesson, seed)
    loaded = _RecordedFunctions(checks, submission, judge.workers, "cpu")
    try:
        loaded.load()
        for outcome in run_checks(checks, submission, loaded):
            if outcome.error is not None and any(act in CALLS for act, _, _ in loaded.requests):
                return [Failure(outcome.check.says, list(loaded.requests))]
    except LearnerError:
        pass
    finally:
        loaded.close()
    return []


def _replay_in_child(call: bytes) -> None:
    """Replay the requests in a fresh Python that has the terminal. Ctrl-C there is for pdb to answer."""
    with tempfile.TemporaryDirectory(prefix="selfattend-") as folder:
        file = Path(folder, "call.pickle")
        file.write_bytes(call)
        root = str(Path(__file__).resolve().parents[2])
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            command = [sys.executable, "-P", "-c", RUN.format(root=root, file=str(file))]
            subprocess.run(command, check=False, env={**os.environ, "PYTHONUTF8": "1"}, restore_signals=True)
        finally:
            signal.signal(signal.SIGINT, before)
