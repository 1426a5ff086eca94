"""What is looked at of what learners hand in, how much of it is read, and the one way to read a file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from grader.submission import MAX_BYTES

KEPT = (".py", ".ipynb")
ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")
KINDS = {".py": "python", ".ipynb": "notebook", ".zip": "zip", ".tar.gz": "tar", ".tgz": "tar", ".tar": "tar"}
NOISE = frozenset({"__pycache__", "__MACOSX", "Thumbs.db", "desktop.ini"})
LIBRARIES = frozenset({"site-packages", "venv", "env", "node_modules"})  # not the learner's own work
MOST_ENTRIES = 20_000  # looked at in one hand-in
MOST_FILES = 500  # kept of one hand-in
MOST_BYTES = 64 << 20  # kept of one hand-in
NOTEBOOK_BYTES = 32 << 20  # pictures are stored in notebooks
ARCHIVE_BYTES = 256 << 20  # of an archive itself, and of what a .tar.gz unpacks to
DIRECTORY_BYTES = 64 << 20  # of a zip's list of its members, whatever number of them it claims to have


def is_noise(name: str) -> bool:
    """Whether a file or folder of this name is the system's or the editor's, and no learner's."""
    return name.startswith((".", "~$")) or name in NOISE


def suffix_of(name: str) -> str:
    """The suffix that says what a file is, as it is written in the name; empty if it says nothing to us."""
    known = next((suffix for suffix in KINDS if name.lower().endswith(suffix)), "")
    return name[len(name) - len(known) :]


def kind_of(name: str) -> str:
    """One of the values of KINDS, by a file's name; empty for what is not read."""
    return KINDS.get(suffix_of(name).lower(), "")


def limit_for(path: str) -> int:
    """How much of a file is read: one byte more than is allowed, so that too large a file shows as too large."""
    if path.lower().endswith(ARCHIVES):
        return ARCHIVE_BYTES + 1
    return (NOTEBOOK_BYTES if path.lower().endswith(".ipynb") else MAX_BYTES) + 1


def read_bounded(path: Path, limit: int) -> bytes:
    """At most `limit` bytes of an ordinary file. Raises OSError; a link to a file is an error too."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123  Path.open knows no flags
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path.name} is no ordinary file")
        return file.read(limit)
