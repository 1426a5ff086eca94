"""Where the course is: the one asked for, that of the workspace, or the one that came with the program."""

from __future__ import annotations

import os
from pathlib import Path

from grader.errors import CourseError
from grader.files import is_file

COURSE_FILE = "course.toml"
COURSE_VARIABLE = "SELFATTEND_COURSE"


def locate(explicit: Path | None = None, remembered: Path | None = None) -> Path:
    """The course's folder: `explicit`, else the environment's, else the one a workspace was started with, else the
    bundled copy.

    A folder that was asked for and is no course is an error; there is no falling back to another course.
    Raises CourseError.
    """
    if explicit is not None:
        return _asked_for(explicit, "--course")
    if named := os.environ.get(COURSE_VARIABLE):
        return _asked_for(Path(named), COURSE_VARIABLE)
    if remembered is not None:
        return _remembered(remembered)
    return _bundled()


def is_bundled(root: Path) -> bool:
    """Whether a course is the one that came with the program."""
    return root.absolute() in _bundled_places()


def _asked_for(path: Path, source: str) -> Path:
    path = path.expanduser().absolute()
    folder = path.parent if path.name == COURSE_FILE else path
    if is_file(folder / COURSE_FILE):
        return folder
    what = f"no {COURSE_FILE} in this folder" if folder.is_dir() else "no such folder"
    raise CourseError(
        f"{source} does not name a course: {what}",
        where=str(folder),
        next_step=f"give {source} the folder that holds {COURSE_FILE}, or leave it out to use the bundled course",
    )


def _remembered(folder: Path) -> Path:
    if is_file(folder / COURSE_FILE):
        return folder
    raise CourseError(
        "the course that this workspace was started with is no longer where it was",
        where=str(folder),
        next_step="learn start --course DIR, with the folder where it is now; your work stays",
    )


def _bundled_places() -> tuple[Path, Path]:
    """Beside the engine: above it in a source checkout, inside it when installed from a wheel."""
    engine = Path(__file__).absolute().parents[1]
    return engine.parent, engine / "_course"


def _bundled() -> Path:
    for folder in _bundled_places():
        if is_file(folder / COURSE_FILE):
            return folder
    raise CourseError(
        "the course that belongs to this program is not there: the installation is incomplete",
        where=str(_bundled_places()[-1]),
        next_step="pip install --force-reinstall selfattend",
    )
