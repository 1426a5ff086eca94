"""What an audit says of one lesson."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import SelfattendError
from grader.files import at


@dataclass
class LessonAudit:
    """What was proved for one lesson, as counts (proved, of how many), and what is wrong.

    Attributes:
        root: The course's folder.
        matrix: For each function and each of its mistakes, the checks that failed it.
        forms: For each fault of form, the score of the reference with it, by function.
    """

    lesson: str
    root: Path = Path()
    rejected: tuple[int, int] = (0, 0)
    named: tuple[int, int] = (0, 0)
    alternatives: tuple[int, int] = (0, 0)
    checks: int = 0
    problems: list[str] = field(default_factory=list)
    matrix: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    forms: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        """Return True if nothing is wrong."""
        return not self.problems

    def add(self, what: str, path: Path, line: int = 0) -> None:
        """Note what is wrong, and where."""
        shown = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        self.problems.append(f"{at(shown, line)}: {what}")

    def add_error(self, error: SelfattendError) -> None:
        """Note an error that says itself where it is."""
        path, _, line = error.where.rpartition(":")
        known = line.isdecimal()
        self.add(error.what, Path(path if known else error.where), int(line) if known else 0)
