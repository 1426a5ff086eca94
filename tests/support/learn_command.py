"""Runs the learner's command as a learner does: in a process of its own, in a workspace, with real workers."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from grader.course import load
from grader.workspace import create
from support.command_server import run_command, start_command
from support.factories import course as of_checkout

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "tests/courses/tiny"
START = "from grader.cli.learn.group import main; main()"
SECONDS = 120

# What a user's own shell may have set and would change what is printed.
UNSET = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "SELFATTEND_COURSE", "PYTHONIOENCODING")


def environment(course: Path | None = TINY, **more: Any) -> dict[str, str]:
    """The environment of a command: ours, cleaned, with a course and 80 columns."""
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    chosen = {"SELFATTEND_COURSE": str(course)} if course else {}
    return {**kept, "PYTHONPATH": path, "COLUMNS": "80", "PYTHONUTF8": "1", **chosen, **more}


def learn(
    *arguments: str, cwd: Path, course: Path | None = TINY, stdin: str = "", **more: Any
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """`learn ARGUMENTS` in `cwd`, with what it printed; `more` goes into its environment."""
    return run_command("learn", *arguments, cwd=cwd, env=environment(course, **more), stdin=stdin, timeout=SECONDS)


def start_workspace(folder: Path, course: Path = TINY) -> Path:
    """Make a workspace as `learn start` does, without a process for it."""
    create(folder, of_checkout() if course == ROOT else load(course))
    return folder


def run_code(code: str, cwd: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """A piece of Python in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env=environment(**more), capture_output=True, text=True, timeout=SECONDS,
        check=False,
    )  # fmt: skip


def answer(workspace: Path, lesson: str, source: str | None = None) -> Path:
    """Write `source`, or the reference, into the workspace's file of a lesson of the tiny course."""
    file = workspace / "basics" / f"{lesson}.py"
    file.write_text(source or (TINY / "solutions/basics" / f"{lesson}.py").read_text())
    return file


def solve(workspace: Path, lesson: str) -> None:
    """Have a lesson recorded as solved."""
    answer(workspace, lesson)
    assert learn("check", lesson, cwd=workspace).returncode == 0


def in_a_terminal(
    *arguments: str, cwd: Path, columns: int = 80, keys: tuple[str, str] | None = None, **more: Any
) -> tuple[str, int]:  # fmt: skip
    """What `learn` prints where it has a terminal, and its exit code. `keys`: after the first, the second is typed."""
    ours, theirs = pty.openpty()
    variables = environment(**{"TERM": "xterm", "LINES": "200", **more}) | {"COLUMNS": str(columns)}
    process = start_command("learn", arguments, cwd, variables, (theirs, theirs, theirs), terminal=True)
    os.close(theirs)
    try:
        text = _typed(ours, keys)
        return text, process.wait(SECONDS)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _typed(terminal: int, keys: tuple[str, str] | None) -> str:
    """Everything that appears on a terminal until its other end is closed."""
    text, deadline = b"", time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 1.0)[0]:
            try:
                text += os.read(terminal, 1 << 16)
            except OSError:  # the other end is closed
                break
        elif keys and keys[0].encode() in text:
            os.write(terminal, keys[1].encode())
    return text.decode().replace("\r\n", "\n")
