"""Runs the code that questions show: what it prints, and which of its lines is the wrong one."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable
from typing import Any

import torch

from grader.quiz.model import Question

Space = dict[str, Any]


def run(code: str, **names: Any) -> Space:
    """What the code defines. `torch` and `math` are there, as they are for the learner."""
    space: Space = {"torch": torch, "math": math, "nn": torch.nn, **names}
    exec(compile(code, "<question>", "exec"), space)
    return space


def printed(code: str, **names: Any) -> str:
    """What the code prints, without the last line's end."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run(code, **names)
    return out.getvalue().rstrip("\n")


def wrong_line(question: Question, works: Callable[[str], bool]) -> int:
    """The one line, counted from 1, whose replacement by the fix makes the code work. As it stands it must not."""
    assert not _works(works, question.code), "the code works as it stands"
    lines = question.code.split("\n")
    found = [number for number in range(1, len(lines) + 1) if _works(works, _mended(lines, number, question))]
    assert len(found) == 1, f"the fix helps in the lines {found}"
    return found[0]


def _mended(lines: list[str], number: int, question: Question) -> str:
    line = lines[number - 1]
    indent = line[: len(line) - len(line.lstrip())]
    return "\n".join([*lines[: number - 1], indent + question.details["fix"], *lines[number:]])


def _works(works: Callable[[str], bool], code: str) -> bool:
    try:
        return works(code)
    except Exception:
        return False
