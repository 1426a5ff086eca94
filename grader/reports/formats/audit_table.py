"""What an audit proved, as a table that can be printed line by line while the audit goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from grader.model import SCHEMA
from grader.terminal.text import Signs, plural

COLUMNS = ("checks", "mistakes rejected", "named", "alternatives passed")
NARROWEST = 6  # the word "lesson"


class Proofs(Protocol):
    """One lesson's audit: counts (proved, of how many), and what was found wrong."""

    lesson: str
    checks: int
    rejected: tuple[int, int]
    named: tuple[int, int]
    alternatives: tuple[int, int]
    problems: list[str]


class Asked(Protocol):
    """The audit of a quiz."""

    @property
    def topics(self) -> int: ...

    @property
    def families(self) -> int: ...

    @property
    def generated(self) -> int: ...

    @property
    def problems(self) -> Sequence[str]: ...


def first_column(lessons: Sequence[str]) -> int:
    """The width of the column with the lessons' names."""
    return max([NARROWEST, *map(len, lessons)])


def head(width: int) -> str:
    """The head of the table."""
    return "  ".join(["  lesson".ljust(width + 2), *COLUMNS])


def row(proofs: Proofs, width: int, signs: Signs) -> str:
    """One lesson's line."""
    sign = signs.failed if proofs.problems else signs.passed
    pairs = (proofs.rejected, proofs.named, proofs.alternatives)
    cells = [str(proofs.checks), *(f"{good}/{all_of_them}" for good, all_of_them in pairs)]
    padded = [cell.rjust(len(column)) for cell, column in zip(cells, COLUMNS, strict=True)]
    return "  ".join([f"{sign} {proofs.lesson.ljust(width)}", *padded])


def conclusion(audits: Sequence[Proofs]) -> str:
    """One sentence about all of it."""
    wrong = sum(len(proofs.problems) for proofs in audits)
    lessons = plural(len(audits), "lesson")
    return f"{lessons}: {plural(wrong, 'problem')}." if wrong else f"{lessons}: everything is proved."


def asked(questions: Asked) -> str:
    """One sentence about the quiz."""
    counts = f"{plural(questions.families, 'question')} on {plural(questions.topics, 'topic')}"
    generated = f"{questions.generated} with numbers that are drawn"
    wrong = plural(len(questions.problems), "problem") if questions.problems else "none is ambiguous"
    return f"{counts}, {generated}: {wrong}."


def to_object(audits: Sequence[Proofs], questions: Asked | None = None) -> dict[str, Any]:
    """The documented object of `grader audit --json`; each pair is [proved, of how many]."""
    problems = list(questions.problems) if questions else []
    quiz = questions and {
        "topics": questions.topics, "families": questions.families, "generated": questions.generated,
        "problems": problems,
    }  # fmt: skip
    return {
        "schema": SCHEMA,
        "clean": not problems and not any(proofs.problems for proofs in audits),
        "questions": quiz,
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
