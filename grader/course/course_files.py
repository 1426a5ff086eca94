"""The files of a course that verdicts depend on, and whether they are as they were."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from grader.errors import GraderError
from grader.model import Course

FOLDERS = ("lessons", "exercises", "solutions", "public")
SUFFIXES = (".py", ".md", ".toml", ".json", ".answers")
SETTLED_SECONDS = 1.0  # after which another change of a file has another time


def course_files(course: Course) -> Iterator[Path]:
    """Yield the course's file and those of its tracks, sorted within each folder."""
    yield course.root / "course.toml"
    for folder in (course.root / part / track.name for part in FOLDERS for track in course.tracks):
        yield from (path for path in sorted(folder.glob("[!.]*")) if path.suffix in SUFFIXES and path.is_file())


def digest(course: Course) -> str:
    """Return a digest of these files, equal for a copy of the course."""
    import hashlib  # here: only grading needs it

    sha = hashlib.sha256()
    for path in course_files(course):
        name, content = path.relative_to(course.root).as_posix().encode(errors="surrogateescape"), path.read_bytes()
        sha.update(b"%d %d " % (len(name), len(content)) + name + content)
    return sha.hexdigest()


def require_unchanged(course: Course, before: str) -> None:
    """Raise GraderError unless `digest` is what it was *before*: whatever changed the course made the verdicts too."""
    try:
        same = digest(course) == before
    except OSError:
        same = False
    if not same:
        what = "the course's files were changed while it was in use, so no verdict is given"
        next_step = "look at what has changed; if you did it yourself, repeat the command (grader run: with --resume)"
        raise GraderError(what, where=str(course.root), next_step=next_step)


class Unchanged:
    """Requires again and again that a course is as it was, and reads only files that the system says were written.

    What it goes by is set by every change, and by no program at will: a file's place on the disk, and the time when it
    or what is said of it was changed last.
    """

    def __init__(self, course: Course, before: str) -> None:
        self.course, self.before = course, before
        self._paths: list[Path] = []
        self._known: list[tuple[int, ...]] | None = None

    def require(self) -> None:
        """Raise GraderError unless the course is unchanged, as `require_unchanged` does."""
        if self._known is not None and self._known == self._read_times():
            return
        folders = [self.course.root / part / track.name for part in FOLDERS for track in self.course.tracks]
        self._paths = [*course_files(self.course), *folders]
        times, now = self._read_times(), time.time_ns()
        require_unchanged(self.course, self.before)
        settled = all(now - changed > SETTLED_SECONDS * 1e9 for *_, changed in times)
        self._known = times if settled else None

    def _read_times(self) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = []
        for path in self._paths:
            try:
                stat = path.stat()
            except OSError:  # it is not there
                found.append((0,))
            else:
                found.append((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))
        return found
