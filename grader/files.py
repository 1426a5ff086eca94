"""Read the files of a course, and say where in them something stands."""

from __future__ import annotations

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


def is_file(path: Path) -> bool:
    """Do as `Path.is_file`, but return False where a folder on the way may not be searched."""
    try:
        return path.is_file()
    except OSError:
        return False
