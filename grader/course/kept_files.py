"""Keep what is parsed of a course's files between light commands, which would spend a fifth of their time on it.

One file of JSON for a course lies in the user's cache folder, which no worker can reach. What it says of another file
counts while that has the same time, size and number. What grades a class reads the files themselves.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from grader.course.frontmatter import read_front_matter
from grader.course.stubs import read_functions
from grader.course.tables import Table, TomlText
from grader.files import cache_folder, read_bounded, write_cached
from grader.model import Function

FORMAT = 1
MAX_BYTES = 4 << 20
MAX_FILES = 20
SETTLED_SECONDS = 2.0  # a file that was written later could be written once more without another time


class CourseFiles:
    """The files of a course, read anew."""

    def front_matter(self, path: Path) -> Table:
        """Read what a lesson's text says about it. Raises CourseError."""
        return read_front_matter(path)

    def functions(self, path: Path) -> tuple[Function, ...]:
        """Read the functions of an exercise. Raises CourseError."""
        return read_functions(path)


class KeptFiles(CourseFiles):
    """The files of a course, of which only those are parsed that have changed.

    An error in one is told without its line, and what was kept may lie: whoever gets one reads the files anew.
    """

    def __init__(self, kept: dict[str, Any]) -> None:
        self._kept, self.used = kept, dict[str, Any]()

    @property
    def has_grown(self) -> bool:
        """Return True if there is something else to be kept than there was."""
        return self.used != self._kept

    def front_matter(self, path: Path) -> Table:
        return Table(self._get(path, lambda: read_front_matter(path).data), TomlText("", path))

    def functions(self, path: Path) -> tuple[Function, ...]:
        return tuple(Function(*each) for each in self._get(path, lambda: [[*each] for each in read_functions(path)]))

    def _get(self, path: Path, read: Callable[[], Any]) -> Any:
        try:
            stat = path.stat()
        except OSError:
            return read()  # says what is wrong
        mark = [stat.st_mtime_ns, stat.st_size, stat.st_ino]
        known = self._kept.get(str(path))
        value = known[1] if known and known[0] == mark else read()
        if stat.st_mtime < time.time() - SETTLED_SECONDS:
            self.used[str(path)] = [mark, value]
        return value


@contextmanager
def keeping_files(root: Path) -> Iterator[CourseFiles]:
    """Give the files of the course in a folder, and keep at the end what was parsed of them, where that can be."""
    import json  # here: not all that reads a course needs it

    folder = cache_folder("courses")
    if folder is None:
        yield CourseFiles()
        return
    path = folder / f"{FORMAT}-{zlib.crc32(bytes(root)):08x}.json"
    kept: Any = None
    with suppress(OSError, ValueError, RecursionError):
        kept = json.loads(read_bounded(path, MAX_BYTES))
    files = KeptFiles(kept if isinstance(kept, dict) else {})
    yield files
    if files.has_grown:
        with suppress(TypeError):  # TOML knows times, and JSON does not
            write_cached(path, json.dumps(files.used), MAX_FILES)
