"""TOML that somebody else wrote is read, or refused, at once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from support.learn_command import learn, start_workspace

from grader.course.tables import TomlText
from grader.errors import CourseError
from grader.files import MAX_DOTS, load_toml

DEEP = "a." * 30_000 + "b = 1"


@pytest.mark.parametrize("text", [DEEP, f"[{DEEP[:-4]}]", f"a = {{{DEEP}}}", "a = " + "[" * 30_000])
def test_a_key_of_very_many_parts_is_refused_at_once(text):
    """Reading it takes a time that grows with the square of its parts: minutes for a file of 64 kB."""
    began = time.process_time()
    with pytest.raises(CourseError):
        TomlText(text, Path("course.toml")).parse()

    assert time.process_time() - began < 2


def test_a_workspace_that_says_so_is_damaged(tmp_path):
    """Its file may have come with somebody else's folder."""
    root = start_workspace(tmp_path / "work")
    (root / ".selfattend/workspace.toml").write_text(DEEP)
    done = learn("list", cwd=root)

    assert done.returncode == 2
    assert "damaged" in done.stderr


def test_other_keys_and_dots_are_read():
    """Long tables of numbers and sentences that trail off are none of that."""
    numbers = ", ".join(["0.5"] * (MAX_DOTS - 2))
    assert load_toml(f'a.b.c = [{numbers}]\nd = "{"." * 900}"')["a"]["b"]["c"][-1] == 0.5
