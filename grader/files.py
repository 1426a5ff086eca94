"""Read the files of a course, list folders, and replace files whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.errors import CourseError

AUDIT = "correct the file, then run `grader audit`"


def at(path: Path, line: int = 0) -> str:
    """Format a location as editors and terminals understand it: `path:line`, or the path alone."""
    return f"{path}:{line}" if line else str(path)


def read_file(path: Path) -> str:
    """Read a course file as text. Raises CourseError if it is missing, unreadable or not UTF-8."""
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise CourseError("a file of the course is missing", where=str(path), next_step=AUDIT) from None
    except OSError as error:
        what = f"a file of the course cannot be read ({error.strerror})"
        raise CourseError(what, where=str(path), next_step=AUDIT) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise CourseError("a file of the course is not UTF-8 text", where=at(path, line), next_step=AUDIT) from None


@contextmanager
def replacing(path: Path, suffix: str = f"{os.getpid()}.tmp") -> Iterator[Path]:
    """Give a path beside *path* to write to. It replaces *path* at the end of the `with`; an exception removes it."""
    temporary = path.with_name(f".{path.name}.{suffix}")
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder, sorted, without links, hidden ones and what Python leaves behind."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        unwanted = path.suffix == ".pyc" or any(part.startswith((".", "__pycache__")) for part in parts)
        if path.is_file() and not path.is_symlink() and not unwanted:
            yield path


def is_file(path: Path) -> bool:
    """Do as `Path.is_file`, but return False where a folder on the way may not be searched."""
    try:
        return path.is_file()
    except OSError:
        return False
