"""Read a lesson's Markdown file: TOML between two `+++` lines, then the text, cut where the reader is to guess."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from grader.course.tables import Table, TomlText
from grader.files import read_file
from grader.model import Lesson

FENCE = "+++"

_HIDDEN = re.compile(r"^<details>\n<summary>(.+)</summary>\n\n((?:(?!</?details>).*\n)+)</details>$", re.MULTILINE)
_LOOSE = re.compile(r"^</?(?:details|summary)>", re.MULTILINE)
_FORM = "`<details>`, `<summary>its name</summary>`, an empty line, the answer and `</details>`"


class Part(NamedTuple):
    """A piece of a lesson's text. All but the first begin with the answer to what was asked just before."""

    answer: str  # its name, as "What it prints"; empty in the first part
    hidden: str  # the answer
    text: str


def read_front_matter(path: Path) -> Table:
    """Read what the file says about its lesson. Raises CourseError."""
    head, _ = _split(path)
    return head.parse()


def read_parts(lesson: Lesson) -> list[Part]:
    """Read the lesson's Markdown without its front matter, cut before each hidden answer. Raises CourseError."""
    head, body = _split(lesson.text_path)
    bare = _HIDDEN.sub(lambda found: "\n" * found[0].count("\n"), body)
    if loose := _LOOSE.search(bare):
        line = head.text.count("\n") + bare.count("\n", 0, loose.start()) + 4
        raise head.error(f"a hidden answer is {_FORM}, each on a line of its own", line)
    first, *more = _HIDDEN.split(body.lstrip("\n"))
    return [Part("", "", first), *(Part(*more[i : i + 3]) for i in range(0, len(more), 3))]


def _split(path: Path) -> tuple[TomlText, str]:
    lines = read_file(path).split("\n")
    whole = TomlText("", path)
    if lines[0].rstrip() != FENCE:
        raise whole.error(f"the file must begin with a {FENCE} line: its front matter is missing", 1)
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == FENCE:
            return TomlText("\n".join(lines[1:number]), path, first_line=2), "\n".join(lines[number + 1 :])
    raise whole.error(f"the front matter has no closing {FENCE} line", 1)
