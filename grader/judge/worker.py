"""Our end of the line to one worker process: a deadline on every call, a cap on what it prints, a certain end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

from grader.errors import IsolationError, WorkerCrashed, WorkerTimeout
from grader.model import Limits
from grader.worker import wire

LAST_WORDS_SECONDS = 0.5
READY_SECONDS = 120.0  # importing torch from a cold disk can take this long


class Worker:
    """One worker process, one learner's module. Single use; `close` always ends it."""

    def __init__(
        self,
        pid: int,
        pidfd: int | None,
        rpc: socket.socket,
        output_fd: int,
        limits: Limits,
        exits: Callable[[int], int | None],
    ):
        self.pid = pid
        self.pidfd = pidfd
        self.rpc = rpc
        self.output_fd = output_fd
        self.limits = limits
        self.patience = limits.call_seconds
        self.layers: tuple[str, ...] | None = None
        self.alive = True
        self._exits = exits
        self._printed = bytearray()
        self._printed_total = 0
        self._next_id = 0
        self._frames = wire.Frames()
        os.set_blocking(output_fd, False)
        # a worker that does not read must not hold us up; set once, where a timeout for each call costs system calls
        seconds, rest = divmod(limits.call_seconds, 1)
        rpc.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", int(seconds), int(rest * 1e6)))

    def request(self, act: str, seconds: float | None = None, **content: Any) -> dict[str, Any]:
        """Ask for one act and wait for its reply. Raises WorkerTimeout or WorkerCrashed, and the worker
        is then dead."""
        if not self.alive:
            raise WorkerCrashed("The worker has ended already.")
        self._next_id += 1
        try:
            if self.layers is None:
                self.layers = self._hello()
            deadline = time.monotonic() + (self.patience if seconds is None else seconds)
            wire.send(self.rpc, {"id": self._next_id, "act": act, **content})
            reply = self._receive(deadline)
        except (TimeoutError, BlockingIOError):
            frames = self._where_it_hangs()
            self.kill()
            limit = self.patience if seconds is None else seconds
            raise WorkerTimeout(f"No answer within {limit:g} s.", frames) from None
        except (EOFError, ConnectionError, wire.ProtocolError) as error:
            self.kill()
            raise self._explain_end(error) from None
        if reply.get("id") != self._next_id:
            self.kill()
            raise WorkerCrashed("The worker's process sent something that is not an answer.")
        return reply

    def _where_it_hangs(self) -> object:
        """Interrupt a call that does not end, as Ctrl-C would, and wait a moment for what its traceback says."""
        if self.pidfd is None:
            return ()
        try:
            signal.pidfd_send_signal(self.pidfd, signal.SIGINT)
            error = self._receive(time.monotonic() + LAST_WORDS_SECONDS).get("error")
        except (OSError, EOFError, WorkerCrashed, wire.ProtocolError):
            return ()
        return error.get("frames", ()) if isinstance(error, dict) else ()

    def _hello(self) -> tuple[str, ...]:
        hello = self._receive(time.monotonic() + READY_SECONDS)
        if "refused" in hello:
            self.kill()
            raise IsolationError(f"A worker could not be protected: {hello['refused']}.", next_step="learn doctor")
        layers = hello.get("layers")
        if not isinstance(layers, list) or not all(isinstance(layer, str) for layer in layers):
            raise wire.ProtocolError("no greeting")
        return tuple(layers)

    def _receive(self, deadline: float) -> dict[str, Any]:
        while (message := self._frames.take()) is None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            ready, _, _ = select.select([self.rpc.fileno(), self.output_fd], [], [], left)
            if self.output_fd in ready:
                self._drain(once=True)
            if self.rpc.fileno() in ready:
                self._frames.fill(self.rpc)
        self._drain()
        return message

    def _drain(self, once: bool = False) -> None:
        """Take what was printed. More than the limit is a flood: the worker is killed."""
        limit = self.limits.output_kb << 10
        while True:
            try:
                piece = os.read(self.output_fd, 1 << 16)
            except BlockingIOError:
                return
            if not piece:
                return
            self._printed_total += len(piece)
            if self._printed_total > limit:
                self.kill()
                raise WorkerCrashed(f"It printed more than {self.limits.output_kb} kB and was stopped.")
            self._printed += piece
            if once:
                return

    def take_output(self) -> str:
        """What the learner's code printed since the last time this was asked."""
        if self.alive:
            self._drain()
        text, self._printed = self._printed.decode("utf-8", "replace"), bytearray()
        return text

    def _explain_end(self, error: Exception) -> Exception:
        if isinstance(error, wire.ProtocolError):
            return WorkerCrashed("The worker's process sent something that is not an answer.")
        code = self._exits(self.pid)
        if code is None:
            return WorkerCrashed("The process ended in the middle of a call.")
        if code == -signal.SIGXCPU:
            return WorkerTimeout("It used up its processor time.")
        if code == -signal.SIGKILL:
            return WorkerCrashed("The process was killed: by itself, or by the system for want of memory.")
        if code < 0:
            return WorkerCrashed(f"The process died of signal {-code} ({signal.Signals(-code).name}).")
        return WorkerCrashed(f"The process ended itself (exit status {code}), as os._exit does.")

    def kill(self) -> None:
        """End the process now. Its children are ended with it."""
        if not self.alive:
            return
        self.alive = False
        with contextlib.suppress(ProcessLookupError, OSError):
            if self.pidfd is not None:
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
            else:
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process if it lives, and release the descriptors."""
        self.kill()
        self.rpc.close()
        for fd in (self.output_fd, self.pidfd):
            if fd is not None:
                with contextlib.suppress(OSError):
                    os.close(fd)
