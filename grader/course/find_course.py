"""Choose the course: the one asked for, that of the workspace or assignment, or the bundled one.

A course is code that runs with all of the user's rights, and a workspace or an assignment's file may be somebody
else's. So these only say which course they want; whether it is used, a list in the user's own configuration says.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from grader.errors import CourseError, UntrustedCourse
from grader.files import is_file, resolved, user_folder

COURSE_FILE = "course.toml"
COURSE_VARIABLE = "SELFATTEND_COURSE"


class WantedCourse(NamedTuple):
    """The course that a file names which may be somebody else's.

    Args:
        by: Who names it, in words.
        command: The command with which a user names that course themselves.
        unless_in: A folder in which no such course may lie.
    """

    folder: Path
    by: str = "this workspace"
    command: str = "learn start"
    unless_in: Path | None = None


def locate(explicit: Path | None = None, wanted: WantedCourse | None = None) -> Path:
    """Return the course's folder: *explicit*, else the environment's, else the one *wanted*, else the bundled copy.

    Args:
        explicit: A folder that the user named.
        wanted: What a workspace or an assignment's file names.

    Raises:
        CourseError: A folder that was asked for is no course; it never falls back to another one.
        UntrustedCourse: The user has not chosen the course that is wanted.
    """
    if explicit is not None:
        return _require_course(explicit, "--course")
    if named := os.environ.get(COURSE_VARIABLE):
        return _require_course(Path(named), COURSE_VARIABLE)
    if wanted is None or is_bundled(wanted.folder):
        return _bundled_course()
    return _require_trusted(wanted)


def _require_trusted(wanted: WantedCourse) -> Path:
    folder, inside = resolved(wanted.folder), wanted.unless_in
    if not wanted.folder.is_absolute() or (inside is not None and resolved(inside) in (folder, *folder.parents)):
        what = f"{wanted.by} names a course that lies in it; such a course is used only if you name it"
        next_step = "add --course DIR to the command, if you trust that course"
        raise CourseError(what, where=str(folder), next_step=next_step)
    if not is_file(folder / COURSE_FILE):
        what = f"the course that {wanted.by} names is not there, or no longer where it was"
        next_step = f"{wanted.command} --course DIR, with the folder where it is now; work and results stay"
        raise CourseError(what, where=str(wanted.folder), next_step=next_step)
    if str(folder) not in _trusted():
        what = f"{wanted.by} asks for a course that you have not used before, whose programs run with your rights"
        next_step = f"{wanted.command} --course {shlex.quote(str(folder))}, if you trust it"
        raise UntrustedCourse(what, where=str(folder), next_step=next_step)
    return folder


def trust(course: Path) -> None:
    """Add a course to those that a workspace or an assignment's file may ask for.

    Where nothing can be written, the user is asked again.
    """
    folder = str(resolved(course))
    if folder.isprintable() and not is_bundled(course) and folder not in _trusted():
        with suppress(OSError, RuntimeError):
            path = _trusted_file()
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{folder}\n")


def _trusted() -> list[str]:
    try:
        return _trusted_file().read_text("utf-8", "replace").splitlines()
    except (OSError, RuntimeError):  # nothing was trusted so far, or this user has no home
        return []


def _trusted_file() -> Path:
    return user_folder("XDG_CONFIG_HOME", ".config") / "trusted-courses"


def is_bundled(root: Path) -> bool:
    """Return True if this course came with the program."""
    return root.absolute() in _bundled_paths()


def _require_course(path: Path, source: str) -> Path:
    path = path.expanduser().absolute()
    folder = path.parent if path.name == COURSE_FILE else path
    if is_file(folder / COURSE_FILE):
        return folder
    why = f"no {COURSE_FILE} in this folder" if folder.is_dir() else "no such folder"
    next_step = f"give {source} the folder that holds {COURSE_FILE}, or leave it out to use the bundled course"
    raise CourseError(f"{source} does not name a course: {why}", where=str(folder), next_step=next_step)


def _bundled_paths() -> tuple[Path, Path]:
    """Return where the bundled course may be: above the engine in a checkout, inside it in a wheel."""
    engine = Path(__file__).absolute().parents[1]
    return engine.parent, engine / "_course"


def _bundled_course() -> Path:
    for folder in _bundled_paths():
        if is_file(folder / COURSE_FILE):
            return folder
    what = "the course that belongs to this program is not there: the installation is incomplete"
    raise CourseError(what, where=str(folder), next_step="pip install --force-reinstall selfattend")
