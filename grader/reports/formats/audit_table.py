"""Show what an audit proved, as a table that can be printed line by line while the audit goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from grader.model import SCHEMA
from grader.terminal.text import Signs, plural

COLUMNS = ("checks", "mistakes rejected", "named", "alternatives passed")
MIN_LESSON_COLUMN = len("lesson")


class LessonProofs(Protocol):
    """The audit of one lesson: counts (proved, of how many) and the problems found."""

    lesson: str
    checks: int
    rejected: tuple[int, int]
    named: tuple[int, int]
    alternatives: tuple[int, int]
    problems: list[str]


class QuizProofs(Protocol):
    """The audit of a quiz."""

    @property
    def topics(self) -> int: ...

    @property
    def families(self) -> int: ...

    @property
    def generated(self) -> int: ...

    @property
    def problems(self) -> Sequence[str]: ...


def lesson_column(lessons: Sequence[str]) -> int:
    """Return the width of the column with the lessons' names."""
    return max([MIN_LESSON_COLUMN, *map(len, lessons)])


def head(width: int) -> str:
    """Return the head of the table."""
    return "  ".join(["  lesson".ljust(width + 2), *COLUMNS])


def row(proofs: LessonProofs, width: int, signs: Signs) -> str:
    """Return one lesson's line."""
    sign = signs.failed if proofs.problems else signs.passed
    pairs = (proofs.rejected, proofs.named, proofs.alternatives)
    cells = [str(proofs.checks), *(f"{proved}/{count}" for proved, count in pairs)]
    padded = [cell.rjust(len(column)) for cell, column in zip(cells, COLUMNS, strict=True)]
    return "  ".join([f"{sign} {proofs.lesson.ljust(width)}", *padded])


def conclusion(audits: Sequence[LessonProofs]) -> str:
    """Sum up the lessons in one sentence."""
    wrong = sum(len(proofs.problems) for proofs in audits)
    lessons = plural(len(audits), "lesson")
    return f"{lessons}: {plural(wrong, 'problem')}." if wrong else f"{lessons}: everything is proved."


def quiz_conclusion(questions: QuizProofs) -> str:
    """Sum up the quiz in one sentence."""
    counts = f"{plural(questions.families, 'question')} on {plural(questions.topics, 'topic')}"
    generated = f"{questions.generated} with numbers that are drawn"
    wrong = plural(len(questions.problems), "problem") if questions.problems else "none is ambiguous"
    return f"{counts}, {generated}: {wrong}."


def to_object(audits: Sequence[LessonProofs], questions: QuizProofs | None = None) -> dict[str, Any]:
    """Return the documented object of `grader audit --json`; each pair is [proved, of how many]."""
    problems = list(questions.problems) if questions else []
    quiz = questions and {name: getattr(questions, name) for name in ("topics", "families", "generated")}
    return {
        "schema": SCHEMA,
        "clean": not problems and not any(proofs.problems for proofs in audits),
        "questions": quiz and quiz | {"problems": problems},
        "lessons": {
            proofs.lesson: {
                "checks": proofs.checks,
                "rejected": list(proofs.rejected),
                "named": list(proofs.named),
                "alternatives": list(proofs.alternatives),
                "problems": list(proofs.problems),
            }
            for proofs in audits
        },
    }
