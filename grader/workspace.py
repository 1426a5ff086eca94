"""The learner's folder: `<track>/<lesson>.py` to work in, and `.selfattend/` for what the program keeps.

A learner's file is never overwritten: what is there is kept, and a reset makes a copy first. The course is only read.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from grader.course.find_course import is_bundled
from grader.errors import WorkspaceError
from grader.files import is_file, read_file
from grader.model import Course, Lesson

FORMAT = 1
STATE_FOLDER = ".selfattend"
WORKSPACE_FILE = "workspace.toml"


@dataclass(frozen=True)
class Workspace:
    """A learner's folder, and the course it was started with. `course_folder`: where that is; None for the bundled."""

    root: Path
    course_id: str
    course_version: str
    course_folder: Path | None = field(default=None, compare=False)

    @property
    def store_path(self) -> Path:
        """Where the learner's progress is kept."""
        return self.root / STATE_FOLDER / "progress.db"

    def exercise_path(self, lesson: Lesson) -> Path:
        """The learner's file for a lesson, whether or not it is there."""
        return self.root / lesson.track / f"{lesson.name}.py"

    def require(self, course: Course) -> None:
        """Raises WorkspaceError if this folder belongs to another course."""
        if self.course_id != course.id:
            raise WorkspaceError(
                f'this folder belongs to the course "{self.course_id}", not to "{course.id}"',
                where=str(self.root),
                next_step="name the folder of its course with --course, or change to another folder",
            )

    def reset(self, lesson: Lesson) -> Path | None:
        """Put the stub back in the lesson's file. The learner's work goes to `<lesson>.py.bak-<n>` first.

        Returns that copy; None if there was no work to keep: no file, or the stub as it is. Raises WorkspaceError.
        """
        path = self.exercise_path(lesson)
        stub = read_file(lesson.exercise_path).encode()
        with _explained(path):
            work = path.read_bytes() if path.exists() else stub
            backup = _write_backup(path, work) if work != stub else None
            path.parent.mkdir(exist_ok=True)
            _write(path, stub)
        return backup


class Changes(NamedTuple):
    """What starting a workspace did: the files it wrote, and those it found and left as they were.

    `carried` are those of `written` that hold the learner's work on a lesson that had another name before.
    """

    workspace: Workspace
    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    carried: tuple[Path, ...] = ()


def create(directory: Path, course: Course) -> Changes:
    """Make `directory` a workspace, or bring one up to date with `course`; a learner's file is never overwritten.

    Raises WorkspaceError if the folder is no place for one, belongs to another course or cannot be written.
    """
    root = directory.absolute()
    _check_place(root, course)
    with _explained(root):
        (root / STATE_FOLDER).mkdir(parents=True, exist_ok=True)
    return update(Workspace(root, course.id, course.version), course)


def update(workspace: Workspace, course: Course) -> Changes:
    """Add what a newer version of the course has and the workspace has not, and keep the rest.

    A lesson that was renamed begins as a copy of the file with its former name. Raises WorkspaceError.
    """
    workspace.require(course)
    root = workspace.root
    written: list[Path] = []
    kept: list[Path] = []
    carried: list[Path] = []
    for lesson in course.lessons.values():
        path = workspace.exercise_path(lesson)
        if os.path.lexists(path):
            kept.append(path)
            continue
        former = next((old for alias in lesson.aliases if is_file(old := path.with_name(f"{alias}.py"))), None)
        stub = read_file(lesson.exercise_path).encode()
        with _explained(path):
            path.parent.mkdir(exist_ok=True)
            _write(path, former.read_bytes() if former else stub)
        written.append(path)
        carried += [path] if former else []
    with _explained(root / STATE_FOLDER / WORKSPACE_FILE):
        _write(root / STATE_FOLDER / WORKSPACE_FILE, _mark(course))
    return Changes(Workspace(root, course.id, course.version), tuple(written), tuple(kept), tuple(carried))


