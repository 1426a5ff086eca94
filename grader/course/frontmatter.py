"""Read a lesson's Markdown file: TOML between two `+++` lines, then the text."""

from __future__ import annotations

from pathlib import Path

from grader.course.tables import Table, TomlText
from grader.files import read_file
from grader.model import Lesson

FENCE = "+++"


def read_front_matter(path: Path) -> Table:
    """Read what the file says about its lesson. Raises CourseError."""
    head, _ = _split(path)
    return head.parse()


def read_text(lesson: Lesson) -> str:
    """Read the lesson's Markdown without its front matter. Raises CourseError."""
    _, body = _split(lesson.text_path)
    return body.lstrip("\n")


def _split(path: Path) -> tuple[TomlText, str]:
    lines = read_file(path).split("\n")
    whole = TomlText("", path)
    if lines[0].rstrip() != FENCE:
        raise whole.error(f"the file must begin with a {FENCE} line: its front matter is missing", 1)
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == FENCE:
            return TomlText("\n".join(lines[1:number]), path, first_line=2), "\n".join(lines[number + 1 :])
    raise whole.error(f"the front matter has no closing {FENCE} line", 1)
