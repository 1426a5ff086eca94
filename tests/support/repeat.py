"""How often a test with random draws repeats: a few times in every run, more often with `pytest -m soak`.

`SOAK=10 pytest -m soak` repeats ten times as often as that.
"""

from __future__ import annotations

import os

import pytest

SOAK = int(os.environ.get("SOAK", "1"))


def repeat(usual: int, soak: int) -> pytest.MarkDecorator:
    """Give the test an argument `times`: `usual`, or SOAK times `soak` in the run of the marked test alone."""
    return pytest.mark.parametrize("times", [usual, pytest.param(soak * SOAK, marks=pytest.mark.soak)])
