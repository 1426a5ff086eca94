"""Runs `learn` and `grader` as a shell does, but forked from a process that has their imports.

So it does `code`, a program whose first argument is its source: what a test does in a process of its own.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Protocol

from support.fork_server import START, TAKE_TERMINAL
from support.forked_processes import CAN_FORK, fork, starts_as_usual

SECONDS = 120


class Command(Protocol):
    """What tests ask of a started command, as `subprocess.Popen` has it."""

    pid: int

    def wait(self, timeout: float | None = None) -> int: ...
    def poll(self) -> int | None: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...


def start_command(
    program: str, arguments: tuple[str, ...], cwd: Path, env: Mapping[str, str], files: tuple[int, int, int],
    terminal: bool = False, one_core: bool = False,
) -> Command:  # fmt: skip
    """Start `learn`, `grader` or `code` with its three standard files; `terminal`: input is to be its own one."""
    if not (CAN_FORK and starts_as_usual(env)):
        code = (TAKE_TERMINAL if terminal else "") + START.format(program)
        return subprocess.Popen(
            [sys.executable, "-c", *(() if program == "code" else (code,)), *arguments],
            cwd=cwd, env=env, stdin=files[0], stdout=files[1], stderr=files[2], start_new_session=terminal,
            preexec_fn=stay_on_one_core if one_core else None,
        )  # fmt: skip
    arrays = "numpy" if "courses/tiny" in env.get("SELFATTEND_COURSE", "") else "torch"
    cores = {"cores": [random.choice(sorted(os.sched_getaffinity(0)))]} if one_core else {}
    return fork(
        f"commands-{arrays}", program, arguments, cwd=str(cwd), env=env, files=files, terminal=terminal,
        session=terminal, **cores,
    )  # fmt: skip


def run_command(
    program: str, *arguments: object, cwd: Path, env: Mapping[str, str], stdin: str = "", timeout: float = SECONDS,
    one_core: bool = False, errors: str = "strict",
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
        return subprocess.CompletedProcess(typed, code, _text(out, errors), _text(err, errors))


def stay_on_one_core() -> None:
    """Let this process and what it starts see one core, whichever."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})


def _text(file: IO[bytes], errors: str) -> str:
    file.seek(0)
    return file.read().decode(errors=errors).replace("\r\n", "\n")
