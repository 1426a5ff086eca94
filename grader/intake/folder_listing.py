"""What lies in a folder of submissions, or in the archive of a whole class: its direct children. Nothing is run."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from grader.errors import SubmissionError
from grader.intake.formats.class_zip import ClassArchive, open_class, require_class
from grader.intake.formats.zip_member import Note
from grader.intake.limits import is_noise, kind_of, read_bounded, suffix_of

IN_MEMORY_BYTES = 64 << 20  # of an archive that lies in the archive of a class
MOST_DATED = 1_000  # files of a folder whose dates are looked at
MOST_WRAPPED = 4  # folders, one in the other, that hold everything


@dataclass(frozen=True)
class Entry:
    """A file or a folder: at `path`, or in the archive there, by the name `inside` (a folder's ends with "/").

    `kind` is "folder", "git", one of `bounds.KINDS`, or empty for what is not read.
    """

    name: str
    path: Path
    kind: str
    inside: str = ""

    @property
    def stem(self) -> str:
        """The name without the suffix that says what it is."""
        return self.name if self.kind in ("folder", "git") else self.name.removesuffix(suffix_of(self.name))

    def when(self) -> float:
        """When it was last changed, to compare with others of the same place; 0.0 where that is not known."""
        if self.inside:
            return open_class(self.path).when(self.inside)
        try:
            times = [self.path.stat().st_mtime]
            if self.kind == "folder":
                children = [child for child, _ in zip(self.path.iterdir(), range(MOST_DATED), strict=False)]
                times += [child.lstat().st_mtime for child in children]
            return max(times)
        except OSError:
            return 0.0


def read_file(path: Path, inside: str, limit: int, note: Note) -> bytes | None:
    """At most `limit` bytes of a file; None, and a note, if the archive it lies in has it damaged. Raises OSError."""
    return open_class(path).read(inside, limit, note) if inside else read_bounded(path, limit)


@contextmanager
def opened_file(path: Path, inside: str, note: Note) -> Iterator[BinaryIO]:
    """A file to move about in, as archives are read. Raises OSError."""
    if not inside:
        read_bounded(path, 1)  # refuses links, pipes and what may not be read
        with path.open("rb") as file:
            yield file
        return
    content = open_class(path).read(inside, IN_MEMORY_BYTES + 1, note)
    if content is None or len(content) > IN_MEMORY_BYTES:
        raise OSError(f"it is larger than {IN_MEMORY_BYTES >> 20} MB" if content else "it is damaged")
    yield io.BytesIO(content)


def entries_of(
    source: Path, leave_out: Path | None = None, has_hand_ins: Callable[[Sequence[str]], bool] | None = None
) -> list[Entry]:
    """The direct children of a folder or of the archive of a class, sorted; the system's leftovers and `leave_out`
    (where results go) are none.

    Archives, and some downloads, hold everything in one folder more: if `has_hand_ins` says that none of the names is
    one of a hand-in, the lone folder among them is opened instead. Raises SubmissionError.
    """
    if source.is_file():
        return _of_archive(source, has_hand_ins)
    entries = _of_folder(source, leave_out)
    folders = [entry for entry in entries if entry.kind == "folder"]
    if has_hand_ins and len(folders) == 1 and not has_hand_ins([entry.name for entry in entries]):
        return _of_folder(folders[0].path, leave_out)
    return entries


def _of_folder(folder: Path, leave_out: Path | None) -> list[Entry]:
    try:
        children = sorted(folder.iterdir(), key=lambda child: child.name)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        what = "there is no such folder, archive or list" if missing else f"cannot be listed: {error.strerror}"
        raise SubmissionError(what, where=str(folder), next_step="grader run SUBMISSIONS --out DIR") from None
    away = leave_out.resolve() if leave_out else None
    here = folder.resolve()
    return [
        Entry(child.name, child, _kind(child))
        for child in children
        if not is_noise(child.name) and here / child.name != away
    ]


def _kind(child: Path) -> str:
    try:
        if child.is_dir():
            return "folder"
        return kind_of(child.name) if child.is_file() else ""
    except OSError:
        return ""


def _of_archive(path: Path, has_hand_ins: Callable[[Sequence[str]], bool] | None) -> list[Entry]:
    archive = require_class(path)
    names = _listed(archive, "")
    for _ in range(MOST_WRAPPED if has_hand_ins else 1):
        folders = [name for name in names if name.endswith("/")]
        if len(folders) == 1 and (len(names) == 1 if not has_hand_ins else not has_hand_ins(list(map(_last, names)))):
            names = _listed(archive, folders[0])
    return [
        Entry(_last(name), path, "folder" if name.endswith("/") else kind_of(name), name)
        for name in names
    ]  # fmt: skip


def _listed(archive: ClassArchive, folder: str) -> list[str]:
    return [name for name in archive.children(folder) if not is_noise(_last(name))]


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]
