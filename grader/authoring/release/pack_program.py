"""Pack the running program and a whole course for another machine, which installs nothing but what they need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import metadata

from grader.authoring.release.wheel import DISTRIBUTION, engine_files, read_below
from grader.errors import UsageError
from grader.model import Course, Lesson

COURSE_FOLDERS = ("lessons", "exercises", "solutions")


def require_checks(course: Course, lessons: Sequence[Lesson]) -> None:
    """Raise UsageError for lessons whose hidden checks are not here."""
    missing = [lesson.name for lesson in lessons if not lesson.checks_path.is_file()]
    if missing:
        what = f"the hidden checks of {', '.join(missing)} are not here"
        raise UsageError(what, where=str(course.root), next_step="name the course itself with --course DIR")


def program_files(course: Course) -> Iterator[tuple[str, bytes]]:
    """Yield `engine/`, `course/` with its hidden checks, and what pip installs for them, in the versions that are here.

    Raises UsageError if the program is not installed.
    """
    requirements = _requirements()
    yield "requirements.txt", "".join(f"{line}\n" for line in requirements).encode()
    yield "constraints.txt", "".join(f"{line}\n" for line in _constraints(requirements)).encode()
    for name, content in engine_files():
        yield f"engine/{name}", content
    yield "course/course.toml", (course.root / "course.toml").read_bytes()
    for folder in COURSE_FOLDERS:
        yield from read_below(course.root / folder, f"course/{folder}")


def _requirements() -> list[str]:
    """Return the requirements of this program's metadata, without extras."""
    try:
        described = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        what = "this program was not installed, so it cannot say what it needs"
        raise UsageError(what, next_step="pip install -e . (in the folder of the program)") from None
    return sorted(line for line in described if "extra ==" not in line)


def _constraints(requirements: Sequence[str]) -> list[str]:
    """Return the installed versions without labels such as "+cpu": any build of a version will do."""
    names = [re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in requirements]
    return [f"{name}=={metadata.version(name).partition('+')[0]}" for name in names]
