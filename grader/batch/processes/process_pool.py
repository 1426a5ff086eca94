"""Grading processes of this machine, and what follows when one dies.

`ProcessPool.grade` is a plain function of a learner that any `concurrent.futures.Executor` can call; each calling
thread keeps one grading process.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from grader.batch.make_record import GradedHandIn, Judged, make_failed, make_late
from grader.batch.processes.memory_group import MemoryGroups, own_group
from grader.batch.processes.temp_folder import remove_stale_folders
from grader.batch.settings import LOOKING, Settings
from grader.errors import CourseError, GraderError, SelfattendError
from grader.intake.hand_in import HandIn
from grader.intake.learner import Learner
from grader.judge.processes.launcher import start_engine
from grader.model import Limits

READY_SECONDS = 300.0  # many processes may be importing torch from a cold disk at once
MAX_TRIES = 3
LIBRARIES_MB = 2048  # what the judge and its workers need of memory beyond their limits


class ProcessDied(Exception):
    """The grading process ended, or did not answer in time."""


class OutOfTime(ProcessDied):
    """It did not answer in time."""


class GradingProcess:
    """One grading process: start it, wait until it is ready, let it grade, close it."""

    def __init__(self, settings: Settings) -> None:
        self.step = ""  # what it is at: of a lesson that it judges the name
        self.judged: list[Judged] = []  # of one lesson and file the last counts
        self._received = bytearray()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        self.process = start_engine(
            "grader.batch.processes.process_main", json.dumps(asdict(settings)), stderr=self._stderr
        )

    def wait_until_ready(self) -> None:
        """Raise SelfattendError if it could not start."""
        try:
            reply = self._receive(READY_SECONDS)
        except ProcessDied as error:
            raise GraderError(f"a grading process did not start: {error}", next_step="learn doctor") from None
        if "failed" in reply:
            failed = reply["failed"]
            kind: Callable[..., SelfattendError] = CourseError if failed["exit_code"] == 2 else GraderError
            raise kind(failed["what"], where=failed["where"], next_step=failed["next_step"])

    def grade(
        self,
        learner: Learner,
        seconds: float,
        hand_in: HandIn | None = None,
        left_out: str = "",
        judged: Iterable[Judged] = (),
        looks_for_mistakes: bool = True,
    ) -> GradedHandIn:
        """Return the learner's result; without *hand_in*, the process reads it. Each step of that may take *seconds*.

        Args:
            left_out: A lesson that is not judged: its result is that the grader failed on it.
            judged: What was judged before, and is not again.
            looks_for_mistakes: False: none are looked for.

        Raises ProcessDied; the process is of no more use then.
        """
        request = {"learner": learner.to_dict(), "left_out": left_out, "looks_for_mistakes": looks_for_mistakes}
        request["judged"] = [each.to_json() for each in judged]
        self.judged.clear()
        if hand_in is not None:
            request["hand_in"] = hand_in.to_dict()
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise ProcessDied(self._exit_reason()) from None
        reply: dict[str, Any] = {"step": "reading it"}
        while "step" in reply:
            self.step = str(reply["step"])
            try:
                reply = self._receive(seconds)
            except OutOfTime:
                raise OutOfTime(f"{self.step} took more than {seconds:.0f} s") from None
            if "judged" in reply:
                self.judged.append(Judged.from_json(reply["judged"]))
        if "record" not in reply:
            raise ProcessDied(str(reply.get("error", self._exit_reason())))
        return GradedHandIn.from_json(reply)

    def _receive(self, seconds: float) -> dict[str, Any]:
        assert self.process.stdout is not None
        deadline = time.monotonic() + seconds
        while b"\n" not in self._received:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise OutOfTime(f"no answer within {seconds:.0f} s")
            piece = os.read(self.process.stdout.fileno(), 1 << 20)
            if not piece:
                raise ProcessDied(self._exit_reason())
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _exit_reason(self) -> str:
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "its process closed the line"
        code = self.process.returncode
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - 4000))
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        ended = f"signal {-code}" if code < 0 else f"exit status {code}"
        return f"its process ended ({ended}){': ' + lines[-1] if lines else ''}"

    def kill(self) -> None:
        """End it at once; its workers die with it."""
        self.process.kill()
        self.close()

    def close(self) -> None:
        """Let it end, and kill it if it does not."""
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):  # what was still to be written has no reader
                if stream is not None:
                    stream.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._stderr.close()


class ProcessPool:
    """Grades learners, each calling thread in one process. Pickling leaves the processes behind."""

    def __init__(self, settings: Settings, limits: Limits) -> None:
        self.settings = settings
        self.limits = limits
        self._local = threading.local()
        self._processes: set[GradingProcess] = set()
        self._lock = threading.Lock()
        self._closing = False
        self._groups: MemoryGroups | None = None

    def __reduce__(self) -> tuple[type[ProcessPool], tuple[Settings, Limits]]:
        return ProcessPool, (self.settings, self.limits)

    def grade(self, learner: Learner, hand_in: HandIn | None = None) -> GradedHandIn:
        """Return the learner's result.

        A dead process is replaced and the submission tried again, the last time without the lesson at which it died;
        after MAX_TRIES the grader has failed on all of it. What was judged is not judged again. One that takes too long
        is not tried again, unless it looked for the mistakes of a lesson: its score counts without them, and if that
        happens twice, none are looked for in the others. Raises SelfattendError if no process can be started.
        """
        reason = left_out = ""
        judged: list[Judged] = []
        looks = True
        for number in range(MAX_TRIES):
            process = self.get_process()
            try:
                return process.grade(learner, self.limits.judging_seconds, hand_in, left_out, judged, looks)
            except ProcessDied as death:
                self._discard(process)
                reason = str(death)
                judged += process.judged
                if process.step.startswith(LOOKING):
                    looks = not number
                elif isinstance(death, OutOfTime):
                    return make_late(learner, self.settings, reason)
                elif number == MAX_TRIES - 2 and process.step in self.settings.lessons:
                    left_out = process.step
                if self._closing:
                    break
        return make_failed(learner, self.settings, reason)

    def get_process(self) -> GradingProcess:
        """Return the calling thread's process, started if need be. Raises SelfattendError if that is impossible."""
        process: GradingProcess | None = getattr(self._local, "process", None)
        if process is None:
            process = self._local.process = GradingProcess(self.settings)
            with self._lock:
                self._processes.add(process)
                self._groups = self._groups or MemoryGroups(own_group())
                self._groups.add(process.process.pid, 2 * self.limits.memory_mb + LIBRARIES_MB)  # the judge, a worker
                if self._closing:
                    process.process.kill()
            process.wait_until_ready()
        return process

    def _discard(self, process: GradingProcess) -> None:
        self._local.process = None
        with self._lock:
            self._processes.discard(process)
        process.kill()
        if self._groups is not None:
            self._groups.remove(process.process.pid)
        remove_stale_folders()

    def interrupt(self) -> None:
        """Kill all processes; the threads that wait for them return."""
        with self._lock:
            self._closing = True
            for process in self._processes:
                process.process.kill()

    def close(self) -> None:
        """End all processes. No thread may be waiting for one."""
        processes, self._processes = self._processes, set()
        for process in processes:
            process.close()
        if self._groups is not None:
            self._groups.close()
        remove_stale_folders()  # of processes that were killed
