"""A learner's work beside the reference: what `learn show`, `learn trace` and `learn report` have in common."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from grader.cli.check.missing_file import require_there
from grader.cli.check.notebook_file import SUFFIX, lessons_in, notes_to_tell, read_notebook
from grader.cli.context import CourseContext, short_path
from grader.cli.learn.next_step import command_beside
from grader.cli.output import put_json
from grader.errors import SubmissionError, UsageError, WorkerError, WorkspaceError
from grader.files import is_file, is_same_file
from grader.model import SCHEMA, Course, Lesson, Submission
from grader.submission import NAME_IT, read_submission
from grader.terminal.console import paint, put, signs, wrap
from grader.terminal.text import clean, command_line

if TYPE_CHECKING:
    from grader.judge.errors import LearnerError
    from grader.judge.examination import Judge
    from grader.model.picture import Picture

Found = TypeVar("Found")


def choose_compared(
    context: CourseContext, name: str | None, file: Path | None, command: str
) -> tuple[Lesson, Path | None]:
    """Return the lesson of this name, or the current one, and the file given.

    A notebook may be given in place of the name: its lesson is the one that it defines.
    Raises UsageError where the course has no references, SubmissionError.
    """
    if file is None and name and name.endswith(SUFFIX):
        file, name = Path(name), None
    if file is not None:
        require_there(context, file, command)
    is_unnamed = file is not None and file.suffix == SUFFIX and name is None
    lesson = _lesson_in(file, context.course, command) if file and is_unnamed else context.lesson(name)
    if not is_file(lesson.solution_path):
        raise UsageError("this copy of the course has no references to compare with", next_step="learn check")
    return lesson, file


def _lesson_in(notebook: Path, course: Course, command: str) -> Lesson:
    """Return the lesson that a notebook defines; of several the one that it is named after. Raises UsageError."""
    found = lessons_in(notebook, course)
    named = [lesson for lesson in found if lesson.name == notebook.stem]
    if len(found) == 1 or named:
        return (named or found)[0]
    what = f"the notebook defines functions of several lessons: {', '.join(lesson.name for lesson in found)}"
    next_step = command_line("learn", command, found[0].name, "--file", str(notebook))
    raise UsageError(what, where=str(notebook), next_step=next_step)


def read_compared(context: CourseContext, lesson: Lesson, file: Path | None, command: str) -> Submission:
    """Read the file given to a command, or the workspace's. Raises WorkspaceError, SubmissionError."""
    if file is None and context.workspace is None:
        next_step = f"learn start, or learn {command} --file FILE.py"
        raise WorkspaceError("this folder is not in a workspace", next_step=next_step)
    path = file or Path(short_path(context.workspace.exercise_path(lesson)))  # type: ignore[union-attr]
    if path.suffix == SUFFIX:
        return read_notebook(path, lesson)
    try:
        return read_submission(path, lesson, context.course)
    except SubmissionError as error:
        error.next_step = error.next_step.replace(NAME_IT, f"learn {command} {lesson.name} --file FILE.py")
        raise


def tell_left_out(submission: Submission) -> None:
    """Say which cells of a notebook were left out: what is shown may be an older one's."""
    if submission.path.endswith(SUFFIX):
        for note in notes_to_tell(submission.notes):
            put(wrap(note))


def command_after(context: CourseContext, lesson: Lesson, file: Path | None) -> str:
    """Return the command that comes after a look at a file: its check, whatever is known of the workspace's."""
    if file is None or (context.workspace and is_same_file(file, context.workspace.exercise_path(lesson))):
        return command_beside(context, lesson)
    return command_line("learn", "check", lesson.name, "--file", str(file))


def ask_judge(
    course: Course, lessons: Sequence[Lesson], ask: Callable[[Judge], Iterable[Found]]
) -> tuple[list[Found], LearnerError | None]:
    """Return what a judge of these lessons answers, and the error if a submission cannot be loaded."""
    from grader.judge.errors import LearnerError
    from grader.judge.session import judge_with
    from grader.terminal.spinner import Spinner

    found: list[Found] = []
    with Spinner("Starting"), suppress(WorkerError):
        try:
            judge_with(course, lessons, lambda judge: found.extend(ask(judge)), device="cpu")
        except LearnerError as error:
            return found, error
    return found, None


def put_found(lesson: Lesson, found: Mapping[str, Any], error: LearnerError | None, submission: Submission) -> None:
    """Print as JSON what was found of a submission, and why that is nothing if it cannot be loaded."""
    why = _describe_error(error, submission) if error else None
    put_json({"schema": SCHEMA, "lesson": lesson.name, **found, "error": why})


def tell_error(error: LearnerError, submission: Submission, done: str) -> None:
    """Say why nothing could be done with a submission."""
    put(f"{paint(signs().failed, 'bad')} Nothing could be {done}:")
    put(textwrap.indent(_describe_error(error, submission), "  "))


def _describe_error(error: LearnerError, submission: Submission) -> str:
    """Return an error of the submission with its lines; of a notebook, with its cells."""
    from grader.intake.notebook.cell_places import CellPlaces
    from grader.judge.verdict.messages import describe_error

    why: str = CellPlaces(submission.source).tell_in(clean(describe_error(error)), submission.path)
    return why


def draw_written(context: CourseContext, names: Iterable[str]) -> dict[str, list[Picture]]:
    """Draw what the workspace's exercises of these names answer; those that cannot be read or loaded are left out."""
    from grader.judge.errors import LearnerError

    lessons = [context.course.lessons[name] for name in names if name in context.course.lessons]
    drawn = [lesson for lesson in lessons if is_file(lesson.pictures_path)]

    def draw(judge: Judge) -> Iterator[tuple[str, list[Picture]]]:
        for lesson in drawn:
            with suppress(SubmissionError, LearnerError, WorkerError):
                yield lesson.name, judge.draw_pictures(lesson, read_compared(context, lesson, None, "show"))

    return dict(ask_judge(context.course, drawn, draw)[0]) if drawn else {}
