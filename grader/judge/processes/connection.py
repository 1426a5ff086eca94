"""The connection to one worker process: a deadline for every request, a limit on output, and a certain end."""

from __future__ import annotations

import contextlib
import math
import os
import re
import select
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.errors import IsolationError, WorkerCrashed, WorkerTimeout
from grader.model import Limits
from grader.worker import wire

INTERRUPT_SECONDS = 0.5
MAX_KEPT_OUTPUT_BYTES = 64 << 10  # bytes of what is printed in one lesson; the rest, up to the limit, is let go
NOT_AN_ANSWER = "The worker's process sent something that is not an answer."
NO_TIME_LEFT = "The time for this lesson was used up."
CUT_MARK = b"\n[more was printed than is kept]\n"
OBJECTS = ("build", "make")  # the operations that make one
PROGRESS = re.compile(rb"\x1e(\d{1,9}) (\d{1,9}) (-?\d{1,9}\.\d{4}|-?inf|nan)\n")  # as `factories.py` writes it
MAX_WAITS = 5.0  # times its limit, a call may wait for a processor that others keep busy
MIN_WAIT_SECONDS = 0.05
READY_SECONDS = 120.0  # importing torch from a cold disk can take this long

OnProgress = Callable[[int, int, float], None]


class Worker:
    """One worker process, for one learner's work. `close` always ends it.

    Attributes:
        patience: How many seconds a request may take.
        until: When all requests must have ended, by `time.monotonic()`.
        on_progress: Called with the step, the number of steps and the loss that a training is said to be at.
    """

    def __init__(
        self,
        pid: int,
        pidfd: int | None,
        rpc: socket.socket,
        output_fd: int,
        limits: Limits,
        exits: Callable[[int], int | None],
        vet: Callable[[tuple[str, ...]], tuple[str, ...]] = tuple,
    ):
        self.pid = pid
        self.pidfd = pidfd
        self.rpc = rpc
        self.output_fd = output_fd
        self.limits = limits
        self.begun = time.monotonic()
        self.patience = limits.call_seconds
        self.until = math.inf
        self.on_progress: OnProgress | None = None
        self.is_watched = True  # no lesson was loaded in it whose calls are not
        self.is_told = False  # it has been sent what the reference gives
        self.layers: tuple[str, ...] | None = None
        self.alive = True
        self._exits = exits
        self._vet = vet
        self._printed = bytearray()
        self._printed_total = 0
        self._output_left = MAX_KEPT_OUTPUT_BYTES
        self._output_open = True
        self._next_id = 0
        self._room = 0
        self._frames = wire.FrameReader(wire.reply_bounds(0, 0))
        # the line first: if an answer is there, what was printed before it is seen in the same look
        self._ready = select.poll()
        self._ready.register(rpc, select.POLLIN)
        self._ready.register(output_fd, select.POLLIN)
        rpc.setblocking(False)
        os.set_blocking(output_fd, False)

    def request(self, operation: str, seconds: float | None = None, **content: Any) -> dict[str, Any]:
        """Send one request and wait for its reply.

        Args:
            seconds: How long that may take; None for `patience`.

        Raises:
            WorkerTimeout, WorkerCrashed: There is no reply, and the worker is dead.
        """
        if not self.alive:
            raise WorkerCrashed("The worker has ended already.")
        self._next_id += 1
        limit = self.patience if seconds is None else seconds
        try:
            self.greet()
            deadline = min(time.monotonic() + limit, self.until)
            self._send(self._frame(operation, content), deadline)
            reply = self._receive_fairly(deadline, limit)
        except TimeoutError:
            frames = self._interrupt()
            self.kill()
            what = f"No answer within {limit:g} s."
            raise WorkerTimeout(what if time.monotonic() < self.until else NO_TIME_LEFT, frames) from None
        except (EOFError, OSError, wire.ProtocolError) as error:
            self.kill()
            raise self._explain_end(error) from None
        if reply.get("id") != self._next_id:
            self.kill()
            raise WorkerCrashed(NOT_AN_ANSWER)
        return reply

    def _frame(self, operation: str, content: dict[str, Any]) -> list[bytes]:
        """Encode a request, and set what its reply may hold."""
        if operation == "load":
            self._room = self.limits.answer_kb << 10
        message = {"id": self._next_id, "operation": operation, "room": self._room, **content}
        pieces = wire.frame_pieces(message)
        asked = sum(map(len, pieces))
        self._frames.bounds = wire.reply_bounds(self._room, asked)
        if operation in OBJECTS:  # what is asked of an object later can hold what it is made of
            self._room += wire.ANSWER_FACTOR * asked
        return pieces

    def _interrupt(self) -> object:
        """Interrupt a call that does not end, as Ctrl-C would, and return the frames of its traceback."""
        if self.pidfd is None:
            return ()
        try:
            signal.pidfd_send_signal(self.pidfd, signal.SIGINT)
            error = self._receive(time.monotonic() + INTERRUPT_SECONDS).get("error")
        except (OSError, EOFError, WorkerCrashed, wire.ProtocolError):
            return ()
        return error.get("frames", ()) if isinstance(error, dict) else ()

    def greet(self) -> tuple[str, ...]:
        """Return the isolation layers in force, which the worker reports before anything is sent to it.

        Raises:
            IsolationError: They are too few.
            OSError, EOFError, ProtocolError: The worker does not start.
        """
        if self.layers is not None:
            return self.layers
        hello = self._receive(time.monotonic() + READY_SECONDS)
        if "refused" in hello:
            self.kill()
            raise IsolationError(f"A worker could not be protected: {hello['refused']}.", next_step="learn doctor")
        layers = hello.get("layers")
        if not isinstance(layers, list) or not all(isinstance(layer, str) for layer in layers):
            raise wire.ProtocolError("no greeting")
        self.layers = self._vet(tuple(layers))
        return self.layers

    def _send(self, pieces: list[bytes], deadline: float) -> None:
        """Send a frame to a worker that may read it slowly or not at all. Raises TimeoutError."""
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                try:
                    rest = rest[self.rpc.send(rest) :]
                except BlockingIOError:
                    self._wait(deadline, sending=True)

    def _receive_fairly(self, deadline: float, limit: float) -> dict[str, Any]:
        """Receive a reply; time in which the worker could have run and no processor was free does not count."""
        given = 0.0
        while True:
            try:
                return self._receive(min(deadline + given, self.until))
            except TimeoutError:
                waited = min(self._seconds_without_processor(), MAX_WAITS * limit)
                if waited - given < MIN_WAIT_SECONDS or time.monotonic() >= self.until:
                    raise
                given = waited

    def _seconds_without_processor(self) -> float:
        """Return how long the process has waited for a processor in its life; 0 where the system does not say."""
        try:
            pid = re.search(r"^Pid:\s*(\d+)", Path(f"/proc/self/fdinfo/{self.pidfd}").read_text(), re.MULTILINE)
            return int(Path(f"/proc/{pid[1] if pid else 0}/schedstat").read_text().split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def _receive(self, deadline: float) -> dict[str, Any]:
        printed = True
        while (message := self._frames.take()) is None:
            answered, printed = self._wait(deadline)
            if answered:
                try:
                    self._frames.fill(self.rpc)
                except BlockingIOError:  # as after a byte out of band, which is seen and cannot be read
                    raise wire.ProtocolError("something came that is no data") from None
        if printed:
            self._drain()
        return message

    def _wait(self, deadline: float, sending: bool = False) -> tuple[bool, bool]:
        """Wait until there is something to read, or space to send.

        Returns:
            Whether there is a reply, and whether something was printed; some of that is read.

        Raises:
            TimeoutError: The deadline has passed.
        """
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if sending:
            self._ready.modify(self.rpc, select.POLLOUT)
        ready = [fd for fd, _ in self._ready.poll(left * 1000)]
        if sending:
            self._ready.modify(self.rpc, select.POLLIN)
        printed = self.output_fd in ready
        if printed:
            self._drain(once=True)
        return self.rpc.fileno() in ready, printed

    def _drain(self, once: bool = False) -> None:
        """Read what was printed; kill the worker if that is more than the limit. Raises WorkerCrashed."""
        limit = self.limits.output_kb << 10
        while self._output_open:
            try:
                piece = os.read(self.output_fd, 1 << 16)
            except BlockingIOError:
                return
            if not piece:  # it closed its output: a pipe at its end would be ready to be read for ever
                self._output_open = False
                self._ready.unregister(self.output_fd)
            self._printed_total += len(piece)
            if self._printed_total > limit:
                self.kill()
                raise WorkerCrashed(f"It printed more than {self.limits.output_kb} kB and was stopped.")
            self._keep(piece)
            if once:
                return

    def _keep(self, printed: bytes) -> None:
        if b"\x1e" in printed:
            printed = PROGRESS.sub(self._tell, printed)
        kept = printed[: self._output_left]
        self._output_left -= len(kept)
        self._printed += kept
        if len(kept) < len(printed) and not self._printed.endswith(CUT_MARK):
            self._printed += CUT_MARK

    def _tell(self, found: re.Match[bytes]) -> bytes:
        """Tell how far a training is, and take that out of what was printed."""
        if self.on_progress is not None:
            self.on_progress(int(found[1]), int(found[2]), float(found[3]))
        return b""

    def take_output(self) -> str:
        """Return what the learner's code printed since the last time.

        A worker that is found here to have printed too much is killed; the next request says so.
        """
        if self.alive:
            with contextlib.suppress(WorkerCrashed):
                self._drain()
        text, self._printed = self._printed.decode("utf-8", "replace"), bytearray()
        return text

    def begin_lesson(self) -> None:
        """Reset the limits on output: another lesson of the same learner follows in this process."""
        self._printed_total, self._output_left = 0, MAX_KEPT_OUTPUT_BYTES

    def _explain_end(self, error: Exception) -> Exception:
        if isinstance(error, wire.ProtocolError):
            return WorkerCrashed(NOT_AN_ANSWER)
        code = self._exits(self.pid)
        if code is None:
            return WorkerCrashed("The process ended in the middle of a call.")
        if code == -signal.SIGXCPU:
            return WorkerTimeout("It used up its processor time.")
        if code == -signal.SIGKILL:
            return WorkerCrashed("The process was killed: by itself, or by the system for want of memory.")
        if code < 0:
            return WorkerCrashed(f"The process died of signal {-code} ({_signal_name(-code)}).")
        return WorkerCrashed(f"The process ended itself (exit status {code}), as os._exit does.")

    def kill(self) -> None:
        """Kill the process now, and its children with it."""
        if not self.alive:
            return
        self.alive = False
        with contextlib.suppress(ProcessLookupError, OSError):
            if self.pidfd is not None:
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
            else:
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process if it lives, and close the descriptors."""
        self.kill()
        self.rpc.close()
        for fd in (self.output_fd, self.pidfd):
            if fd is not None:
                with contextlib.suppress(OSError):
                    os.close(fd)


def _signal_name(number: int) -> str:
    """Return a name such as SIGSEGV; most real-time signals have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "a real-time signal"
