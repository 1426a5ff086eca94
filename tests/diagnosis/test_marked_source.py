"""A reference made again with other lines in the place of its marked steps."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support.factories import course

from grader.course.step_marks import read_marks, strip_marks
from grader.judge.course_files import load_file
from grader.judge.mistakes.marked_source import MarkedSource

SOURCE = '''
def double(x):
    return 2 * x  # step: double


def f(x, times=3, *, add=None):
    """A loop, a condition, a call and a return."""
    total = (
        x * 0
    )  # step: start
    for _ in range(times):  # step: times
        total = total + double(x)  # (T,)  # step: add
    if add is not None:  # step: asked
        total = total + add  # step: added
    keep(total)  # step: keep
    return total  # step: give


class Layer:
    def __init__(self, size):
        self.size = size  # step: size

    def forward(self, x):
        return f(x) + self.size  # step: sum
'''
KEPT: list[object] = []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with the steps above."""
    path = tmp_path / "steps.py"
    path.write_text(SOURCE)
    return path


def made(path: Path, target: str = "f", **changes: str):
    """The function or class with these changes."""
    return MarkedSource(path, target, {"keep": KEPT.append}).build(changes)


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({}, 18.0),
        ({"start": "x"}, 21.0),
        ({"times": "range(1)"}, 6.0),
        ({"add": "double(total) + x"}, 21.0),
        ({"double": "x"}, 9.0),
        ({"double": "x", "times": "range(2)"}, 6.0),
        ({"asked": "True", "added": "total - 1"}, 17.0),
        ({"asked": "total = total + 5\nif add:\n    total = 0", "added": "this is never compiled"}, 23.0),
        ({"keep": "pass"}, 18.0),
        ({"give": "total / 2"}, 9.0),
        ({"give": "total += 1\nreturn total"}, 19.0),
        ({"take_x": "x + 1"}, 24.0),
        ({"take_times": "times - 1", "result": "-value"}, -12.0),
    ],
)
def test_what_stands_in_place_of_a_step(path, changes, expected):
    """An expression stands for the right-hand side, condition or iterable; anything else for the whole statement."""
    assert made(path, **changes)(3.0) == expected


def test_a_class_is_called_through_its_forward(path):
    """Steps in other functions and methods count, and what stands round the function stands round `forward`."""
    assert made(path, "Layer")(1).forward(2.0) == 13.0
    assert made(path, "Layer", double="x", size="10 * size", take_x="-x")(1).forward(2.0) == 4.0


def test_each_step_that_runs_is_told(path):
    """Steps of which a call does not depend are not used; those round the function always are."""
    used: set[str] = set()
    MarkedSource(path, "f", {"keep": KEPT.append}).build_watched(used)(3.0)

    assert {"start", "times", "add", "double", "asked", "keep", "give", "take_x", "result"} <= used
    assert not {"added", "size", "sum"} & used


def test_what_is_done_to_a_result_may_have_several_steps(path):
    """They run in their order, and each is a step of its own."""
    source = MarkedSource(path, "f", {"keep": KEPT.append}, after=("shifted", "scaled"))

    assert source.build({"scaled": "value * 10", "shifted": "value + 1"})(3.0) == 190.0


def test_steps_say_what_the_reference_has(path):
    """The names of steps come with their texts, for messages."""
    steps = MarkedSource(path, "f", {}).steps

    assert steps["add"] == "total + double(x)"
    assert steps["asked"] == "add is not None"
    assert (steps["take_add"], steps["result"]) == ("add", "value")


def test_a_version_is_an_expression_of_the_parameters(path):
    """A whole version has the parameters and the defaults of the reference."""
    assert MarkedSource(path, "f", {}).build_version("x * times")(2.0) == 6.0
    assert MarkedSource(path, "f", {}).build_version("x, times")(2.0) == (2.0, 3)


@pytest.mark.parametrize("line", ["# step: alone", "x = 1  # step: twice\ny = 2  # step: twice"])
def test_marks_that_cannot_be_are_errors_with_their_line(tmp_path, line):
    """A mark beside no statement, and a name used twice, are told when the file is read."""
    (tmp_path / "bad.py").write_text(f"def f():\n    return 1\n\n{line}\n")
    with pytest.raises(ValueError, match=r"line \d: "):
        MarkedSource(tmp_path / "bad.py", "f", {})


@pytest.mark.parametrize("name", course().lessons)
def test_a_reference_without_its_marks_is_the_same_code(name):
    """Learners see the reference without marks: nothing else of it is changed."""
    path = course().lessons[name].solution_path
    shown = strip_marks(path.read_text())

    assert "step:" not in shown
    assert compile(shown, "", "exec").co_code == compile(path.read_text(), "", "exec").co_code
    assert len(shown.splitlines()) == len(path.read_text().splitlines())
    assert list(read_marks(shown)) == []


def test_the_reference_made_again_is_the_reference():
    """With no change the marked source gives what the file itself gives."""
    path = course().lessons["softmax"].solution_path
    x = torch.randn(3, 4)

    again = MarkedSource(path, "softmax", {}).build({})

    assert torch.equal(again(x, dim=0), load_file(path).softmax(x, dim=0))
