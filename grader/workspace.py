"""The learner's folder: `<track>/<lesson>.py` to work in, and `.selfattend/` for the program's own data.

A learner's file is never overwritten: it is kept, and a reset makes a copy first. The course is only read.
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
from grader.files import is_file, load_toml, make_folder, read_bounded, read_file, read_whole, refuse_link, replacing
from grader.model import Course, Lesson

WORKSPACE_FORMAT = 1
STATE_FOLDER = ".selfattend"
WORKSPACE_FILE = "workspace.toml"
MAX_MARK_BYTES = 64 << 10


@dataclass(frozen=True)
class Workspace:
    """A learner's folder, and the course it was started with; `course_folder` is None for the bundled course.

    What the mark says may be somebody else's word: `grader.course.locate` says whether that course is used.
    """

    root: Path
    course_id: str
    course_version: str
    course_folder: Path | None = field(default=None, compare=False)
    way: str = ""  # that its learner follows; "" is the course's first

    @property
    def store_path(self) -> Path:
        """Return where the learner's progress is kept."""
        return self.root / STATE_FOLDER / "progress.db"

    def exercise_path(self, lesson: Lesson) -> Path:
        """Return the path of the learner's file for a lesson, which need not exist."""
        return self.root / lesson.track / f"{lesson.name}.py"

    def require(self, course: Course) -> None:
        """Raise WorkspaceError if this folder belongs to another course."""
        if self.course_id != course.id:
            what = f'this folder belongs to the course "{self.course_id}", not to "{course.id}"'
            next_step = "name the folder of its course with --course, or change to another folder"
            raise WorkspaceError(what, where=str(self.root), next_step=next_step)

    def fill(self, lesson: Lesson, work: str) -> None:
        """Write work into the lesson's file, which is missing or the unchanged stub. Raises WorkspaceError."""
        path = self.exercise_path(lesson)
        with _explain_os_errors(path):
            make_folder(path.parent)  # refuses a link
            _write(path, work.encode())

    def reset(self, lesson: Lesson) -> Path | None:
        """Put the stub back in the lesson's file, after a copy of the learner's work to `<lesson>.py.bak-<n>`.

        Returns the copy; None if there was no work: no file, or the unchanged stub. Raises WorkspaceError.
        """
        path = self.exercise_path(lesson)
        stub = read_file(lesson.exercise_path).encode()
        with _explain_os_errors(path):
            make_folder(path.parent)  # refuses a link, which would lead the copy elsewhere
            work = _read_work(path) if os.path.lexists(path) else stub
            backup = _write_backup(path, work) if work != stub else None
            _write(path, stub)
        return backup


class Changes(NamedTuple):
    """Files that starting a workspace wrote, and those it left as they were.

    `carried` are those of `written` that hold the learner's work on a lesson that had another name before.
    """

    workspace: Workspace
    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    carried: tuple[Path, ...] = ()


def create(directory: Path, course: Course, way: str = "") -> Changes:
    """Make *directory* a workspace, or bring one up to date with *course*; its learner follows a *way* from now on.

    Raises WorkspaceError if no workspace may be there, it belongs to another course or cannot be written.
    """
    root = directory.absolute()
    _check_location(root, course)
    with _explain_os_errors(root):
        root.mkdir(parents=True, exist_ok=True)
        make_folder(root / STATE_FOLDER)
    there = _read_workspace_file(root)
    return update(Workspace(root, course.id, course.version, way=way or (there.way if there else "")), course)


def update(workspace: Workspace, course: Course) -> Changes:
    """Add the files that a newer version of the course has, and keep the rest. Raises WorkspaceError.

    A lesson that was renamed begins as a copy of the file with its former name.
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
        named = (path.with_name(f"{alias}.py") for alias in lesson.aliases)
        former = next((old for old in named if is_file(old) and not old.is_symlink()), None)
        stub = read_file(lesson.exercise_path).encode()
        with _explain_os_errors(path):
            make_folder(path.parent)
            _write(path, _read_work(former) if former else stub)
        written.append(path)
        carried += [path] if former else []
    with _explain_os_errors(root / STATE_FOLDER / WORKSPACE_FILE):
        _write(root / STATE_FOLDER / WORKSPACE_FILE, _workspace_text(course, workspace.way))
    made = Workspace(root, course.id, course.version, way=workspace.way)
    return Changes(made, tuple(written), tuple(kept), tuple(carried))


def _read_work(path: Path) -> bytes:
    """Read a learner's file. Raises OSError for a link, too: in somebody else's folder it may lead out of it."""
    refuse_link(path)
    return read_whole(path)


def is_workspace(folder: Path) -> bool:
    """Return True if *folder* itself is a workspace."""
    state = folder / STATE_FOLDER
    return is_file(state / WORKSPACE_FILE) and not state.is_symlink()  # a link leads to another workspace's progress


def find(start: Path) -> Workspace:
    """Return the workspace that *start* lies in. Raises WorkspaceError if there is none, or a newer version made it."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if is_workspace(folder):
            if workspace := _read_workspace_file(folder):
                return workspace
            next_step = f"cd {folder} && learn start (it writes that file anew and keeps your work)"
            where = str(folder / STATE_FOLDER / WORKSPACE_FILE)
            raise WorkspaceError("the file that marks this workspace is damaged", where=where, next_step=next_step)
    raise WorkspaceError("this folder is no workspace, nor is one above it", where=str(start), next_step="learn start")


