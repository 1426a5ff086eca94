"""The files of a course that verdicts depend on, and whether they are as they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader.errors import GraderError
from grader.model import Course

FOLDERS = ("lessons", "exercises", "solutions", "public")
SUFFIXES = (".py", ".md", ".toml", ".json", ".answers")


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
