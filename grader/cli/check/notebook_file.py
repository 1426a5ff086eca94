"""Check a notebook: its code cells as one module, and the lessons whose functions they define."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from grader.errors import SubmissionError, UsageError
from grader.files import read_whole
from grader.model import Course, Lesson, LessonResult, Submission

SUFFIX = ".ipynb"


def read_notebook(path: Path, *lessons: Lesson) -> Submission:
    """Read a notebook as the submission of the first of these lessons. Nothing of it is run. Raises SubmissionError."""
    return _to_submission(_read(path), str(path), lessons)


def _read(path: Path) -> bytes:
    from grader.intake.limits import MAX_NOTEBOOK_BYTES

    try:
        return read_whole(path, MAX_NOTEBOOK_BYTES)
    except OSError as error:
        reason = error.strerror or "its name is none"
        raise SubmissionError(
            f"the notebook cannot be read: {reason}", where=str(path), next_step="make it readable for yourself"
        ) from None


def read_cells(cells: Sequence[str], lesson: Lesson, *names: str) -> Submission:
    """Read the code cells of a notebook that is open as the submission of a lesson. Raises SubmissionError.

    *names* are wanted beside those of its functions.

    Of a cell that was no Python the notebook has said so; once it is mended and run, the old text is seen nowhere.
    """
    from grader.intake.notebook.join_cells import LEFT_OUT

    run = [{"cell_type": "code", "source": code, "execution_count": number} for number, code in enumerate(cells, 1)]
    found = _to_submission(json.dumps({"cells": run}).encode(), "notebook", [lesson], names)
    return replace(found, notes=tuple(note for note in found.notes if LEFT_OUT not in note))


def as_file(cells: Sequence[str], *lessons: Lesson, names: Sequence[str] = ()) -> str:
    """Return what these cells define as the text of a file of Python; *names* are wanted beside the lessons'."""
    from grader.intake.notebook import join_cells

    return join_cells.as_file([as_python(code) for code in cells], _names_in(lessons).union(names))


def notebook_as_file(path: Path, *lessons: Lesson) -> str:
    """Return what a notebook defines as the text of a file of Python. Raises SubmissionError."""
    from grader.intake.notebook.notebook_to_module import NotebookError, code_cells

    try:
        return as_file(code_cells(_read(path)), *lessons)
    except NotebookError as error:
        raise _no_notebook(error, str(path)) from None


def as_python(cell: str) -> str:
    """Return a cell without what only a notebook reads."""
    from grader.intake.notebook.notebook_to_module import to_python

    return to_python(cell)


def _names_in(lessons: Iterable[Lesson]) -> set[str]:
    return {function.name for lesson in lessons for function in lesson.functions}


def _to_submission(raw: bytes, path: str, lessons: Sequence[Lesson], names: Sequence[str] = ()) -> Submission:
    from grader.intake.notebook.notebook_to_module import NotebookError, to_source
    from grader.intake.notebook.written_files import written_files

    notes: list[str] = []
    try:
        source = to_source(raw, notes.append, _names_in(lessons).union(names))
        for name, (number, _) in written_files(raw, notes.append).items():
            notes.append(f"Code cell {number} was left out: it writes {name}, a file of its own.")
    except NotebookError as error:
        raise _no_notebook(error, path) from None
    return Submission(lessons[0].name if lessons else "", path, source, {}, tuple(notes))


def _no_notebook(error: Exception, path: str) -> SubmissionError:
    return SubmissionError(str(error), where=path, next_step="save it as .ipynb, in Python")


def tell_cells(result: LessonResult, submission: Submission) -> LessonResult:
    """Return a result that names the lines of a notebook by their cells, for people: numbers are still the module's."""
    from grader.intake.notebook.cell_places import CellPlaces

    told: LessonResult = CellPlaces(submission.source).tell_in(result, submission.path)
    return replace(told, notes=notes_to_tell(told.notes))


def notes_to_tell(notes: Sequence[str]) -> tuple[str, ...]:
    """Return what is noted of a notebook without how its lines are numbered, where they are told by their cells."""
    from grader.intake.notebook.cell_places import NUMBERED

    return tuple(note for note in notes if not note.startswith(NUMBERED))


def lessons_in(path: Path, course: Course) -> list[Lesson]:
    """Return the lessons whose functions a notebook defines. Raises UsageError if there is none."""
    from grader.intake.match_lessons import LessonMatcher

    matcher = LessonMatcher(course, {path.name: read_notebook(path, *course.lessons.values()).source})
    found = [lesson for lesson in course.lessons.values() if matcher.match(lesson)[0]]
    if not found:
        what = "the notebook defines no function of a lesson"
        raise UsageError(what, where=str(path), next_step="learn list, then learn check LESSON --file NOTEBOOK")
    return found
