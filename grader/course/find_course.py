"""Choose the course: the one asked for, that of the workspace, or the bundled one.

A course is code that runs with all of the user's rights, and a workspace may be somebody else's. So a workspace only
says which course it was started with; whether that one is used, a list in the user's own configuration says.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path

from grader.errors import CourseError, UntrustedCourse
from grader.files import is_file, resolved, user_folder

COURSE_FILE = "course.toml"
COURSE_VARIABLE = "SELFATTEND_COURSE"


def locate(explicit: Path | None = None, remembered: Path | None = None, workspace: Path = Path("/")) -> Path:
    """Return the course's folder: *explicit*, else the environment's, else the workspace's, else the bundled copy.

    Args:
        explicit: A folder that the user named.
        remembered: The folder that the mark of a workspace names.
        workspace: That workspace.

    Raises:
        CourseError: A folder that was asked for is no course; it never falls back to another one.
        UntrustedCourse: The user has not chosen the workspace's course.
    """
    if explicit is not None:
        return _require_course(explicit, "--course")
    if named := os.environ.get(COURSE_VARIABLE):
        return _require_course(Path(named), COURSE_VARIABLE)
    if remembered is None or is_bundled(remembered):
        return _bundled_course()
    folder = resolved(remembered)
    if not remembered.is_absolute() or resolved(workspace) in (folder, *folder.parents):
        what = (
            "this workspace names a course that lies in the workspace itself; such a course is used only if you name it"
        )
        raise CourseError(
            what, where=str(folder), next_step="add --course DIR to the command, if you trust that course"
        )
    if is_file(folder / COURSE_FILE):
        if str(folder) not in _trusted():
            what = "this workspace asks for a course that you have not used before, whose programs run with your rights"
            next_step = f"learn start --course {shlex.quote(str(folder))}, if you trust it"
            raise UntrustedCourse(what, where=str(folder), next_step=next_step)
        return folder
    what = "the course that this workspace was started with is no longer where it was"
    next_step = "learn start --course DIR, with the folder where it is now; your work stays"
    raise CourseError(what, where=str(remembered), next_step=next_step)


def trust(course: Path) -> None:
    """Add a course to those that a workspace may ask for. Where nothing can be written, the user is asked again."""
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