def _read_workspace_file(root: Path) -> Workspace | None:
    """Read the file that marks a workspace; None if it is damaged.

    Raises WorkspaceError if a newer version wrote it.
    """
    try:
        data = load_toml(read_bounded(root / STATE_FOLDER / WORKSPACE_FILE, MAX_MARK_BYTES).decode())
    except (OSError, ValueError, RecursionError):  # the parser's and the decoder's errors are ValueErrors
        return None
    made, texts = data.get("format"), [data.get(key, "") for key in ("course", "version", "folder", "way")]
    # it may be somebody else's: what is shown of it must not control the terminal
    if type(made) is not int or not all(isinstance(text, str) and text.isprintable() for text in texts):
        return None
    course_id, version, folder, way = texts
    if made > WORKSPACE_FORMAT:
        formats = f"its format is {made}, this version knows {WORKSPACE_FORMAT}"
        what = f"a newer version of selfattend made this workspace ({formats})"
        raise WorkspaceError(what, where=str(root), next_step="pip install --upgrade selfattend")
    if not (course_id and version):
        return None
    return Workspace(root, course_id, version, Path(folder) if folder else None, way)


def _workspace_text(course: Course, way: str) -> bytes:
    import json  # a JSON string without escapes for other alphabets is a TOML string

    values: dict[str, str | int] = {"format": WORKSPACE_FORMAT, "course": course.id, "version": course.version}
    # file systems allow names that cannot stand in a text file, or control a terminal
    if not is_bundled(course.root) and str(course.root.absolute()).isprintable():
        values["folder"] = str(course.root.absolute())
    if way:
        values["way"] = way
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(["# selfattend writes this file.", *lines, ""]).encode()


def _check_location(root: Path, course: Course) -> None:
    """Raise WorkspaceError for a folder of a course, and for a new one in another workspace of the same course."""
    if is_file(root / "course.toml"):
        what = "this is the folder of a course; your work needs one of its own"
        raise WorkspaceError(what, where=str(root), next_step="learn start FOLDER")
    if root.name in {track.name for track in course.tracks} and is_workspace(root.parent):
        next_step = f"cd {root.parent} && learn start"
        raise WorkspaceError("this folder belongs to the workspace above it", where=str(root), next_step=next_step)
    if is_workspace(root):
        if existing := _read_workspace_file(root):
            existing.require(course)
        return
    above = next((folder for folder in root.parents if is_workspace(folder)), None)
    around = _read_workspace_file(above) if above else None
    if around and around.course_id == course.id:  # a folder named twice, mostly: progress there would begin anew
        next_step = f"cd {above} && learn, or name a folder outside of it"
        raise WorkspaceError("this lies in a workspace of yours", where=str(root), next_step=next_step)


@contextmanager
def _explain_os_errors(path: Path) -> Iterator[None]:
    """Turn the system's refusals to read or write at *path* into WorkspaceErrors that say what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            what = "the disk is full"
            next_step = "free some space and repeat the command; no file was left half-written"
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            what, next_step = "you may not write here", "work in a folder of your own: learn start FOLDER"
        else:
            what = f"this cannot be written: {error.strerror or error}"
            next_step = "move what is in the way, or choose another folder: learn start FOLDER"
        raise WorkspaceError(what, where=str(path), next_step=next_step) from None


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        _write_and_sync(file, content)


def _write_backup(path: Path, work: bytes) -> Path:
    """Keep *work* as `<name>.bak-<n>`, with the first number that is free."""
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
                _write_and_sync(file, work)
        except BaseException:
            with suppress(OSError):
                backup.unlink()
            raise
        return backup


def _write_and_sync(file: BinaryIO, content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())  # some file systems report a full disk only here
