"""The answers that learners wrote, each with the earlier lessons that it imports.

Most are files. Where an answer is a right one with a line or two written otherwise, `edits/<lesson>.toml` says which.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from grader.model import Submission
from grader.submission import imported_modules
from support.course_files import ROOT

ANSWERS = ROOT / "tests" / "content" / "answers"
EDITS = ROOT / "tests" / "content" / "edits"


@cache
def edited_answers() -> dict[Path, str]:
    """The text of each wrong answer that is made of a right one, by the path at which a file of its own would lie."""
    found = {}
    for file in sorted(EDITS.glob("*.toml")):
        folder = ANSWERS / file.stem
        for name, row in tomllib.loads(file.read_text("utf-8")).items():
            _, text = (folder / f"{row['base']}.py").read_text("utf-8").split("\n", 1)
            for old, new in row["edits"]:
                assert text.count(old) == 1, f"{name} of {file} edits what {row['base']} does not have once: {old}"
                text = text.replace(old, new)
            found[folder / f"{name}.py"] = f"# wrong: {row['wrong']}\n{text}"
    return found


def read_answer(path: Path) -> str:
    """Return the text of an answer, which begins with what it is."""
    return edited_answers().get(path) or path.read_text("utf-8")


@cache
def earlier_lessons() -> dict[str, tuple[str, str]]:
    """One plain right answer for each lesson that has answers, as it lies beside another."""
    paths = {path.parent.name: path for path in ANSWERS.glob("*/right_plain.py")}
    return {name: (f"{name}.py", path.read_text("utf-8")) for name, path in paths.items()}


def answer_at(path: Path) -> Submission:
    """Return an answer as a learner's file, beside it those of the earlier lessons that it imports.

    Where weights are handed in as well, they are the reference's.
    """
    source = read_answer(path)
    beside: dict[str, tuple[str, str]] = {}
    waiting = imported_modules(source)
    while waiting:
        name = waiting.pop()
        if name in earlier_lessons() and name not in beside:
            beside[name] = earlier_lessons()[name]
            waiting += imported_modules(beside[name][1])
    weights = next((ROOT / "solutions").glob(f"*/{path.parent.name}.safetensors"), None)
    return Submission(path.parent.name, path.name, source, beside, artefact=weights.read_bytes() if weights else None)
