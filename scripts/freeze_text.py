"""Freeze the text that the capstone tiny_gpt learns: what the lessons and the questions of this course say.

    python scripts/freeze_text.py        writes lessons/models/tiny_gpt.txt anew

It is done once in a version, not with each change of a lesson: what learners compare themselves with hangs on it.
Whoever runs it measures again and trains the reference's weights anew: benchmarks/tiny_gpt.py.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "lessons/models/tiny_gpt.txt"
SHORTEST = 40  # characters: below that it is a label
ASCII = str.maketrans({"−": "-", "–": "-", "—": "-", "×": "x", "·": "*", "…": "...", "“": '"', "”": '"', "’": "'"})
ASKED = ("text", "explain", "right", "feedback")  # what a question says in sentences


def prose_of(text: str) -> Iterator[str]:
    """Yield the paragraphs of a page: no code, table or heading."""
    for paragraph in re.split(r"\n\s*\n|\n(?=[-*] )", re.sub(r"^```.*?^```", "\n", text, flags=re.M | re.S)):
        if not re.match(r"\s*(#|\||<|    )", paragraph):
            yield paragraph


def strings_in(value: Any, key: str = "") -> Iterator[str]:
    """Yield what is said in a question, however deep it lies."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from strings_in(each, name if name in ASKED else key)
    elif isinstance(value, list):
        for each in value:
            yield from strings_in(each, key)
    elif isinstance(value, str) and key in ASKED:
        yield value


def plain(paragraph: str) -> str:
    """Return a paragraph as one line without marks, or "" where it is no sentence, or has signs of mathematics."""
    line = " ".join(re.sub(r"\*\*|`|\$|^\s*[-*] ", "", paragraph).translate(ASCII).split())
    is_sentence = len(line) >= SHORTEST and line[0].isalpha() and line[-1] in ".?!:"
    return line if is_sentence and line.isascii() and not re.search(r"[{}<>|\\~^_]", line) else ""


def documents() -> Iterator[str]:
    """Yield lessons and topics, each as lines that were not there before."""
    seen: set[str] = set()
    for path in sorted([*ROOT.glob("lessons/*/*")]):
        said: Iterator[str] = iter(())
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            _, head, body = text.split("+++\n", 2) if text.startswith("+++\n") else ("", "", text)
            said = chain(prose_of(body), strings_in(tomllib.loads(head).get("hints", {}), "text"))
        elif path.name.endswith(".quiz.toml"):
            said = strings_in(tomllib.loads(path.read_text(encoding="utf-8")))
        lines = [line for line in map(plain, said) if line and not (line in seen or seen.add(line))]  # type: ignore[func-returns-value]
        if lines:
            yield "\n".join(lines) + "\n"


if __name__ == "__main__":
    found = list(documents())
    random.Random(1).shuffle(found)  # else the last tenth would be of one track
    TARGET.write_text("\n".join(found), encoding="utf-8")
