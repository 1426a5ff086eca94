"""The answers that learners wrote, each with the earlier lessons that it imports."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from grader.model import Submission
from grader.submission import imported_modules
from support.course_files import ROOT

ANSWERS = ROOT / "tests" / "content" / "answers"


@cache
def earlier_lessons() -> dict[str, tuple[str, str]]:
    """One plain right answer for each lesson that has answers, as it lies beside another."""
    paths = {path.parent.name: path for path in ANSWERS.glob("*/right_plain.py")}
    return {name: (f"{name}.py", path.read_text("utf-8")) for name, path in paths.items()}


def answer_at(path: Path) -> Submission:
    """Return an answer as a learner's file, beside it those of the earlier lessons that it imports.

    Where weights are handed in as well, they are the reference's.
    """
    source = path.read_text("utf-8")
    beside: dict[str, tuple[str, str]] = {}
    waiting = imported_modules(source)
    while waiting:
        name = waiting.pop()
        if name in earlier_lessons() and name not in beside:
            beside[name] = earlier_lessons()[name]
            waiting += imported_modules(beside[name][1])
    weights = next((ROOT / "solutions").glob(f"*/{path.parent.name}.safetensors"), None)
    return Submission(path.parent.name, path.name, source, beside, artefact=weights.read_bytes() if weights else None)
