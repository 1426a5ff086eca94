"""Programs of ours in processes forked from one that has their imports: importing PyTorch anew takes seconds.

What depends on how Python itself starts (a variable PYTHON...) gets a Python of its own; so do tests that
start a program by themselves, or ask for the fixture `new_pythons`.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

from grader.judge.processes import launcher
from support.fork_server import KINDS, MAX_REQUEST_BYTES, ROOT, WORKERS_PARENT

FOLDER = "SELFATTEND_FORK_SERVERS"  # the variable that says where the servers of this run listen
SERVE = "import sys; sys.path.insert(1, {!r}); from support.fork_server import serve; serve({!r}, {!r})"
CAN_FORK = sys.platform == "linux"
_WORKERS_PARENT = [sys.executable, "-P", "-S", "-s", str(WORKERS_PARENT)]
_JUDGE = [sys.executable, "-P", "-m", "grader.batch.processes.process_main"]


class ForkServers:
    """The servers of one run of the tests, for all processes that share it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="forks-"))
        one_thread = dict.fromkeys(launcher.THREADS, "1")
        commands = {**os.environ, **one_thread, "PYTHONPATH": _python_path(), "PYTHONUTF8": "1"}
        commands["GLIBC_TUNABLES"] = launcher.clean_environment()["GLIBC_TUNABLES"]
        self._processes = [self._start(kind, commands) for kind in KINDS]
        for process in self._processes:
            assert process.stdout is not None and process.stdout.read(1) == b"!", "a fork server did not start"

    def _start(self, kind: str, commands: dict[str, str]) -> subprocess.Popen[bytes]:
        workers = kind.startswith("workers")
        return subprocess.Popen(
            [sys.executable, *(["-P", "-S", "-s"] if workers else []), "-c",
             SERVE.format(str(ROOT / "tests"), str(self.folder), kind)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            env=launcher.clean_environment() if workers else commands,
        )  # fmt: skip

    def close(self) -> None:
        """End them all."""
        for process in self._processes:
            process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)


class ForkedProcess:
    """A process that a server forked, with what we use of `subprocess.Popen`."""

    def __init__(self, told: int, args: Sequence[str] = ()) -> None:
        self._told = open(told)  # noqa: SIM115  # as long as the process
        self._waiting = threading.RLock()
        self.pid = int(self._told.readline())
        self.args = args
        self.returncode: int | None = None
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.stderr: IO[bytes] | None = None

    def wait(self, timeout: float | None = None) -> int:
        with self._waiting:
            if self.returncode is None:
                if not select.select([self._told], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(["the forked process"], timeout or 0)
                self.returncode = int(self._told.readline())
                self._told.close()
            return self.returncode

    def poll(self) -> int | None:
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended in between
                os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[None, bytes]:
        """Return what it writes to standard error until its end."""
        self.wait(timeout)
        return None, self.stderr.read() if self.stderr is not None else b""


def fork(
    kind: str, program: str, arguments: Sequence[str], *, cwd: str, env: Mapping[str, str], files: Sequence[int],
    numbers: Sequence[int] = (), **more: Any,
) -> ForkedProcess:  # fmt: skip
    """Have a program forked. *files* are its standard input, output and errors, and those to have *numbers*."""
    told, tells = os.pipe()
    request = {"program": program, "arguments": list(arguments), "cwd": cwd, "env": dict(env), "numbers": list(numbers),
               "cores": sorted(os.sched_getaffinity(0)), "session": False, "terminal": False, **more}  # fmt: skip
    try:
        socket.send_fds(_line_to(kind, os.getpid()), [json.dumps(request).encode()], [*files, tells])
    finally:
        os.close(tells)
    return ForkedProcess(told, arguments)


@cache
def _line_to(kind: str, _process: int) -> socket.socket:
    """Return this process's own connection to a server."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_REQUEST_BYTES)
    line.connect(str(Path(os.environ.get(FOLDER) or _here.folder, kind)))
    atexit.register(line.close)
    return line


# --- the engine's own processes ---------------------------------------------------------------------------------------

_here = SimpleNamespace(folder=Path(), arrays="torch", usual={}, clean={})


def start_by_fork(folder: Path, arrays: str = "torch") -> None:
    """Let the engine's modules in this process start what they start by fork. *arrays*: for processes that grade."""
    _here.folder, _here.arrays, _here.clean = folder, arrays, launcher.clean_environment()
    _here.usual = _special(os.environ)
    forking = SimpleNamespace(**{**vars(subprocess), "Popen": start_process})
    vars(launcher)["subprocess"] = forking


def start_process(command: Sequence[str], **options: Any) -> Any:
    """Do what `subprocess.Popen` does, by fork if this is a program of ours that starts as usual."""
    own = list(command)
    if own[:-3] == _WORKERS_PARENT and options["env"] == _here.clean:
        kind, program, more = f"workers-{own[-2]}", "workers", {"paths": json.loads(own[-1])}
    elif own[:-1] == _JUDGE and starts_as_usual(options["env"]):
        kind, program, more = f"commands-{_here.arrays}", "judge", {}
    else:
        return subprocess.Popen(command, **options)
    arguments = own[-3:] if program == "workers" else own[-1:]
    with contextlib.ExitStack() as stack:
        ends = [_ends(options[name], writes=name == "stdin") for name in ("stdin", "stdout", "stderr")]
        for theirs, _ in ends:
            stack.callback(os.close, theirs)
        numbers = tuple(options.get("pass_fds", ()))
        process = fork(
            kind, program, arguments, cwd=str(Path.cwd()), env=options["env"], files=[*(e for e, _ in ends), *numbers],
            numbers=numbers, session=True, **more,
        )  # fmt: skip
    process.stdin, process.stdout, process.stderr = (ours for _, ours in ends)
    return process


def _ends(wanted: Any, writes: bool) -> tuple[int, IO[bytes] | None]:
    """Return the file that a process gets, and our end of it if it is a pipe."""
    if wanted == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_RDWR), None
    if wanted != subprocess.PIPE:
        return os.dup(wanted.fileno()), None
    read, write = os.pipe()
    return (read, os.fdopen(write, "wb")) if writes else (write, os.fdopen(read, "rb"))


def starts_as_usual(env: Mapping[str, str]) -> bool:
    """Return True if a new Python would start with this environment as the server did with its own."""
    special = _special(env)
    return all(special[name] == _here.usual.get(name) for name in special)


def _special(env: Mapping[str, str]) -> dict[str, Any]:
    """Return the variables that matter to a Python that starts, but for what we set ourselves."""
    found: dict[str, Any] = {
        name: value
        for name, value in env.items()
        if name.startswith(("PYTHON", "LC_", "LANG")) and name != "PYTHONUTF8"
    }
    found["PYTHONPATH"] = {*env.get("PYTHONPATH", "").split(os.pathsep)} - {"", str(ROOT)}
    if env.get("PYTHONUTF8", "1") != "1":
        found["PYTHONUTF8"] = env["PYTHONUTF8"]
    return found


def _python_path() -> str:
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
