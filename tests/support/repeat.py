"""How often a test with random draws repeats: a few times in every run, many times with `pytest -m soak`."""

from __future__ import annotations

import pytest


def repeat(usual: int, soak: int) -> pytest.MarkDecorator:
    """Give the test an argument `times`: `usual`, or `soak` in the run of the marked test alone."""
    return pytest.mark.parametrize("times", [usual, pytest.param(soak, marks=pytest.mark.soak)])
