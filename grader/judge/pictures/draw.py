"""Draw the pictures of a lesson: the course's functions run here, what a learner wrote runs in its worker."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from grader.errors import CourseError
from grader.files import AUDIT, at
from grader.judge.course_files import line_in, load_file
from grader.judge.errors import LearnerError
from grader.judge.pictures.views import Drawing
from grader.judge.processes.remote_module import CallableModule
from grader.judge.values.random_inputs import Rand, derive
from grader.model import Lesson
from grader.model.picture import Picture

SEED = "pictures"  # never that of a check: what a picture shows is no hidden input
_MARK = "_is_picture"

Function = TypeVar("Function", bound=Callable[..., Any])


def picture(function: Function) -> Function:
    """Mark a function (submission, reference, rand) that returns a picture; its docstring is the title."""
    setattr(function, _MARK, True)
    return function


def draw_pictures(
    lesson: Lesson, subject: Callable[[], CallableModule], reference: CallableModule, arrays: str
) -> Iterator[Picture]:
    """Draw each picture of a lesson.

    Args:
        subject: Returns the submission, loaded again if its process died.

    Raises:
        CourseError: A picture function fails.
        LearnerError: The submission cannot be loaded.
    """
    for function in list(vars(load_file(lesson.pictures_path)).values()):  # a warning adds a name to a module
        if getattr(function, _MARK, False):
            submission = subject()
            try:
                rand = Rand(derive(SEED, lesson.name, function.__name__), arrays)
                yield _made(function, function(submission, reference, rand))
            except LearnerError:
                raise
            except Exception as error:
                what = f"the picture `{function.__name__}` cannot be drawn: {type(error).__name__}: {error}"
                place = at(lesson.pictures_path, line_in(error, lesson.pictures_path))
                raise CourseError(what, where=place, next_step=AUDIT) from error


def _made(function: Callable[..., Any], drawing: Drawing) -> Picture:
    """Make a picture of what a function returned, which must be such that JSON can hold it."""
    seen = drawing.seen
    json.dumps([drawing.data, drawing.spec], allow_nan=False)
    notes = (seen.trouble or "On this call yours is the reference's answer.", *drawing.notes)
    title = (inspect.getdoc(function) or function.__name__).partition("\n")[0]
    return Picture(function.__name__, title, seen.asked, drawing.data, drawing.spec, notes, not seen.trouble)
