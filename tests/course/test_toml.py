"""TOML that somebody else wrote is read, or refused, at once."""

from __future__ import annotations

import contextlib
import itertools
import time
from pathlib import Path

import pytest
from support.learn_command import learn, start_workspace

from grader.course.tables import TomlText
from grader.errors import CourseError
from grader.files import MAX_KEY_DOTS, MAX_TOML_CHARS, load_toml

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
    numbers = ", ".join(["0.5"] * 998)
    prose = "It trails off" + "." * 900
    text = f'''a.b.c = [{numbers}]  # {prose}
        d = "\\"{prose}"
        e = \'{prose}"\'
        f = """{prose}"
            {prose}"""""
        g = {{h.i = "{prose}"}}
        "{prose}" = 1
    '''

    assert load_toml(text)["a"]["b"]["c"][-1] == 0.5
    assert load_toml(text)["g"]["h"]["i"] == prose


MANY = "a." * 1_000 + "b{} = 1\n"


@pytest.mark.parametrize("text", [
    "".join(MANY.format(number) for number in range(32)),
    "x = [1]\n" * 10_000 + f"[[{'a . ' * 999}b]]\n" + "c = 1\n" * 9_000,
    f'''c = {{d = """x"""", {"'a'." * 1_000}b = 1}}\n''' * 30,
    "#" * MAX_TOML_CHARS + "\n",
], ids=["lines", "header", "behind five quotes", "long"])  # fmt: skip
def test_what_is_dear_together_is_refused_at_once(text):
    """Each line by itself may be harmless: what the parts of its keys cost adds up over a file."""
    began = time.process_time()
    with pytest.raises(ValueError, match=r"a key has more than|longer than"):
        load_toml(text)

    assert time.process_time() - began < 0.5


@pytest.mark.slow
def test_nothing_is_gone_through_twice():
    """Strings that are never closed, or end in half of what escapes a quote, cost no more than others."""
    lines = ['"""', "'''", '"', "'", "\\", '"""\\', '"\\', "#", "a = "]
    began = time.process_time()
    for line, before, end in itertools.product(lines, lines, ("", "\\", '"', "'", '"\\')):
        with contextlib.suppress(ValueError):
            load_toml(f"{before}{line}\n" * 3_000 + f"{'.' * 20}\n{end}")

    assert time.process_time() - began < 30  # 3 s


@pytest.mark.slow
@pytest.mark.parametrize("line", [
    f"[[{'a.' * MAX_KEY_DOTS}b]]\n{'c.' * MAX_KEY_DOTS}d = 1\n", 'a = \"\"\"', "'\\\"#",
], ids=["keys", "open strings", "quotes"])  # fmt: skip
def test_the_dearest_that_is_taken_takes_seconds(line):
    """What is neither too long nor has long keys is read, or found to be no TOML, in a few seconds."""
    text = "x = 1  # " + "." * 20 + "\n"
    text += line * ((MAX_TOML_CHARS - len(text)) // len(line))
    began = time.process_time()
    with contextlib.suppress(ValueError):
        load_toml(text)

    assert time.process_time() - began < 15  # 3 s
