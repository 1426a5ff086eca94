"""Grading processes, and what becomes of a submission when one dies.

`Grader.grade` is the seam to other machines: it is a plain function of a learner that any `concurrent.futures.Executor`
can call. Here that is a pool of threads; each thread keeps one grading process of its own.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.batch.make_record import GradedHandIn, make_failed
from grader.batch.processes.serialize import pack
from grader.batch.processes.temp_folder import sweep
from grader.batch.settings import Settings
from grader.errors import CourseError, GraderError, SelfattendError
from grader.intake.hand_in import HandIn
from grader.intake.learner import Learner
from grader.judge.processes.launcher import THREADS

ENGINE = Path(__file__).resolve().parents[3]
READY_SECONDS = 300.0  # many processes may be importing torch from a cold disk at once
TRIES = 2


class StationDied(Exception):
    """The grading process ended, or did not answer in time."""


class Station:
    """One grading process. Start, wait until it is ready, ask as often as you like, close."""

    def __init__(self, settings: Settings) -> None:
        self.answers = bytearray()
        self.complaints = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        path = os.pathsep.join([str(ENGINE), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "grader.batch.processes.process_main", json.dumps(settings.to_dict())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            env={**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C in the terminal reaches us alone
        )

    def wait_until_ready(self) -> None:
        """Raises SelfattendError if it could not start: the course's, or ours."""
        try:
            reply = self._receive(READY_SECONDS)
        except StationDied as error:
            raise GraderError(f"a grading process did not start: {error}", next_step="learn doctor") from None
        if "failed" in reply:
            raise _as_error(reply["failed"])

    def grade(self, learner: Learner, seconds: float, hand_in: HandIn | None = None) -> GradedHandIn:
        """The learner's record; `hand_in` is sent along if it is given, else read there. Raises StationDied; the
        process is then of no more use."""
        asked: dict[str, Any] = {"learner": learner.to_dict()}
        if hand_in is not None:
            asked["hand_in"] = pack(hand_in)
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(asked).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise StationDied(self._last_words()) from None
        reply = self._receive(seconds)
        if "record" not in reply:
            raise StationDied(str(reply.get("error", self._last_words())))
        return GradedHandIn.from_json(reply)

    def _receive(self, seconds: float) -> dict[str, Any]:
        assert self.process.stdout is not None
        deadline = time.monotonic() + seconds
        while b"\n" not in self.answers:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise StationDied(f"no answer within {seconds:.0f} s")
            piece = os.read(self.process.stdout.fileno(), 1 << 20)
            if not piece:
                raise StationDied(self._last_words())
            self.answers += piece
        line, _, self.answers = self.answers.partition(b"\n")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _last_words(self) -> str:
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "its process closed the line"
        code = self.process.returncode
        self.complaints.seek(max(0, self.complaints.seek(0, os.SEEK_END) - 4000))
        lines = self.complaints.read().decode("utf-8", "replace").strip().splitlines()
        ended = f"signal {-code}" if code < 0 else f"exit status {code}"
        return f"its process ended ({ended}){': ' + lines[-1] if lines else ''}"

    def kill(self) -> None:
        """End it at once; its workers die with it."""
        self.process.kill()
        self.close()

    def close(self) -> None:
        """Let it end by itself, and see to it that it does."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was still to be written has no reader
                    continue
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.complaints.close()


def _as_error(failed: dict[str, Any]) -> SelfattendError:
    kind: Callable[..., SelfattendError] = CourseError if failed["exit_code"] == 2 else GraderError
    return kind(failed["what"], where=failed["where"], next_step=failed["next_step"])


class Grader:
    """Grades learners, each calling thread in a process of its own. It can be sent to another process by pickle."""

    def __init__(self, settings: Settings, seconds: float) -> None:
        self.settings = settings
        self.seconds = seconds  # wall clock for one submission, far more than its own limits add up to
        self._forget()

    def _forget(self) -> None:
        self._mine = threading.local()
        self._all: set[Station] = set()
        self._lock = threading.Lock()
        self._closing = False

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings, "seconds": self.seconds}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # the processes stay where they are

    def prepare(self) -> None:
        """Start the calling thread's process. Raises SelfattendError if it cannot be."""
        self._station()

    def grade(self, learner: Learner, hand_in: HandIn | None = None) -> GradedHandIn:
        """The learner's record. A dead process is replaced and the submission tried once more; then it is put down
        as the grader's failure. Raises SelfattendError if no process can be started."""
        reason = ""
        for _ in range(TRIES):
            station = self._station()
            try:
                return station.grade(learner, self.seconds, hand_in)
            except StationDied as death:
                reason = str(death)
                self._bury(station)
                if self._closing:
                    break
        return make_failed(learner, self.settings, reason)

    def _station(self) -> Station:
        station: Station | None = getattr(self._mine, "station", None)
        if station is None:
            station = Station(self.settings)
            self._mine.station = station
            with self._lock:
                self._all.add(station)
                if self._closing:
                    station.process.kill()
            station.wait_until_ready()
        return station

    def _bury(self, station: Station) -> None:
        self._mine.station = None
        with self._lock:
            self._all.discard(station)
        station.kill()
        sweep()

    def interrupt(self) -> None:
        """Kill all processes, whatever they are doing; the threads that wait for them come back."""
        with self._lock:
            self._closing = True
            for station in self._all:
                station.process.kill()

    def close(self) -> None:
        """End all processes. No thread may be waiting for one any more."""
        stations, self._all = self._all, set()
        for station in stations:
            station.close()
        sweep()  # what those that were killed have left
