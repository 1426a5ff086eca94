"""Start worker processes.

`ForkServerLauncher` forks workers from a warm parent (Linux), which may be in a sandbox of bubblewrap. `SpawnLauncher`
starts each by exec (macOS, and wherever a fork is not safe). Both give a `Worker`; the caller does not see which.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import GraderError, IsolationError
from grader.judge.processes.connection import READY_SECONDS as READY_SECONDS
from grader.judge.processes.connection import Worker
from grader.model import Limits
from grader.worker.wire import ProtocolError

WORKER_DIR = Path(__file__).resolve().parents[2] / "worker"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
Accept = Callable[[tuple[str, ...]], None]
SECONDS_TO_END = 5.0  # for the fork server, once its line is closed or it is killed
INHERITED_VARIABLES = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "SYSTEMROOT")


def clean_environment() -> dict[str, str]:
    """Return the environment of a worker: one thread for each BLAS, fixed hashing, where the libraries are."""
    environment = dict.fromkeys(THREADS, "1")
    environment |= {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
    # huge pages for the heap, where the system grants them: a fork then copies far smaller page tables, which takes a
    # fifth off the cost of a worker
    environment["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"
    return environment | {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}


def start_engine(module: str, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start a process of the engine's own, which has the caller's environment and is spoken to over its pipes."""
    path = os.pathsep.join([str(WORKER_DIR.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C in the terminal reaches the parent alone
        **options,
    )


def library_paths() -> list[str]:
    """Return our own `sys.path` without the folder that the command was started in: where packages are installed."""
    here = {"", str(Path.cwd()), str(WORKER_DIR.parents[1])}
    return [path for path in sys.path if path not in here or path.endswith("site-packages")]


def _programs() -> list[str]:
    """Return what the fork server needs beyond what a worker may read: Python, and the worker's code."""
    settings = Path(sys.prefix, "pyvenv.cfg")
    return [sys.executable, str(settings), str(WORKER_DIR), str(WORKER_DIR.parent / "__init__.py")]


def _python(program: str, *arguments: object) -> list[str]:
    """Return the command that runs a program of the worker's folder, with its own `sys.path`."""
    return [sys.executable, "-P", "-S", "-s", str(WORKER_DIR / program), *map(str, arguments)]


@dataclass(frozen=True)
class _Pending:
    """A worker that was asked for: our ends of its line and of the pipe for what it prints."""

    job: int
    rpc: socket.socket
    output_fd: int

    def close(self) -> None:
        """Close both ends; the worker, if it started, ends by itself."""
        self.rpc.close()
        os.close(self.output_fd)


def accept_any(_layers: tuple[str, ...]) -> None:
    """Accept every worker, whatever its isolation layers."""


class _Launcher:
    """What both launchers share: which isolation layers must be in force, and which are.

    Args:
        accept: Called with the layers of each worker before it gets a learner's code; may raise to prevent that.

    Attributes:
        layers: Those of the last worker that reported them.
        outer: Those that a worker does not put on itself.
        warm_for: What the lesson forbids for which a worker warms up that is forked ahead; None: it does not. A person
            waits for its answer, and no class for its CPU.
        forks_next: The next worker is forked while this one is used. A right answer to a single lesson needs no other.
    """

    def __init__(self, arrays: str, policy: Mapping[str, Any], limits: Limits, accept: Accept = accept_any) -> None:
        self.arrays, self.policy, self.limits, self._accept = arrays, dict(policy), limits, accept
        self.outer: tuple[str, ...] = ()
        self.layers: tuple[str, ...] | None = None
        self.warm_for: tuple[str, ...] | None = None
        self.forks_next = True

    def vet(self, layers: tuple[str, ...]) -> tuple[str, ...]:
        """Return all layers of a worker that has put these on itself. Raises IsolationError for too few."""
        self.layers = (*layers, *self.outer)
        self._accept(self.layers)
        return self.layers

    def lease(self, policy: Mapping[str, Any] | None = None) -> Worker:
        """Return a fresh worker, under *policy* instead of the launcher's own if it is given."""
        raise NotImplementedError

    def fork_ahead(self) -> None:
        """Ask for the next worker now if one can be forked while others are used."""

    def hang_up(self) -> None:
        """Let processes end that no worker is needed from any more; `close` waits for them."""

    def greet(self) -> tuple[str, ...]:
        """Start a worker only to learn which layers are in force. Raises IsolationError, GraderError."""
        worker = self.lease()
        try:
            return worker.greet()
        except (OSError, EOFError, ProtocolError) as error:
            raise GraderError(f"No worker starts: {error or 'it ended at once'}", next_step="learn doctor") from None
        finally:
            worker.close()


class ForkServerLauncher(_Launcher):
    """Forks workers from one warm process. `start` returns at once: the fork server imports while the caller does.

    `sandbox`: put that process into bubblewrap. Where that cannot be had, or nothing starts in it, it runs without, and
    `no_sandbox` says why.
    """

    def __init__(
        self, arrays: str, policy: Mapping[str, Any], limits: Limits, accept: Accept = accept_any, sandbox: bool = False
    ) -> None:
        super().__init__(arrays, policy, limits, accept)
        self._born: dict[int, tuple[int, int]] = {}  # job -> pid and pidfd, not yet fetched
        self._jobs: dict[int, int] = {}  # pid -> job
        self._ended: dict[int, int] = {}  # job -> exit code
        self._job = 0
        self._ahead: _Pending | None = None
        self._ready = False
        self.no_sandbox = "it was not asked for"
        if sandbox:
            from grader.judge.processes import bubblewrap  # late: the plain check is to start without it

            self.no_sandbox = bubblewrap.why_not()
        self._start()

    def _start(self) -> None:
        """Start the fork server, without waiting for it."""
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = _python("fork_server.py", theirs.fileno(), self.arrays, json.dumps(library_paths()))
        self.outer = () if self.no_sandbox else ("namespaces",)
        with contextlib.ExitStack() as stack:
            stack.enter_context(theirs)
            passed = [theirs.fileno()]
            if not self.no_sandbox:
                from grader.judge.processes import bubblewrap

                options = stack.enter_context(bubblewrap.options(self.policy, _programs()))
                command = bubblewrap.inside(options.fileno(), command)
                passed.append(options.fileno())
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=clean_environment(),
                pass_fds=passed,
                start_new_session=True,  # Ctrl-C in the terminal reaches us alone
            )

    def lease(self, policy: Mapping[str, Any] | None = None) -> Worker:
        """Return a fresh worker; the next one, under the launcher's own policy, is forked while this one is used."""
        if policy is not None:
            return self._finish(self._begin(policy))
        pending = self._ahead or self._begin()
        self._ahead = None
        worker = self._finish(pending)
        if self.forks_next:
            self._ahead = self._begin()
        return worker

    def fork_ahead(self) -> None:
        """Ask for the next worker now, to be forked once the fork server is ready, unless that is in a sandbox."""
        if self.no_sandbox and self._ahead is None:
            self._ahead = self._begin()

    def _begin(self, policy: Mapping[str, Any] | None = None) -> _Pending:
        """Ask for a worker without waiting for it."""
        if not self.no_sandbox:
            self._wait_until_ready()  # it may have to start again without the sandbox
        self._job += 1
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        output_read, output_write = os.pipe()
        try:
            warm_for = self.warm_for if policy is None else None
            job = {"id": self._job, "policy": policy or self.policy, "warm_for": warm_for}
            self.control.settimeout(READY_SECONDS)
            socket.send_fds(self.control, [json.dumps(job).encode()], [theirs.fileno(), output_write])
        except OSError as error:
            ours.close()
            os.close(output_read)
            self._wait_until_ready()  # raises if the fork server has said why it ended
            raise self._death_error() from error
        finally:
            theirs.close()
            os.close(output_write)
        return _Pending(self._job, ours, output_read)

    def _finish(self, pending: _Pending) -> Worker:
        try:
            self._wait_until_ready()
            deadline = time.monotonic() + READY_SECONDS
            while pending.job not in self._born:
                message = self._read(deadline)
                if message.get("id") == pending.job and "refused" in message:
                    what = f"A worker could not be protected: {message['refused']}."
                    raise IsolationError(what, next_step="learn doctor")
        except BaseException:
            pending.close()
            raise
        pid, pidfd = self._born.pop(pending.job)
        self._jobs[pid] = pending.job
        return Worker(pid, pidfd, pending.rpc, pending.output_fd, self.limits, self._exit_code, self.vet)

    def _wait_until_ready(self) -> None:
        if self._ready:
            return
        try:
            message = self._read(time.monotonic() + READY_SECONDS)
        except GraderError as error:
            if self.no_sandbox:
                raise
            self._start_without_sandbox(error.what)
            message = self._read(time.monotonic() + READY_SECONDS)
        if "refused" in message:
            raise GraderError(f"The worker's parent refused to start: {message['refused']}.", next_step="learn doctor")
        self._ready = True

    def _start_without_sandbox(self, reason: str) -> None:
        """Start without bubblewrap, in which the libraries do not load; `accept` may refuse the worker's own layers."""
        self._let_go()
        self.no_sandbox = f"nothing starts in bubblewrap here: {reason}"
        self._start()

    def _read(self, deadline: float) -> dict[str, Any]:
        self.control.settimeout(max(0.0, deadline - time.monotonic()))
        try:
            data, fds, _, _ = socket.recv_fds(self.control, 1 << 16, 1)
        except (TimeoutError, BlockingIOError):
            raise GraderError("The worker's parent does not answer.", next_step="learn doctor") from None
        except ConnectionError:  # it ended before it had read all that it was sent
            data, fds = b"", []
        if not data:
            raise self._death_error()
        try:
            message: dict[str, Any] = json.loads(data)
        except ValueError:  # nothing of a learner's is there: it is ours that is broken
            raise self._death_error() from None
        if "exit" in message:
            self._ended[message["id"]] = message["exit"]
        if "pid" in message:
            self._born[message["id"]] = (message["pid"], fds[0])
        return message

    def _exit_code(self, pid: int) -> int | None:
        """Return how a worker ended, waiting a moment for the fork server to say so."""
        job = self._jobs[pid]
        deadline = time.monotonic() + 2.0
        while job not in self._ended:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.control], [], [], left)[0]:
                return None
            self._read(deadline)
        return self._ended[job]

    def _death_error(self) -> GraderError:
        self.process.kill()
        try:
            _, stderr = self.process.communicate(timeout=SECONDS_TO_END)
        except subprocess.TimeoutExpired:  # something else holds what it wrote its errors to
            stderr = b""
        last = stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
        return GraderError(f"The process that starts workers died: {last[0]}", next_step="learn doctor")

    def hang_up(self) -> None:
        """Let the fork server end, with every worker, without waiting for it."""
        with contextlib.suppress(OSError):  # it has died already
            self.control.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End every worker and the fork server."""
        if self._ahead is not None:
            self._ahead.close()
        for _, pidfd in self._born.values():
            os.close(pidfd)
        self._let_go()

    def _let_go(self) -> None:
        self.control.close()
        try:
            self.process.wait(timeout=SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()


class SpawnLauncher(_Launcher):
    """Starts each worker by exec; the next one imports its libraries while this one is used."""

    def __init__(self, arrays: str, policy: Mapping[str, Any], limits: Limits, accept: Accept = accept_any) -> None:
        super().__init__(arrays, policy, limits, accept)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._ahead: Worker | None = self._spawn()

    def lease(self, policy: Mapping[str, Any] | None = None) -> Worker:
        """Return a fresh worker, which has its libraries imported if it was started ahead."""
        if policy is not None:
            return self._spawn(policy)
        worker = self._ahead or self._spawn()
        self._ahead = self._spawn()
        return worker

    def _spawn(self, policy: Mapping[str, Any] | None = None) -> Worker:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        output_read, output_write = os.pipe()
        settings = (json.dumps(policy or self.policy), json.dumps(library_paths()))
        process = subprocess.Popen(
            _python("spawn_main.py", theirs.fileno(), output_write, self.arrays, *settings),
            stdin=subprocess.DEVNULL,
            env=clean_environment(),
            pass_fds=[theirs.fileno(), output_write],
            start_new_session=True,
        )
        theirs.close()
        os.close(output_write)
        self._processes[process.pid] = process
        return Worker(process.pid, None, ours, output_read, self.limits, self._exit_code, self.vet)

    def _exit_code(self, pid: int) -> int | None:
        try:
            return self._processes[pid].wait(timeout=2)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """End every worker."""
        if self._ahead is not None:
            self._ahead.close()
        for process in self._processes.values():
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()


Launcher = ForkServerLauncher | SpawnLauncher


def start_launcher(
    arrays: str,
    policy: Mapping[str, Any],
    limits: Limits,
    *,
    spawn: bool = False,
    sandbox: bool = False,
    accept: Accept = accept_any,
) -> Launcher:
    """Start the launcher that works on this platform.

    Args:
        spawn: True forces one exec for each worker.
        sandbox: Put the parent of the workers into bubblewrap where that is available.
        accept: Called with the layers of each worker before it gets a learner's code; may raise to prevent that.
    """
    can_fork = sys.platform == "linux" and hasattr(os, "pidfd_open")
    if spawn or not can_fork:
        return SpawnLauncher(arrays, policy, limits, accept)
    return ForkServerLauncher(arrays, policy, limits, accept, sandbox)
