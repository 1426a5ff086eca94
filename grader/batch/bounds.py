"""How much is read of what learners hand in, and the one way to read it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from grader.submission import MAX_BYTES

KEPT = (".py", ".ipynb")
LIBRARIES = frozenset({"site-packages", "venv", "env", "node_modules"})  # not the learner's own work
MOST_ENTRIES = 20_000  # looked at in one hand-in
MOST_FILES = 500  # kept of one hand-in
MOST_BYTES = 64 << 20  # kept of one hand-in
NOTEBOOK_BYTES = 32 << 20  # pictures are stored in notebooks
ARCHIVE_BYTES = 256 << 20  # of the archive itself


def limit_for(path: str) -> int:
    """How much of a file is read: one byte more than is allowed, so that too large a file shows as too large."""
    return (NOTEBOOK_BYTES if path.lower().endswith(".ipynb") else MAX_BYTES) + 1


def read_bounded(path: Path, limit: int) -> bytes:
    """At most `limit` bytes of an ordinary file. Raises OSError; a link to a file is an error too."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123  Path.open knows no flags
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is no ordinary file")
        return file.read(limit)
