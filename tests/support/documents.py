"""Read the fenced blocks of a document, run its commands, and compare what they print with what it shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from support.command_server import run_command, stay_on_one_core

BIN = Path(sys.executable).parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = 120
BEGINNING = re.compile(r"(?:cd ([\w./-]+) && |([A-Z]+)=(\w+) )(.*)", re.DOTALL)
FOR_A_SHELL = re.compile(r"[|&;<>$`*?~#(){}\n\\]")


def shell(
    command: str, cwd: Path, *, one_core: bool = False, from_nothing: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a line as a shell would, with our commands on the path and 80 columns.

    With `one_core` it sees a machine with one core: a class is graded in one process, not in one for each core. A line
    that is a command of ours alone is forked from a process that has its imports, unless it is to start `from_nothing`.
    """
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "COLUMNS": "80", "NO_COLOR": "1"}
    while begin := BEGINNING.match(command):
        folder, name, value, command = begin.groups()
        cwd, environment = cwd / (folder or ""), environment | ({name: value} if name else {})
    words = shlex.split(command)
    if words[0] in ("learn", "grader") and not (from_nothing or FOR_A_SHELL.search(command)):
        return run_command(*words, cwd=cwd, env=environment, one_core=one_core)
    return subprocess.run(
        command, shell=True, cwd=cwd, env=environment, capture_output=True, text=True, timeout=SECONDS,
        preexec_fn=stay_on_one_core if one_core else None,
    )  # fmt: skip


def sessions(text: str) -> list[tuple[str, str]]:
    """The commands of a `console` block, each with what the document shows of its output."""
    return [(command, shown) for command, _, shown in
            (each.partition("\n") for each in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:])]  # fmt: skip


def first_missing(shown: str, printed: str) -> str:
    """The first line shown that is not printed after the ones before it; "" if all are. `...` stands for anything."""
    lines = iter([line.rstrip() for line in printed.splitlines()])
    for line in shown.splitlines():
        if line.strip() != "..." and not any(found == line.rstrip() for found in lines):
            return line
    return ""
