"""Where a learner's files are looked for: on the disk, or among those of a hand-in, of which none lies there."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from grader.files import is_file, read_bounded, resolved
from grader.submission.source_text import NAME_IT, check_size, read_bytes


class FilesOnDisk:
    """The files of this machine."""

    def is_file(self, path: Path) -> bool:
        return is_file(path)

    def names_in(self, folder: Path) -> Iterable[str]:
        """Return the names of what lies in a folder; none of what cannot be listed."""
        try:
            return [each.name for each in folder.iterdir()]
        except OSError:
            return ()

    def is_empty(self, path: Path) -> bool:
        return not path.stat().st_size

    def read_bytes(self, path: Path, if_missing: str = NAME_IT) -> bytes:
        """Return what is in a Python file. Raises SubmissionError as `read_source` does."""
        return read_bytes(path, if_missing)

    def read_bounded(self, path: Path, limit: int) -> bytes:
        """Read at most *limit* bytes of a file. Raises OSError."""
        return read_bounded(path, limit)

    def resolved(self, path: Path) -> Path:
        """Return where links lead."""
        return resolved(path)


class FilesOfHandIn(FilesOnDisk):
    """The files of a hand-in below `ROOT`, by their paths in it. It has no links."""

    ROOT = Path(os.sep).absolute()

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._contents: dict[str, bytes] = {}
        self._names: defaultdict[str, set[str]] = defaultdict(set)  # by folder
        for path, content in files.items():
            self.add(PurePosixPath(path).as_posix(), content)

    def __contains__(self, place: str) -> bool:
        return place in self._contents

    def add(self, place: str, content: bytes) -> None:
        """Have a file at a place, in place of what is there."""
        self._contents[place] = content
        while place:
            place, _, name = place.rpartition("/")
            if name in self._names[place]:
                break
            self._names[place].add(name)

    @classmethod
    def place_of(cls, path: Path) -> str:
        """Return the path in the hand-in of a file below `ROOT`; "" for that itself."""
        return path.relative_to(cls.ROOT).as_posix().removeprefix(".")

    def is_file(self, path: Path) -> bool:
        return self.place_of(path) in self._contents

    def names_in(self, folder: Path) -> Iterable[str]:
        return self._names.get(self.place_of(folder), ())

    def is_empty(self, path: Path) -> bool:
        return not self._contents[self.place_of(path)]

    def read_bytes(self, path: Path, if_missing: str = NAME_IT) -> bytes:
        return check_size(self._contents[self.place_of(path)], path)

    def read_bounded(self, path: Path, limit: int) -> bytes:
        return self._contents[self.place_of(path)][:limit]

    def resolved(self, path: Path) -> Path:
        return path


ON_DISK = FilesOnDisk()
