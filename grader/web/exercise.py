"""Read and write a learner's file for the editor in the page. What another editor wrote is never overwritten."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from grader.errors import WorkspaceError
from grader.files import is_file, read_bounded, refuse_link, replacing
from grader.submission import MAX_BYTES

ELSEWHERE = "change it in an editor of your own; its verdict is shown here all the same"


class Work(NamedTuple):
    """A file's text, with newlines as line ends, and by which its content is known."""

    text: str
    version: str


class Conflict(Exception):
    """The file is not what the page knew; `work` is what it is now."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self.work = work


def read_work(path: Path) -> Work:
    """Return the file. Raises WorkspaceError for one that is missing, a link, too large or not UTF-8 text."""
    return _decode(_read(path), path)


def write_work(path: Path, text: str, known: str) -> Work:
    """Replace the file if it still is the one that is `known`, or gone. Raises Conflict, WorkspaceError."""
    before = _read(path) if os.path.lexists(path) else b""
    now = _decode(before, path)
    if before and now.version != known:
        raise Conflict(now)
    ends = "\r\n" if b"\r\n" in before else "\n"
    raw = text.replace("\r\n", "\n").replace("\n", ends).encode("utf-8", "replace")
    if len(raw) > MAX_BYTES:
        raise WorkspaceError("the file would be larger than 250 kB", where=str(path), next_step="make it shorter")
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(raw)
            if before:
                shutil.copymode(path, temporary)
    except OSError as error:
        raise WorkspaceError(f"the file cannot be written: {error.strerror}", where=str(path)) from None
    return Work(text, version_of(raw))


def _decode(raw: bytes, path: Path) -> Work:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise WorkspaceError("the file is not UTF-8 text", where=str(path), next_step=ELSEWHERE) from None
    return Work(text.replace("\r\n", "\n").replace("\r", "\n"), version_of(raw))


def current_version(path: Path) -> str:
    """Return the version of a file as it is; "" where there is none to edit."""
    try:
        return read_work(path).version
    except WorkspaceError:
        return ""


def version_of(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:32]


def _read(path: Path) -> bytes:
    """Read an ordinary file: it or its folder could be a link out of the workspace, which somebody else has made."""
    try:
        refuse_link(path.parent)
        raw = read_bounded(path, MAX_BYTES + 1)
    except FileNotFoundError:
        next_step = "learn start (it adds the files that are missing)"
        raise WorkspaceError("there is no such file", where=str(path), next_step=next_step) from None
    except OSError as error:
        what = "a Python file is needed, and this is none" if not is_file(path) else "the file is not edited here"
        next_step = ELSEWHERE if is_file(path) else "move it away; `learn start` then adds the file"
        raise WorkspaceError(f"{what}: {error.strerror}", where=str(path), next_step=next_step) from None
    if len(raw) > MAX_BYTES:
        raise WorkspaceError("the file is larger than 250 kB", where=str(path), next_step=ELSEWHERE)
    return raw
