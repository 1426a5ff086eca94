"""The warm parent of all workers: it imports torch once and forks a worker for each job.

Started by exec, before anything slow, with a clean environment and one thread. It holds no secret, ever: what it has
read before a fork, a worker can read. It never sees a learner's source: that goes straight to the worker.

    python -P -S -s fork_server.py CONTROL_FD ARRAYS SYS_PATH_JSON

Control messages are JSON datagrams. In: `{"id", "policy"}` with two descriptors, the worker's line to the judge and the
pipe for what it prints. Out: `{"id", "pid"}` with a pidfd, later `{"id", "exit", "cpu_s", "max_rss_kb"}`.
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
PATIENCE_SECONDS = 10.0


def main(control_fd: int, arrays: str, paths: list[str]) -> None:
    """Import what exercises need, then serve fork requests until the judge goes away."""
    gc.disable()  # imports make many objects that stay: looking for garbage among them costs a tenth of the time
    sys.path[:0] = paths
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    from grader.worker import isolation, preload, serve
    from grader.worker.isolation import process

    preload.import_arrays(arrays)
    isolation.prepare()
    sys.path.pop()
    sys.argv[:] = [""]
    with contextlib.suppress(OSError):  # without it orphans are not ours to end; their process group still is
        process.prctl(PR_SET_CHILD_SUBREAPER, 1)
    control = socket.socket(fileno=control_fd)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)  # a worker lives for a second: it need not look for garbage 70 times
    gc.enable()
    threads = process.thread_count()
    if threads != 1:
        control.send(json.dumps({"refused": f"{threads} threads before the first fork"}).encode())
        os._exit(1)
    control.send(json.dumps({"ready": os.getpid()}).encode())
    ForkServer(control, serve, isolation).run()


class ForkServer:
    """Forks workers on demand, reports how they end, and lets none of their children survive them."""

    def __init__(self, control: socket.socket, serve: Any, isolation: Any) -> None:
        self.control, self.serve, self.isolation = control, serve, isolation
        self.foreseen: dict[str, Any] = {}  # by policy as JSON: the policy, and what is the same for all its workers
        self.workers: dict[int, int] = {}  # pid -> job id
        self.wake_read, self.wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def run(self) -> None:
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the judge's to answer
        signal.set_wakeup_fd(self.wake_write, warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select([self.control.fileno(), self.wake_read], [], [])
            if self.wake_read in ready:
                os.read(self.wake_read, 4096)
            self._reap()
            if self.control.fileno() in ready and not self._serve_one():
                self._end()

    def _serve_one(self) -> bool:
        try:
            message, fds, _, _ = socket.recv_fds(self.control, 1 << 16, 2)
        except OSError:  # the judge went away with messages of ours unread
            return False
        if not message:
            return False
        job = json.loads(message)
        try:
            policy, foresight = self._foresee(job["policy"])
            pid = _fork()
        except (OSError, ValueError) as error:
            self.control.send(json.dumps({"id": job["id"], "refused": str(error)}).encode())
            for fd in fds:
                os.close(fd)
            return True
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)  # how the judge asks where a call hangs
            self.serve.become_worker(fds[0], fds[1], policy, foresight)
        for fd in fds:
            os.close(fd)
        self.workers[pid] = job["id"]
        pidfd = os.pidfd_open(pid)
        socket.send_fds(self.control, [json.dumps({"id": job["id"], "pid": pid}).encode()], [pidfd])
        os.close(pidfd)
        return True

    def _foresee(self, values: dict[str, Any]) -> Any:
        key = json.dumps(values)
        if key not in self.foreseen:
            policy = self.serve.read_policy(values)
            self.foreseen[key] = policy, self.isolation.foresee(policy)
        return self.foreseen[key]

    def _reap(self) -> None:
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
            end = {
                "id": job,
                "exit": os.waitstatus_to_exitcode(status),
                "cpu_s": usage.ru_utime + usage.ru_stime,
                "max_rss_kb": usage.ru_maxrss,
            }
            try:
                self.control.send(json.dumps(end).encode())
            except OSError:
                self._end()

    def _sweep(self, pid: int) -> None:
        """Kill what a dead worker left: its process group, and orphans, which are ours to inherit. Those are stopped
        first, all of them, since one that still runs can fork as fast as another is killed."""
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
        """Everything below this process that is neither a worker nor below one."""
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
        with contextlib.suppress(OSError):  # it has gone, or a kernel without these files
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
    """Fork. A machine that has no process to give, or no memory, may have one in a moment: it is asked for a while."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return os.fork()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
