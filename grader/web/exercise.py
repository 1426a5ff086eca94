"""Read and write a learner's file for the editor in the page. What another editor wrote is never overwritten."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from grader.errors import SubmissionError, WorkspaceError
from grader.files import is_file, read_bounded, refuse_link, replacing
from grader.submission import MAX_BYTES, UTF8_BOM, decode_source, encode_source

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
    """Return the file. Raises WorkspaceError for one that is missing, a link, too large or no text."""
    return _decode(_read(path), path)


def write_work(path: Path, text: str, known: str) -> Work:
    """Replace the file if it still is the one that is `known`, or gone, and return it as it is read back.

    It is written in the encoding that the text declares. Raises Conflict, WorkspaceError.
    """
    before = _read(path) if os.path.lexists(path) else b""
    now = _decode(before, path)
    if before and now.version != known:
        raise Conflict(now)
    raw = _encode(text, before, path)
    if len(raw) > MAX_BYTES:
        raise WorkspaceError("the file would be larger than 250 kB", where=str(path), next_step="make it shorter")
    written = _decode(raw, path)
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(raw)
            if before:
                shutil.copymode(path, temporary)
    except OSError as error:
        raise WorkspaceError(f"the file cannot be written: {error.strerror}", where=str(path)) from None
    return written


def _encode(text: str, before: bytes, path: Path) -> bytes:
    """Return the text with the line ends, and the mark of UTF-8, that the file has had before."""
    ends = "\r\n" if b"\r\n" in before else "\n"
    mark = UTF8_BOM if before.startswith(UTF8_BOM) else b""
    try:
        return mark + encode_source(text.replace("\r\n", "\n").replace("\n", ends))
    except UnicodeEncodeError as error:
        what = f"the file cannot be written: {error.encoding} has no {error.object[error.start]!r}"
        next_step = "leave that sign out, or change the `coding` line to utf-8"
        raise WorkspaceError(what, where=str(path), next_step=next_step) from None


def _decode(raw: bytes, path: Path) -> Work:
    try:
        return Work(decode_source(raw, path), version_of(raw))
    except SubmissionError as error:
        raise WorkspaceError(error.what, where=error.where, next_step=ELSEWHERE) from None


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
