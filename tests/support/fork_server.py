"""A process that has the imports of a kind of program of ours, and forks one whenever a test asks for it.

    commands-torch, commands-numpy    `learn`, `grader`, the processes that grade, and code of a test
    workers-torch, workers-numpy      the parents of workers

It imports when it is first asked, so that a run that needs none of a kind pays nothing for it. A forked process has the
arguments, folder, environment and files it is given, and its number and exit code are told through a pipe. The server
ends once its standard input is closed: nobody can ask any more. Only the standard library is imported here.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import sys
import sysconfig
import tempfile
import time
import traceback
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
WORKERS_PARENT = ROOT / "grader" / "worker" / "fork_server.py"
START = "from grader.cli.{}.group import main; main()"
TAKE_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
KINDS = ("commands-torch", "commands-numpy", "workers-torch", "workers-numpy")
PRELOADED = (
    "_pytest._argcomplete", "_pytest.helpconfig", "_pytest.skipping", "encodings.ascii", "encodings.unicode_escape",
    "encodings.utf_8_sig", "jinja2.tests", "numpy.ma", "numpy.random", "pygments.lexers.special", "resource",
    "rich.console", "rich.markdown", "statistics", "tomllib", "urllib.request", "xml.sax.saxutils",
    "grader.api.checks", "grader.api.questions", "grader.batch.one_learner.grade_learner",
    "grader.batch.processes.process_main", "grader.batch.run",
    "grader.judge.examination", "grader.judge.processes.bubblewrap",
    "grader.reports.charts", "grader.reports.formats.to_csv", "grader.reports.formats.to_gradescope",
    "grader.reports.formats.to_json", "grader.reports.formats.to_junit", "grader.reports.formats.to_markdown",
    "grader.reports.formats.to_terminal", "grader.reports.pages.class_page", "grader.reports.pages.feedback_page",
    "grader.reports.redact_record", "grader.terminal.markdown", "grader.worker.isolation.readable_paths",
)  # fmt: skip
MAX_REQUEST_BYTES = 1 << 20
MAX_FILES = 8
_UNUSED = 300  # numbers of files from here on are free, and those below are closed


def serve(folder: str, kind: str) -> None:
    """Fork a process for each request until standard input ends."""
    sys.path.remove(str(ROOT / "tests"))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(Path(folder, kind)))
    listener.listen(64)
    ended, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    os.write(1, b"!")
    clients: list[socket.socket] = []
    running: dict[int, int] = {}  # the number of each process, and the file that its end is told to
    while True:
        ready = select.select([0, ended, listener.fileno(), *(client.fileno() for client in clients)], [], [])[0]
        if 0 in ready:
            return
        if ended in ready:
            os.read(ended, 4096)
            _tell_ends(running)
        for client in [client for client in clients if client.fileno() in ready]:
            if not _serve_one(client, kind, folder, running):
                client.close()
                clients.remove(client)
        if listener.fileno() in ready:
            clients.append(listener.accept()[0])


def _serve_one(client: socket.socket, kind: str, folder: str, running: dict[int, int]) -> bool:
    """Fork what the next request of a client asks for; return False if there are no more requests."""
    data, files, _, _ = socket.recv_fds(client, MAX_REQUEST_BYTES, MAX_FILES)
    if not data:
        return False
    request = json.loads(data)
    _prepare(kind, folder, tuple(request.get("paths", ())))
    *given, tells = files
    pid = os.fork()
    if not pid:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it for all that it starts
        _become(request, given)
    for file in given:
        os.close(file)
    running[pid] = tells
    _tell(tells, pid)
    return True


def _tell_ends(running: dict[int, int]) -> None:
    """Tell the exit code of each process that has ended."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        tells = running.pop(pid)
        _tell(tells, os.waitstatus_to_exitcode(status))
        os.close(tells)


def _tell(file: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # whoever asked is gone
        os.write(file, f"{number}\n".encode())


@cache
def _prepare(kind: str, folder: str, paths: tuple[str, ...]) -> None:
    """Import what the programs of this kind import."""
    program, _, arrays = kind.partition("-")
    if program == "workers":
        gc.disable()  # as the program itself does
        sys.path[:0] = paths
        sys.path.append(str(ROOT))
        from grader.worker import isolation, preload, serve  # noqa: F401

        preload.import_array_library(arrays)
        del sys.path[: len(paths)], sys.path[-1]
        _worker_parent_code()
        return
    groups = [importlib.import_module(f"grader.cli.{name}.group") for name in ("learn", "grader")]
    commands = {place.partition(":")[0] for group in groups for place in group.COMMANDS.values()}
    for name in (*PRELOADED, *sorted(commands), arrays):
        importlib.import_module(name)
    sysconfig.get_config_vars()
    _compile_templates()
    sys.path.insert(1, str(ROOT / "tests"))
    from support import forked_processes  # not before: it imports the engine

    sys.path.remove(str(ROOT / "tests"))
    forked_processes.start_by_fork(Path(folder), arrays)
    gc.freeze()  # else a collection in a forked process copies every page that has an object


def _compile_templates() -> None:
    """Compile the templates of all pages: that is most of what a command spends that writes a few."""
    from grader.reports import html_document

    for folder in (html_document.TEMPLATES, ROOT / "grader" / "web" / "templates"):
        environment = html_document._environment(folder)
        for path in folder.rglob("*.j2"):
            environment.get_template(path.relative_to(folder).as_posix())


@cache
def _worker_parent_code() -> CodeType:
    return compile(WORKERS_PARENT.read_text("utf-8"), str(WORKERS_PARENT), "exec")


def _become(request: dict[str, Any], files: list[int]) -> NoReturn:
    """Be what a new Python is before its first statement, then run the program."""
    if request["session"]:
        os.setsid()
    os.sched_setaffinity(0, request["cores"])
    _take_files(files, (0, 1, 2, *request["numbers"]))
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    tempfile.tempdir = None  # as the environment says
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = _output(1, "surrogateescape")
    sys.stderr = _output(2, "backslashreplace")
    sys.argv = ["-c", *request["arguments"]]
    try:
        _run(request["program"], request["terminal"])
    except SystemExit as end:
        _end(end.code if isinstance(end.code, int) else 1)
    except BaseException:
        traceback.print_exc()
        _end(1)
    _end(0)


def _run(program: str, terminal: bool) -> None:
    if program == "workers":
        main = vars(sys.modules["__main__"])
        main["__file__"] = str(WORKERS_PARENT)
        exec(_worker_parent_code(), main)
    elif program == "judge":
        from grader.batch.processes import process_main
        from grader.batch.settings import Settings

        sys.path.remove("")  # `python -P`
        sys.exit(process_main.main(Settings.from_dict(json.loads(sys.argv[1]))))
    elif program == "code":
        source = sys.argv.pop(1)
        exec(compile(source, "<string>", "exec"), {"__name__": "__main__"})
    else:
        exec(TAKE_TERMINAL if terminal else "", {})
        exec(START.format(program), {})


def _end(code: int) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _take_files(files: list[int], numbers: tuple[int, ...]) -> None:
    """Let the files given be these numbers, and close all others."""
    kept = [fcntl.fcntl(file, fcntl.F_DUPFD, _UNUSED) for file in files]
    os.closerange(3, _UNUSED)
    for file, number in zip(kept, numbers, strict=True):
        os.dup2(file, number)
        os.close(file)


def _output(number: int, errors: str) -> io.TextIOWrapper:
    lines = number == 2 or os.isatty(number)
    return open(number, "w", encoding="utf-8", errors=errors, closefd=False, buffering=1 if lines else -1)
