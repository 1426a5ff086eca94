"""Whatever a worker sends, and whenever: no call outlasts its deadline, no lesson its own, and the next one goes on."""

from __future__ import annotations

import dataclasses
import inspect
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from support import line_tricks
from support.factories import ROOT, course, judge_source, run_judge
from support.fake_workers import LooseWorker, LyingLauncher
from support.line_tricks import TRICKS, Script, draw_script, play
from support.repeat import repeat

from grader.errors import GraderError, WorkerCrashed, WorkerTimeout
from grader.judge.processes import launcher as module
from grader.judge.processes.connection import INTERRUPT_SECONDS, Worker
from grader.model import Submission

SECONDS = 0.15  # for a call
MARGIN = 30.0  # on a machine that does much else; a call that hangs takes for ever
LIMITS = dataclasses.replace(course().limits, call_seconds=SECONDS)
RIGHT = (ROOT / "solutions" / "core" / "softmax.py").read_text()


def ask(worker: Worker, most: float, **content: Any) -> None:
    """Make a call; it is answered or the worker is dead, and neither takes longer than `most` seconds."""
    begun = time.monotonic()
    try:
        assert worker.request("call", SECONDS, **content)["value"] == 1.5
    except (WorkerCrashed, WorkerTimeout):
        assert not worker.alive
    assert time.monotonic() - begun < most, content.get("args")


@contextmanager
def played(script: Script) -> Iterator[Worker]:
    """Our end of the line to a thread that plays a script."""
    worker = LooseWorker(LIMITS)
    worker.layers = ()
    player = threading.Thread(target=play, args=(worker.theirs, script))
    player.start()
    yield worker
    worker.close()
    worker.hang_up()
    player.join(60)
    assert not player.is_alive()


@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_holds_a_call_up(trick):
    """Each by itself, followed by silence, ends the call by its deadline."""
    with played([[0.0, trick, 1]]) as worker:
        ask(worker, SECONDS + MARGIN)


@repeat(8, 150)
def test_no_row_of_tricks_holds_a_call_up(times):
    """So do several in any order, at any time."""
    for seed in range(times):
        with played(draw_script(random.Random(seed), 1)) as worker:
            ask(worker, SECONDS + MARGIN)


SOURCE = f"""{inspect.getsource(line_tricks)}
import os
def f(script):
    play(socket.socket(fileno=os.dup(3)), script)
    time.sleep(60)
"""


def loaded(launcher, layers: list[str]) -> Worker:
    """A real worker under these layers, that plays scripts."""
    worker = launcher.lease({**launcher.policy, "layers": layers})
    what = {"name": "work", "path": "work.py", "source": SOURCE, "seed": 1, "siblings": {}, "forbids": []}
    assert "error" not in worker.request("load", **what, names=["f"], device="cpu", shared=False)
    return worker


@repeat(2, 30)
@pytest.mark.parametrize("layers", [[], ["no-new-privileges", "seccomp"]], ids=["bare", "filtered"])
def test_no_process_holds_a_call_up(launcher, layers, times):
    """Nor does a real process that goes on for ever: it is interrupted, killed, and another one answers."""
    for seed in range(times):
        with closing(loaded(launcher, layers)) as worker:
            script = [[0.0, "out of band", 2], *draw_script(random.Random(seed), 2)]
            ask(worker, SECONDS + INTERRUPT_SECONDS + MARGIN, target="f", args=[script], kwargs={})


OUT_OF_BAND = """
import os, socket, time
def softmax(x, dim=-1):
    socket.socket(fileno=os.dup(3)).send(b"x", socket.MSG_OOB)
    time.sleep(600)
"""


def test_an_out_of_band_byte_is_not_sent(launcher):
    """The filter refuses it: the learner's own error, at once."""
    result = judge_source(launcher, "softmax", OUT_OF_BAND)

    assert result.score == 1.0 and "PermissionError" in result.checks[0].message


def test_where_nothing_refuses_an_out_of_band_byte_the_lesson_ends_and_the_next_goes_on(launcher_with):
    """Without the filter the judge takes it for what it is, no answer; the next submission is graded as ever."""
    limits = dataclasses.replace(course().limits, call_seconds=10.0, total_seconds=60.0)
    lesson = course().lessons["softmax"]
    with launcher_with(limits) as launcher:
        launcher.policy["layers"] = [layer for layer in launcher.policy["layers"] if layer != "seccomp"]
        begun = time.monotonic()
        results = run_judge(
            launcher,
            "softmax",
            lambda judge: [judge.examine(lesson, Submission("softmax", "s.py", w), 1) for w in (OUT_OF_BAND, RIGHT)],
            dataclasses.replace(course(), limits=limits),
        )

    assert time.monotonic() - begun < 300  # a worker that is waited for sleeps ten minutes
    assert results[0].score == 1.0 and results[0].mistakes[0].id == "crashed"
    assert results[1].score == 10.0


def test_a_lesson_ends_however_late_each_answer_comes():
    """A worker that answers every question right and just in time is not waited for beyond the time of the lesson."""
    limits = dataclasses.replace(course().limits, call_seconds=0.5, total_seconds=1.5)
    asked = []

    def lie(operation, reply):
        asked.append(operation)
        time.sleep(0.0 if operation == "load" else 0.35)
        return reply

    slow = LyingLauncher(RIGHT, limits, lie)
    result = judge_source(slow, "softmax", RIGHT, of=dataclasses.replace(course(), limits=limits))  # type: ignore[arg-type]

    assert len(asked) < 12, asked  # there is time for five, and for one that names a mistake; in all there are dozens
    assert result.score < 10.0 and "timed-out" in {check.outcome for check in result.checks}  # in a call, or before one


def test_a_parent_of_workers_that_stands_still_is_told(launcher_with, monkeypatch):
    """Neither what is asked of it nor what it should answer is waited for without an end."""
    with launcher_with(LIMITS) as launcher:
        launcher.lease().close()
        monkeypatch.setattr(module, "READY_SECONDS", 0.5)
        launcher.process.send_signal(signal.SIGSTOP)
        with pytest.raises(GraderError, match="does not answer"):
            launcher.lease({**launcher.policy, "layers": []})
        with pytest.raises(GraderError, match="died"):
            while True:
                launcher._begin().close()
