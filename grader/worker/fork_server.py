"""Fork server, the parent of all workers: import torch once, then fork a worker per job.

It is started by exec with a clean environment and one thread. It never holds a secret, since a worker can read whatever
it has read before the fork. It never sees a learner's source, which is sent to the worker directly.

    python -P -S -s fork_server.py CONTROL_FD ARRAYS SYS_PATH_JSON

Control messages are JSON datagrams. In: `{"id", "policy", "warm_for"}` with two descriptors, the worker's line to the
judge and the pipe for its printed output. Out: `{"id", "pid"}` with a pidfd, later
`{"id", "exit", "cpu_s", "max_rss_kb"}`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
FORK_SECONDS = 10.0
MAX_JOB_BYTES = 1 << 16


def main(control_fd: int, arrays: str, paths: list[str]) -> None:
    """Import what exercises need, then serve fork requests until the judge disconnects."""
    gc.disable()  # imports make many objects that stay: collecting meanwhile takes a tenth of the time
    sys.path[:0] = paths
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    from grader.worker import isolation, preload, serve
    from grader.worker.isolation import process
    from grader.worker.watch.call_record import take_away

    take_away(gc.get_objects)
    preload.import_array_library(arrays)
    isolation.prepare()
    sys.path.pop()
    sys.argv[:] = [""]
    with contextlib.suppress(OSError):  # without it only a worker's process group can be ended, not its orphans
        process.prctl(PR_SET_CHILD_SUBREAPER, 1)
    control = socket.socket(fileno=control_fd)
    gc.freeze()  # no collection before it: that takes 0.12 s, and each worker would copy the pages it leaves holes in
    gc.set_threshold(20_000, 10, 10)  # else a worker, which lives for a second, collects 70 times
    gc.enable()
    threads = process.thread_count()
    if threads != 1:
        control.send(json.dumps({"refused": f"{threads} threads before the first fork"}).encode())
        os._exit(1)
    control.send(json.dumps({"ready": os.getpid()}).encode())
    ForkServer(control, serve, isolation).run()


class ForkServer:
    """Fork workers on demand, report how they end, and kill the processes they leave behind."""

    def __init__(self, control: socket.socket, serve: Any, isolation: Any) -> None:
        self.control, self.serve, self.isolation = control, serve, isolation
        self.policies: dict[str, tuple[Any, Any]] = {}  # by the policy's JSON: the policy, and its prepared part
        self.workers: dict[int, int] = {}  # pid -> job id
        self.wake_read, self.wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def run(self) -> None:
        """Serve until the judge disconnects. Never returns."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the judge handles Ctrl-C
        signal.set_wakeup_fd(self.wake_write, warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select([self.control.fileno(), self.wake_read], [], [])
            if self.wake_read in ready:
                os.read(self.wake_read, 4096)
            self._reap()
            if self.control.fileno() in ready and not self._serve_one():
                self._end()

    def _serve_one(self) -> bool:
        """Fork the worker that the next message asks for; return False if there are no more messages."""
        try:
            message, fds, _, _ = socket.recv_fds(self.control, MAX_JOB_BYTES, 2)
        except OSError:  # the judge disconnected before it had read all replies
            return False
        if not message:
            return False
        job = json.loads(message)
        try:
            policy, prepared = self._prepare(job["policy"])
            pid = _fork()
        except (OSError, ValueError) as error:
            self.control.send(json.dumps({"id": job["id"], "refused": str(error)}).encode())
        else:
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.signal(signal.SIGINT, signal.default_int_handler)  # the judge asks where a call hangs
                self.serve.run_worker(fds[0], fds[1], policy, prepared, job["warm_for"])
            self.workers[pid] = job["id"]
            pidfd = os.pidfd_open(pid)
            socket.send_fds(self.control, [json.dumps({"id": job["id"], "pid": pid}).encode()], [pidfd])
            os.close(pidfd)
        for fd in fds:
            os.close(fd)
        return True

    def _prepare(self, values: dict[str, Any]) -> tuple[Any, Any]:
        key = json.dumps(values)
        if key not in self.policies:
            policy = self.serve.read_policy(values)
            self.serve.hide_unreadable(policy.readable)
            self.policies[key] = policy, self.isolation.prepare_policy(policy)
        return self.policies[key]

    def _reap(self) -> None:
        """Report the workers that have ended, and kill what they left."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            job = self.workers.pop(pid, None)
            if job is None:
                continue
            self._sweep(pid)
            end = {"id": job, "exit": os.waitstatus_to_exitcode(status)}
            used = {"cpu_s": usage.ru_utime + usage.ru_stime, "max_rss_kb": usage.ru_maxrss}
            try:
                self.control.send(json.dumps(end | used).encode())
            except OSError:
                self._end()

    def _sweep(self, pid: int) -> None:
        """Kill what a dead worker left: its process group, and the orphans that this process inherited.

        All orphans are stopped first: one that still runs can fork as fast as another is killed.
        """
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        stopped: set[int] = set()
        while fresh := self._strays() - stopped:
            for stray in fresh:
                self._signal(stray, signal.SIGSTOP)
            stopped |= fresh
        for stray in stopped:
            self._signal(stray, signal.SIGKILL)

    def _strays(self) -> set[int]:
        """Find all descendants of this process that are neither a worker nor a worker's descendant."""
        found: set[int] = set()
        queue = [child for child in self._children(os.getpid()) if child not in self.workers]
        while queue:
            stray = queue.pop()
            if stray not in found:
                found.add(stray)
                queue += self._children(stray)
        return found

    @staticmethod
    def _signal(pid: int, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)

    @staticmethod
    def _children(pid: int) -> list[int]:
        found: list[int] = []
        with contextlib.suppress(OSError):  # it has ended, or the kernel lacks these files
            for thread in Path(f"/proc/{pid}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
        return found

    def _end(self) -> None:
        for pid in list(self.workers):
            os.kill(pid, signal.SIGKILL)
        for pid in list(self.workers):
            os.waitpid(pid, 0)
            self._sweep(pid)
        os._exit(0)


def _fork() -> int:
    """Fork, trying again for a while: a machine out of processes or memory may have some in a moment."""
    deadline = time.monotonic() + FORK_SECONDS
    while True:
        try:
            return os.fork()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
