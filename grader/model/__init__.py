"""The nouns of the engine: frozen classes, no I/O, no torch.

A *course* has tracks of *lessons*; a lesson has *functions* to write. Grading a *submission* of a lesson gives a
*LessonResult*: one *CheckResult* a check, the *Named* mistakes, and the feedback made from them.

Making a dataclass costs half a millisecond: commands that only list lessons load no classes of results or quizzes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from grader.model.course import (
    FULL_WAY,
    KINDS,
    MAX_PAIRS,
    MAX_PEOPLE,
    SCHEMA,
    Course,
    Function,
    Lesson,
    Limits,
    Track,
    Way,
)
from grader.model.progress import LessonProgress

# fmt: off
if TYPE_CHECKING:
    from grader.model.quiz import (  # noqa: I001  as in __all__
        CERTAINTIES, CLAIMS, DONT_KNOW, MODES, Answered, Claimed, QuizSession,
    )
    from grader.model.lesson_result import (
        OUTCOMES, SKILLS, STATES, Attempt, CheckResult, Counterexample, LessonResult, Named, Override, Submission,
        Suggestion, WrongLine,
    )

__all__ = [
    "CERTAINTIES", "CLAIMS", "DONT_KNOW", "FULL_WAY", "KINDS", "MAX_PAIRS", "MAX_PEOPLE", "MODES", "OUTCOMES", "SCHEMA",
    "SKILLS", "STATES", "Answered", "Attempt", "CheckResult", "Claimed", "Counterexample", "Course", "Function",
    "Lesson", "LessonProgress", "LessonResult", "Limits", "Named", "Override", "QuizSession", "Submission",
    "Suggestion", "Track", "Way", "WrongLine",
]
# fmt: on
_OF_QUIZ = frozenset({"CERTAINTIES", "CLAIMS", "DONT_KNOW", "MODES", "Answered", "Claimed", "QuizSession"})


def __getattr__(name: str) -> Any:
    """Import the class when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("grader.model.quiz" if name in _OF_QUIZ else "grader.model.lesson_result"), name)
