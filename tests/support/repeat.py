"""How often a test repeats: a few times and for a few lessons in every run, more often and for all with `-m soak`.

`SOAK=10 pytest -m soak` repeats ten times as often as that. All tests of a lesson: `pytest -m "" -k LESSON`.
`SHARE=2/12 pytest -m soak` runs one test in twelve, and those of 0/12 to 11/12 together are all of them; of those that
are slow, of which there are fewer, it runs one in SLOW_SHARES at most.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import Any
from zlib import crc32

import pytest

from support.course_files import ROOT

SOAK = int(os.environ.get("SOAK", "1"))
SHARE, SHARES = map(int, os.environ.get("SHARE", "0/1").split("/"))
SLOW_SHARES = 24
FEW_LESSONS = ("softmax", "attention", "feed_forward", "char_tokenizer")  # with a mask, a class, no arrays
USUAL_LESSONS = ("softmax", "feed_forward")


def repeat(usual: int, soak: int) -> pytest.MarkDecorator:
    """Give the test an argument `times`: `usual`, or SOAK times `soak` in the run of the marked test alone."""
    return pytest.mark.parametrize("times", [usual, pytest.param(soak * SOAK, marks=pytest.mark.soak)])


def rarely(
    values: Iterable[Any], usual: Collection[Any] | None = None, slow: Collection[Any] | None = None
) -> list[Any]:
    """Return parameters of a test of which only the usual ones are in every run, and `slow` ones in `.ci/run`.

    Without either they are lessons: of FEW_LESSONS two in every run.
    """
    slow = slow if slow is not None else () if usual is not None else FEW_LESSONS
    usual = USUAL_LESSONS if usual is None else usual
    rows = (value if isinstance(value, tuple) else (value,) for value in values)
    return [pytest.param(*row, marks=_marks(row, usual, slow)) for row in rows]


def _marks(row: tuple[Any, ...], usual: Collection[Any], slow: Collection[Any]) -> list[pytest.MarkDecorator]:
    if row in usual or row[0] in usual:
        return []
    return [pytest.mark.slow] if row in slow or row[0] in slow else [pytest.mark.soak]


def read_long_tests() -> set[str]:
    """Return the names in long_tests.txt, which `support.measure` writes."""
    return set((ROOT / "tests" / "long_tests.txt").read_text().splitlines())


def mark_long_tests(items: list[pytest.Item]) -> None:
    """Mark as slow what long_tests.txt names: tests that each took 0.2 s of processor time or more."""
    names = read_long_tests()
    for item in items:
        if item.nodeid.removeprefix("tests/") in names:
            item.add_marker(pytest.mark.slow)


def keep_share(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the long tests that are not in this run's share of them."""
    left_out = {item for item in items if not _is_in_share(item)}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def _is_in_share(item: pytest.Item) -> bool:
    if item.get_closest_marker("soak"):
        shares = SHARES
    elif item.get_closest_marker("slow"):
        shares = min(SHARES, SLOW_SHARES)
    else:
        return True
    return crc32(item.nodeid.encode()) % shares == SHARE % shares


def lessons_in_share() -> str:
    """Return the names of this share's lessons, separated by commas; empty where the share is all of them."""
    from grader.course import load

    lessons = list(load(ROOT).lessons)
    first = SHARE % len(lessons)  # where there are more shares than lessons, none is left without one
    return "" if SHARES == 1 else ",".join(lessons[first::SHARES])
