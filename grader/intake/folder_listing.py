"""The direct children of a folder of submissions, or of the archive of a whole class. Nothing is run."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from grader.errors import SubmissionError
from grader.files import blaming_the_machine, is_file, read_bounded, resolved
from grader.intake.formats.class_zip import ClassArchive, open_class, require_class
from grader.intake.formats.zip_member import Note
from grader.intake.learner import Entry
from grader.intake.limits import is_noise, kind_of, may_be_hidden

MAX_INNER_ARCHIVE_BYTES = 64 << 20  # of an archive inside the archive of a class, which is read into memory
MAX_WRAPPING_FOLDERS = 4  # folders, one inside the other, that hold everything

HasHandIns = Callable[[Sequence[str]], bool]


@blaming_the_machine()
def read_file(path: Path, inside: str, limit: int, note: Note) -> bytes | None:
    """Read at most *limit* bytes of a file; None, and a note, if it is damaged in its archive. Raises OSError."""
    return open_class(path).read(inside, limit, note) if inside else read_bounded(path, limit)


@contextmanager
def open_file(path: Path, inside: str, note: Note) -> Iterator[BinaryIO]:
    """Open a file that can be sought in, as archives are read. Raises OSError."""
    if not inside:
        with blaming_the_machine():
            read_bounded(path, 1)  # refuses links, pipes and what may not be read
            with path.open("rb") as file:
                yield file
        return
    content = read_file(path, inside, MAX_INNER_ARCHIVE_BYTES + 1, note)
    if content is None or len(content) > MAX_INNER_ARCHIVE_BYTES:
        raise OSError(f"it is larger than {MAX_INNER_ARCHIVE_BYTES >> 20} MB" if content else "it is damaged")
    yield io.BytesIO(content)


def list_entries(source: Path, leave_out: Path | None = None, has_hand_ins: HasHandIns | None = None) -> list[Entry]:
    """List the direct children of a folder or of a class's archive, sorted, without system files and *leave_out*.

    What is hidden and may be a learner's is there, too. Archives, and some downloads, hold everything in
    one more folder: if *has_hand_ins* is False for all names, the only folder among them is opened instead. Raises
    SubmissionError.
    """
    if is_file(source):
        return _list_archive(source, has_hand_ins)
    entries = _list_folder(source, leave_out)
    own = [entry for entry in entries if entry.kind == "folder" and not is_noise(entry.name)]
    folders = [entry for entry in own if not entry.path.is_symlink()]
    if has_hand_ins and len(folders) == 1 and not has_hand_ins([entry.name for entry in entries]):
        return _list_folder(folders[0].path, leave_out)
    return entries


def _list_folder(folder: Path, leave_out: Path | None) -> list[Entry]:
    try:
        children = sorted(folder.iterdir(), key=lambda child: child.name)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        what = "there is no such folder, archive or list" if missing else f"cannot be listed: {error.strerror}"
        raise SubmissionError(what, where=str(folder), next_step="grader run SUBMISSIONS --out DIR") from None
    left_out = resolved(leave_out) if leave_out else None
    here = resolved(folder)
    shown = [child for child in children if here / child.name != left_out]
    return [
        Entry(child.name, child, _kind(child))
        for child in shown
        if not is_noise(child.name) or (may_be_hidden(child.name) and _kind(child))
    ]


def _kind(child: Path) -> str:
    """Return the kind of an entry; of a link what its name says, since where it leads is not looked at."""
    try:
        with blaming_the_machine():
            if child.is_symlink():
                return kind_of(child.name) or "folder"
            if child.is_dir():
                return "folder"
            return kind_of(child.name) if child.is_file() else ""
    except OSError:
        return ""


def _list_archive(path: Path, has_hand_ins: HasHandIns | None) -> list[Entry]:
    archive = require_class(path)
    inside = ""
    names = _children(archive, inside)
    for _ in range(MAX_WRAPPING_FOLDERS if has_hand_ins else 1):
        folders = [name for name in names if name.endswith("/")]
        wraps = not has_hand_ins(list(map(_last, names))) if has_hand_ins else len(names) == 1
        if len(folders) == 1 and wraps:
            inside = folders[0]
            names = _children(archive, inside)
    hidden = [name for name in archive.children(inside) if may_be_hidden(_last(name)) and _kind_inside(name)]
    return [Entry(_last(name), path, _kind_inside(name), name) for name in names + hidden]


def _kind_inside(name: str) -> str:
    return "folder" if name.endswith("/") else kind_of(name)


def _children(archive: ClassArchive, folder: str) -> list[str]:
    return [name for name in archive.children(folder) if not is_noise(_last(name))]


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]
