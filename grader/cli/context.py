"""Find the course, workspace and progress of the current folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from grader.cli.options import COURSE
from grader.course import WantedCourse, aliases, find_lesson, load, load_kept, locate, trust
from grader.errors import StoreError, UntrustedCourse, WorkspaceError
from grader.files import read_whole
from grader.model import Course, Lesson, LessonProgress, Way
from grader.store import Store
from grader.terminal.console import confirm, is_terminal, warn, wrap
from grader.workspace import Workspace, find, is_workspace

NO_PROGRESS = LessonProgress("")
QUESTION = (
    "{file} asks for the course in {course}. You have not used that course before. Its checks and questions are "
    "programs that run with your rights: they can read, change and send all that you can. Say yes only if you know "
    "where both come from."
)


@dataclass(frozen=True)
class CourseContext:
    """A course, and the learner's workspace if the current folder is in one."""

    course: Course
    workspace: Workspace | None

    def require_workspace(self) -> Workspace:
        """Return the workspace. Raises WorkspaceError if there is none."""
        return self.workspace or find(current_folder())

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Open the learner's progress and show its notices. Raises WorkspaceError, StoreError."""
        with Store.open(self.require_workspace().store_path, aliases=aliases(self.course)) as store:
            yield store
            for notice in store.notices:
                warn(notice)

    def try_store(self, what: Callable[[Store], None]) -> str:
        """Keep something in the workspace's store, if there is one; return why that failed, or ""."""
        if self.workspace is None:
            return ""
        try:
            with self.store() as store:
                what(store)
        except StoreError as error:
            return str(error)
        return ""

    def progress(self) -> dict[str, LessonProgress]:
        """Return every lesson's progress by name; without a workspace nothing is done yet."""
        known: dict[str, LessonProgress] = {}
        if self.workspace is not None:
            with self.store() as store:
                known = store.summary()
        return {name: known.get(name, NO_PROGRESS) for name in self.course.lessons}

    def lesson(self, name: str | None, progress: dict[str, LessonProgress] | None = None) -> Lesson:
        """Return the lesson of this name; without one the current or the last lesson. Raises UnknownLesson."""
        if name is not None:
            return find_lesson(self.course, name)
        current = self.current_lesson(self.progress() if progress is None else progress)
        return current or max(self.course.lessons.values(), key=self.edited_at)

    @property
    def way(self) -> Way:
        """Return the way that the learner follows; the course's first outside of a workspace."""
        return self.course.way(self.workspace.way if self.workspace else "")

    def current_lesson(self, progress: dict[str, LessonProgress]) -> Lesson | None:
        """Return the lesson edited last of those not solved, or the first on the way; None if all are solved."""
        unsolved = [lesson for lesson in self.course.lessons_along(self.way) if not progress[lesson.name].solved]
        edited = {when: lesson for lesson in unsolved if (when := self.edited_at(lesson))}
        return edited[max(edited)] if edited else next(iter(unsolved), None)

    def edited_at(self, lesson: Lesson) -> float:
        """Return when the learner's file was changed, in seconds since 1970; 0 if it is unchanged."""
        if self.workspace is None:
            return 0.0
        path = self.workspace.exercise_path(lesson)
        try:
            if read_whole(path) == lesson.exercise_path.read_bytes():
                return 0.0
            return path.stat().st_mtime
        except OSError:
            return 0.0


def find_context(ctx: click.Context) -> CourseContext:
    """Find the course asked for and the workspace around the current folder. Raises CourseError, WorkspaceError."""
    folder = current_folder()
    if not any(is_workspace(parent) for parent in (folder, *folder.parents)):
        return CourseContext(load_course(ctx, read=load_kept), None)
    workspace = find(folder)
    course = load_course(ctx, workspace, read=load_kept)
    workspace.require(course)
    return CourseContext(course, workspace)


def load_course(
    ctx: click.Context,
    wanted: Workspace | WantedCourse | None = None,
    read: Callable[[Path], Course] = load,
) -> Course:
    """Load the course named by --course or the environment, else the one that is wanted, else the bundled one.

    Args:
        wanted: A workspace, which names the course that it was started with, or what another file names.
        read: Reads it; `load_kept` where nobody is graded by it.

    Asks the user before a course that is only wanted is used for the first time. Raises CourseError.
    """
    by = ""
    if isinstance(wanted, Workspace):
        by = f"The workspace {wanted.root}"
        wanted = WantedCourse(wanted.course_folder, unless_in=wanted.root) if wanted.course_folder else None
    try:
        return read(locate(ctx.meta.get(COURSE), wanted))
    except UntrustedCourse as error:
        if wanted is None or ctx.resilient_parsing or not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
            raise
        click.echo(wrap(QUESTION.format(file=by or wanted.by, course=error.where)), err=True)
        if not confirm("Use this course from now on?", err=True):
            raise
        trust(Path(error.where))
        return read(Path(error.where))


def current_folder() -> Path:
    """Return the current folder. Raises WorkspaceError if it has been deleted."""
    try:
        return Path.cwd()
    except OSError:
        raise WorkspaceError("the folder you are in is no longer there", next_step="cd to your workspace") from None


def short_path(path: Path) -> str:
    """Return a path relative to the current folder if it lies below it, else as it is."""
    folder = current_folder()
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
