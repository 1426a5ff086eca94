"""Choose the course: the one asked for, that of the workspace, or the bundled one."""

from __future__ import annotations

import os
from pathlib import Path

from grader.errors import CourseError
from grader.files import is_file

COURSE_FILE = "course.toml"
COURSE_VARIABLE = "SELFATTEND_COURSE"


def locate(explicit: Path | None = None, remembered: Path | None = None) -> Path:
    """Return the course's folder: *explicit*, else the environment's, else the workspace's, else the bundled copy.

    Raises CourseError for a folder that was asked for and is no course; it never falls back to another one.
    """
    if explicit is not None:
        return _require_course(explicit, "--course")
    if named := os.environ.get(COURSE_VARIABLE):
        return _require_course(Path(named), COURSE_VARIABLE)
    if remembered is None:
        return _bundled_course()
    if is_file(remembered / COURSE_FILE):
        return remembered
    what = "the course that this workspace was started with is no longer where it was"
    next_step = "learn start --course DIR, with the folder where it is now; your work stays"
    raise CourseError(what, where=str(remembered), next_step=next_step)


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