def is_workspace(folder: Path) -> bool:
    """Return True if *folder* itself is a workspace."""
    return is_file(folder / STATE_FOLDER / WORKSPACE_FILE)


def find(start: Path) -> Workspace:
    """The workspace that `start` lies in. Raises WorkspaceError if there is none, or a newer version made it."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if is_workspace(folder):
            if workspace := _read_mark(folder):
                return workspace
            raise WorkspaceError(
                "the file that marks this workspace is damaged",
                where=str(folder / STATE_FOLDER / WORKSPACE_FILE),
                next_step=f"cd {folder} && learn start (it writes that file anew and keeps your work)",
            )
    raise WorkspaceError("this folder is no workspace, nor is one above it", where=str(start), next_step="learn start")


def _read_mark(root: Path) -> Workspace | None:
    """The workspace in `root` as its mark tells it, None if the mark is damaged. A newer one's is a WorkspaceError."""
    import tomllib  # here: `learn --help` does without it

    try:
        data = tomllib.loads((root / STATE_FOLDER / WORKSPACE_FILE).read_bytes().decode())
        made, course_id, version = int(data["format"]), str(data["course"]), str(data["version"])
    except (OSError, ValueError, KeyError, TypeError):  # tomllib's and the decoder's errors are ValueErrors
        return None
    if made > FORMAT:
        raise WorkspaceError(
            f"a newer version of selfattend made this workspace (its format is {made}, this version knows {FORMAT})",
            where=str(root),
            next_step="pip install --upgrade selfattend",
        )
    folder = data.get("folder")
    return Workspace(root, course_id, version, Path(folder) if isinstance(folder, str) and folder else None)


def _mark(course: Course) -> bytes:
    import json  # a JSON string without escapes for other alphabets is a TOML string

    values: dict[str, str | int] = {"format": FORMAT, "course": course.id, "version": course.version}
    if not is_bundled(course.root) and _is_text(str(course.root)):
        values["folder"] = str(course.root.absolute())
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(["# selfattend writes this file.", *lines, ""]).encode()


def _is_text(path: str) -> bool:
    """Whether a path can stand in a file of text: a file system may have names that are none."""
    return not any("\ud800" <= letter <= "\udfff" for letter in path)


def _check_place(root: Path, course: Course) -> None:
    """A workspace must not lie in a course, nor in a track's folder of another workspace."""
    if is_file(root / "course.toml"):
        raise WorkspaceError(
            "this is the folder of a course; your work needs one of its own",
            where=str(root),
            next_step="learn start STATE_FOLDER",
        )
    if root.name in {track.name for track in course.tracks} and is_workspace(root.parent):
        raise WorkspaceError(
            "this folder belongs to the workspace above it",
            where=str(root),
            next_step=f"cd {root.parent} && learn start",
        )
    if is_workspace(root) and (existing := _read_mark(root)):
        existing.require(course)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turns the system's refusals to read or write at `path` into WorkspaceErrors that say what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            what, next_step = (
                "the disk is full",
                "free some space and repeat the command; no file was left half-written",
            )
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            what, next_step = "you may not write here", "work in a folder of your own: learn start STATE_FOLDER"
        else:
            what = f"this cannot be written: {error.strerror or error}"
            next_step = "move what is in the way, or choose another folder: learn start STATE_FOLDER"
        raise WorkspaceError(what, where=str(path), next_step=next_step) from None


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            _fill(file, content)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _write_backup(path: Path, work: bytes) -> Path:
    """Keep `work` as `<name>.bak-<n>`, with the first number that is free."""
    number = 1
    while True:
        backup = path.with_name(f"{path.name}.bak-{number}")
        try:
            file = backup.open("xb")
        except FileExistsError:
            number += 1
            continue
        try:
            with file:
                _fill(file, work)
        except BaseException:
            with suppress(OSError):
                backup.unlink()
            raise
        return backup


def _fill(file: BinaryIO, content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())  # some file systems report a full disk only here
