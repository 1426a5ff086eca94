"""The .zip of a whole class, as Canvas, Moodle and Gradescope export it: read in place, never unpacked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from grader.errors import SubmissionError
from grader.files import blaming_the_machine, read_bounded, resolved
from grader.intake.formats.zip_member import (
    TWICE,
    ArchiveError,
    Note,
    last_of_each,
    list_members,
    read_member,
    why_refused,
)
from grader.intake.limits import MAX_DIRECTORY_BYTES, is_own, is_source


class ClassArchive:
    """The contents of an archive. `members` are its files by name; `refused` are names that no file may have, with why.

    Names of folders end with "/".
    """

    def __init__(self, path: Path) -> None:
        """Read the list of members. Raises ArchiveError, OSError."""
        self.path = path
        read_bounded(path, 1)  # refuses pipes and what may not be read
        with path.open("rb") as file:
            members = list_members(file, MAX_DIRECTORY_BYTES)
        self.refused = {name: why for name, _ in members if (why := why_refused(name))}
        self.members, self._twice = last_of_each((name, info) for name, info in members if name not in self.refused)
        self._children: dict[str, dict[str, None]] = {}
        for name in self.members:
            self._list(name)

    def _list(self, name: str) -> None:
        """Add a file to the listing of its folder, and its folders to theirs."""
        while name:
            folder = name.rstrip("/").rpartition("/")[0]
            folder = f"{folder}/" if folder else ""
            listing = self._children.setdefault(folder, {})
            if name in listing:
                return
            listing[name] = None
            name = folder

    def children(self, folder: str = "") -> list[str]:
        """Return the names of what lies directly in a folder, sorted."""
        return sorted(self._children.get(folder, ()), key=lambda name: name.rstrip("/"))

    def below(self, folder: str, is_wanted: Callable[[str], bool] = is_own) -> Iterator[str]:
        """Yield the learner's own files below a folder, or those wanted, those near the top first."""
        waiting = [folder]
        while waiting:
            names = [name for parent in waiting for name in self.children(parent) if is_wanted(name[len(folder) :])]
            yield from (name for name in names if not name.endswith("/"))
            waiting = [name for name in names if name.endswith("/")]

    def modified_at(self, name: str) -> float:
        """Return when a file, or the newest of a folder, was last changed, comparable within this archive."""
        names = self.below(name) if name.endswith("/") else [name]
        times = [self.members[one].date_time for one in names if is_source(one) or one == name]
        year, month, day, hour, minute, second = max(times, default=(0, 0, 0, 0, 0, 0))
        return ((((year * 12.0 + month) * 31 + day) * 24 + hour) * 60 + minute) * 60 + second

    def read(self, name: str, limit: int, note: Note) -> bytes | None:
        """Read at most *limit* bytes of a file; None, and a note, if it cannot be read. Raises OSError."""
        if name not in self.members:
            raise FileNotFoundError(f"the archive does not hold {name} any more")
        if name in self._twice:
            note(TWICE.format(name))
        with self.path.open("rb") as file:
            return read_member(file, self.members[name], limit, note)


def open_class(path: Path) -> ClassArchive:
    """Open the archive at *path*; its list of members is read again only once it changed.

    Raises ArchiveError, OSError.
    """
    path = resolved(path)
    status = path.stat()
    return _read_archive(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1)
@blaming_the_machine()
def _read_archive(path: Path, size: int, changed: int) -> ClassArchive:
    return ClassArchive(path)


def require_class(path: Path) -> ClassArchive:
    """Open the archive that the instructor named. Raises SubmissionError."""
    try:
        return open_class(path)
    except (ArchiveError, OSError) as error:
        what = f"this archive cannot be read: {getattr(error, 'strerror', None) or str(error).rstrip('.')}"
        next_step = "download it again, or unpack it and name the folder"
        raise SubmissionError(what, where=str(path), next_step=next_step) from None
