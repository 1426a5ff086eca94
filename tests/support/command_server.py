"""Runs `learn` and `grader` in processes forked from one that has their imports: importing PyTorch anew takes seconds.

The forked process has the arguments, folder, environment, files and terminal it is given, and starts its own workers as
ever. What depends on how Python itself starts (a variable PYTHON..., coverage) gets a Python of its own; so do tests
that start a command by themselves.
"""

from __future__ import annotations

import atexit
import importlib
import io
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn, Protocol

from grader.cli.grader import group as grader_group
from grader.cli.learn import group as learn_group

ROOT = Path(__file__).resolve().parents[2]
START = "from grader.cli.{}.group import main; main()"
TAKE_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
SERVE = "import sys; sys.path.insert(1, {!r}); from support.command_server import serve; serve({!r}, {!r})"
COMMANDS = {place.partition(":")[0] for group in (learn_group, grader_group) for place in group.COMMANDS.values()}
PRELOADED = (
    "_pytest.helpconfig", "_pytest.skipping", "numpy.random", "rich.console", "rich.markdown", "tomllib",
    "grader.api.checks", "grader.api.questions", "grader.batch.run", "grader.judge.examination",
    "grader.reports.formats.to_terminal", *COMMANDS,
)  # fmt: skip
SECONDS = 120
_MOST_BYTES = 1 << 20


class Command(Protocol):
    """What tests ask of a started command, as `subprocess.Popen` has it."""

    pid: int

    def wait(self, timeout: float | None = None) -> int: ...
    def poll(self) -> int | None: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...


class ForkedCommand:
    """A command in a forked process; its end is told by the process that waits for it."""

    def __init__(self, told: int) -> None:
        self._told = open(told)  # noqa: SIM115  # as long as the command
        self.pid = int(self._told.readline())
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(["the forked command"], timeout or 0)
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
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def start_command(
    program: str, arguments: tuple[str, ...], cwd: Path, env: Mapping[str, str], files: tuple[int, int, int],
    terminal: bool = False, one_core: bool = False,
) -> Command:  # fmt: skip
    """Start `learn` or `grader`, with standard input, output and errors; `terminal`: input is to be its own one."""
    if _needs_python(env):
        code = (TAKE_TERMINAL if terminal else "") + START.format(program)
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=cwd, env=env, stdin=files[0], stdout=files[1], stderr=files[2], start_new_session=terminal,
            preexec_fn=stay_on_one_core if one_core else None,
        )  # fmt: skip
    arrays = "numpy" if "courses/tiny" in env.get("SELFATTEND_COURSE", "") else "torch"
    told, tells = os.pipe()
    request = {
        "program": program, "arguments": arguments, "cwd": str(cwd), "env": dict(env), "terminal": terminal,
        "one_core": one_core,
    }  # fmt: skip
    try:
        socket.send_fds(_server(arrays), [json.dumps(request).encode()], [*files, tells])
    finally:
        os.close(tells)
    return ForkedCommand(told)


def run_command(
    program: str, *arguments: object, cwd: Path, env: Mapping[str, str], stdin: str = "", timeout: float = SECONDS,
    one_core: bool = False,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """What a command printed, and its exit code."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        typed = tuple(map(str, arguments))
        command = start_command(
            program, typed, cwd, env, (given.fileno(), out.fileno(), err.fileno()), one_core=one_core
        )
        try:
            code = command.wait(timeout)
        finally:
            command.kill()
        return subprocess.CompletedProcess(typed, code, _text(out), _text(err))


def stay_on_one_core() -> None:
    """Let this process and what it starts see one core, whichever."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


def _needs_python(env: Mapping[str, str]) -> bool:
    usual = {"PYTHONPATH": _python_path(), "PYTHONUTF8": "1"}
    special = {
        name: value for name, value in env.items()
        if name.startswith(("PYTHON", "LC_", "LANG")) and value not in (os.environ.get(name), usual.get(name))
    }  # fmt: skip
    return sys.platform != "linux" or "COVERAGE_PROCESS_CONFIG" in os.environ or bool(special)


def _python_path() -> str:
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


@cache
def _server(arrays: str) -> socket.socket:
    """Start the process to fork from, with or without PyTorch."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MOST_BYTES)
    code = SERVE.format(str(ROOT / "tests"), its.fileno(), arrays)
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **one_thread, "PYTHONPATH": _python_path(), "PYTHONUTF8": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", code], pass_fds=[its.fileno()], env=environment, start_new_session=True
    )
    its.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def serve(number: int, arrays: str) -> None:
    """Fork a process for each command that is asked for, until nobody can ask any more."""
    sys.path.remove(str(ROOT / "tests"))
    for name in (*PRELOADED, arrays):
        importlib.import_module(name)
    asked = socket.socket(fileno=number)
    while True:
        request, files, _, _ = socket.recv_fds(asked, _MOST_BYTES, 4)
        if not request:
            return
        if not os.fork():
            asked.close()
            _fork_and_wait(json.loads(request), files[:3], files[3])
        for file in files:
            os.close(file)
        while _ended_child():
            pass


def _ended_child() -> int:
    try:
        return os.waitpid(-1, os.WNOHANG)[0]
    except ChildProcessError:
        return 0


def _fork_and_wait(request: dict[str, Any], files: list[int], tells: int) -> NoReturn:
    """Fork the command, and tell its number and, at its end, its exit code."""
    pid = os.fork()
    if not pid:
        os.close(tells)
        _become_command(request, files)
    for file in (0, 1, 2, *files):
        os.close(file)
    os.write(tells, f"{pid}\n".encode())
    os.write(tells, f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode())
    os._exit(0)


def _become_command(request: dict[str, Any], files: list[int]) -> NoReturn:
    """Be what a new Python is before its first statement, then run the command; it ends the process itself."""
    if request["terminal"]:
        os.setsid()
    if request["one_core"]:
        stay_on_one_core()
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(3, 256)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = _output(1, "surrogateescape")
    sys.stderr = _output(2, "backslashreplace")
    sys.argv = ["-c", *request["arguments"]]
    exec(TAKE_TERMINAL if request["terminal"] else "", {})
    exec(START.format(request["program"]), {})
    os._exit(70)  # not reached


def _output(number: int, errors: str) -> io.TextIOWrapper:
    lines = number == 2 or os.isatty(number)
    return open(number, "w", encoding="utf-8", errors=errors, closefd=False, buffering=1 if lines else -1)
