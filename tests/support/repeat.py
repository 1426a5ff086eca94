"""How often a test repeats: a few times and for a few lessons in every run, more often and for all with `-m soak`.

`SOAK=10 pytest -m soak` repeats ten times as often as that. All tests of a lesson: `pytest -m "" -k LESSON`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import Any

import pytest

SOAK = int(os.environ.get("SOAK", "1"))
FEW_LESSONS = ("softmax", "attention", "feed_forward", "char_tokenizer")  # with a mask, a class, no arrays


def repeat(usual: int, soak: int) -> pytest.MarkDecorator:
    """Give the test an argument `times`: `usual`, or SOAK times `soak` in the run of the marked test alone."""
    return pytest.mark.parametrize("times", [usual, pytest.param(soak * SOAK, marks=pytest.mark.soak)])


def rarely(values: Iterable[Any], usual: Collection[Any] = FEW_LESSONS) -> list[Any]:
    """Return parameters of a test of which only the usual ones are in every run."""
    rows = (value if isinstance(value, tuple) else (value,) for value in values)
    return [pytest.param(*row, marks=[] if row in usual or row[0] in usual else pytest.mark.soak) for row in rows]
