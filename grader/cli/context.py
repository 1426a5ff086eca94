"""What a command works with: the course, the workspace it was called in, and the progress kept there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from grader.cli.options import COURSE
from grader.course import aliases, find_lesson, load, locate
from grader.errors import StoreError, WorkspaceError
from grader.model import Course, Lesson, LessonProgress
from grader.store import Store
from grader.terminal.console import warn
from grader.workspace import Workspace, find, is_workspace

NO_PROGRESS = LessonProgress("")


@dataclass(frozen=True)
class CourseContext:
    """A course, and the learner's workspace if the command was called in one."""

    course: Course
    workspace: Workspace | None

    def needed_workspace(self) -> Workspace:
        """The workspace. Raises WorkspaceError where there is none."""
        return self.workspace or find(current_folder())

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The learner's progress; what its owner should know of the file is said. Raises WorkspaceError, StoreError."""
        with Store.open(self.needed_workspace().store_path, aliases=aliases(self.course)) as store:
            yield store
            for notice in store.notices:
                warn(notice)

    def record(self, what: Callable[[Store], None]) -> str:
        """Keep something in the store; why that failed, or "". What was asked for is to be shown in either case."""
        try:
            with self.store() as store:
                what(store)
        except StoreError as error:
            return str(error)
        return ""

    def progress(self) -> dict[str, LessonProgress]:
        """Every lesson's progress by its name; nothing done yet where there is no workspace."""
        known: dict[str, LessonProgress] = {}
        if self.workspace is not None:
            with self.store() as store:
                known = store.summary()
        return {name: known.get(name, NO_PROGRESS) for name in self.course.lessons}

    def lesson(self, name: str | None, progress: dict[str, LessonProgress] | None = None) -> Lesson:
        """The lesson called so; without a name the one that the learner is at, or was at last. Raises UnknownLesson."""
        if name is not None:
            return find_lesson(self.course, name)
        current = self.current(self.progress() if progress is None else progress)
        return current or max(self.course.lessons.values(), key=self.edited)

    def current(self, progress: dict[str, LessonProgress]) -> Lesson | None:
        """The lesson one is at: of those not solved the one edited last, else the first. None when all are solved."""
        unsolved = [lesson for name, lesson in self.course.lessons.items() if not progress[name].solved]
        edited = {when: lesson for lesson in unsolved if (when := self.edited(lesson))}
        return edited[max(edited)] if edited else next(iter(unsolved), None)

    def edited(self, lesson: Lesson) -> float:
        """When the learner's file was changed last, in seconds since 1970; 0 if it is as the course gave it."""
        if self.workspace is None:
            return 0.0
        path = self.workspace.exercise_path(lesson)
        try:
            if path.read_bytes() == lesson.exercise_path.read_bytes():
                return 0.0
            return path.stat().st_mtime
        except OSError:
            return 0.0


def find_context(ctx: click.Context) -> CourseContext:
    """The course asked for, and the workspace around the current folder. Raises CourseError, WorkspaceError."""
    folder = current_folder()
    if not any(is_workspace(place) for place in (folder, *folder.parents)):
        return CourseContext(load_course(ctx), None)
    workspace = find(folder)
    course = load_course(ctx, workspace)
    workspace.require(course)
    return CourseContext(course, workspace)


def load_course(ctx: click.Context, workspace: Workspace | None = None) -> Course:
    """The course that was asked for with --course or the environment, else the workspace's, else the bundled one."""
    return load(locate(ctx.meta.get(COURSE), workspace.course_folder if workspace else None))


def current_folder() -> Path:
    """The folder that the command was called in. Raises WorkspaceError if it has been deleted."""
    try:
        return Path.cwd()
    except OSError:
        raise WorkspaceError("the folder you are in is no longer there", next_step="cd to your workspace") from None


def short_path(path: Path) -> str:
    """A path as short as a terminal can still open it: relative where it lies below the current folder."""
    folder = current_folder()
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
