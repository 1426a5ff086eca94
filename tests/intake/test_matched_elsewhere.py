"""Lessons whose answer stands in a file that is named for another lesson."""

from __future__ import annotations

import pytest
from support.hand_ins import ANSWERS, TINY, make_notebook

from grader.course import load
from grader.intake.answers.called_as import why_not_called
from grader.intake.match_lessons import match_attempts
from grader.intake.notebook.notebook_to_module import to_source

BOTH = ANSWERS["moving_average"] + "\n\n" + ANSWERS["argmax_2d"]
HELPER = ANSWERS["moving_average"] + "\n\ndef argmax_2d(grid, order):\n    return max(grid)\n"
CALLED = "it cannot be called as `argmax_2d(grid)`"
STUB = (TINY / "exercises/basics/argmax_2d.py").read_text()


@pytest.fixture(scope="module")
def course():
    return load(TINY)


def matches_of(course, sources, earlier, *, best):
    """The paths of what is judged of argmax_2d."""
    lesson = course.lessons["argmax_2d"]
    found = match_attempts(course, [lesson], sources, earlier, best=best, weights={})[lesson.name]
    return [one.path for one in found]


def matched(course, sources, *, lesson="argmax_2d", earlier=()):
    """What is judged of a lesson, its path and what is told."""
    found = match_attempts(course, [course.lessons[lesson]], sources, earlier, best=False, weights={})[lesson]
    return found[0].path, found[0].note


@pytest.mark.parametrize("name", ["moving_average.py", "basics/moving_average.py", "moving_average.ipynb"])
def test_a_file_named_for_another_lesson_is_taken_where_there_is_no_other(course, name):
    """Both lessons in one file: each is judged by it, and of the one without a name it is told."""
    source = to_source(make_notebook(BOTH).encode()) if name.endswith(".ipynb") else BOTH

    assert matched(course, {name: source, "notes.py": "x = 1"}, lesson="moving_average")[0] == name
    told = f"argmax_2d: {name} was judged; no file is named for this lesson."
    assert matched(course, {name: source, "notes.py": "x = 1"}) == (name, told)


@pytest.mark.parametrize("text, why", [
    ("from helpers import argmax_2d\n", ""), (STUB, ""), ("def argmax_2d(grid, order):\n    return 1\n", CALLED),
    ("def argmax_2d():\n    return 1\n", CALLED), ("def argmax_2d(grid, *, order):\n    return 1\n", CALLED),
    ("argmax_2d = max\n", "no `def` of `argmax_2d` stands at its top level"),
    (ANSWERS["argmax_2d"] + "(", "the file is no Python that can be read"),
])  # fmt: skip
def test_only_an_answer_to_the_exercise_is_taken(course, text, why):
    """An import and the empty exercise are no answer; of what cannot be called, or read, it is told why it is none."""
    told = f"argmax_2d: moving_average.py has `argmax_2d`, which was not taken: {why}." if why else ""
    source = ANSWERS["moving_average"] + "\n" + text

    assert matched(course, {"moving_average.py": source}) == ("", told)
    assert matched(course, {"moving_average.py": source, "argmax_2d.py": STUB}) == ("argmax_2d.py", told)
    assert matched(course, {"attempt 1/moving_average.py": source}, earlier=["attempt 1/"])[1] == told.replace(
        "moving", "attempt 1/moving", 1
    )


@pytest.mark.parametrize("text", [
    "def argmax_2d(n):\n    return 1, 1\n", "def argmax_2d(table: list, order=None, *, last=False):\n    return 1, 1\n",
    "argmax_2d = lambda grid: (1, 1)\n", "def argmax_2d(*grids):\n    return 1, 1\n",
    "def mine(grid):\n    return 1, 1\n\nargmax_2d = mine\n",
])  # fmt: skip
def test_what_can_be_called_as_the_exercise_is_taken(course, text):
    """Parameters may have other names, and more of them defaults; a lambda or another name of a function will do."""
    assert matched(course, {"moving_average.py": ANSWERS["moving_average"] + "\n" + text})[0] == "moving_average.py"


@pytest.mark.parametrize("text, is_called", [
    ("def f(a, dim=-1): 0", True), ("def f(a, dim): 0", True), ("def f(a, *, dim=0): 0", True),
    ("def f(a, **more): 0", True), ("def f(a, axis=-1): 0", False), ("def f(dim, x): 0", False),
    ("def f(a, dim, more): 0", False), ("def f(a): 0", False),
])  # fmt: skip
def test_optional_parameters_are_called_by_their_names(text, is_called):
    """Checks hand over required ones by place and optional ones by name: those have to have it."""
    assert (why_not_called(text, "def f(x, dim=-1): 0", {"f"}) == "") == is_called


@pytest.mark.parametrize(
    "text, told",
    [
        ("class A:\n    def __init__(self, width): 0\n    def forward(self, t): 0\n", ""),
        ("class A:\n    def forward(self, t): 0\n", "it cannot be called as `A.__init__(self, d)`"),
        ("class A:\n    def __init__(self, d): 0\n", "it cannot be called as `A.forward(self, x)`"),
    ],
)
def test_a_class_has_the_methods_of_the_exercise(text, told):
    """Its own names for what they get will do."""
    exercise = "class A:\n    def __init__(self, d): 0\n    def forward(self, x): 0\n"

    assert why_not_called(text, exercise, {"A"}) == told


def test_what_is_named_for_a_lesson_goes_first(course):
    """Within one attempt: a file that is named for another lesson takes the place of none."""
    old, other = ANSWERS["argmax_2d"], BOTH.replace("return", "return 0 or")

    assert matched(course, {"moving_average.py": BOTH, "argmax_2d.py": old})[0] == "argmax_2d.py"
    assert matched(course, {"moving_average.py": BOTH, "work.py": old})[0] == "work.py"
    path, note = matched(course, {"moving_average.py": BOTH, "moving_average.ipynb": other})
    assert not path and "several files could be meant" in note


@pytest.mark.parametrize("stub", ["argmax_2d.py", "basics/argmax_2d.py", "argmax_2d.ipynb"])
def test_an_answer_elsewhere_is_taken_before_the_empty_exercise(course, stub):
    """Whoever leaves the stub in place and answers in another lesson's file is judged by the answer, and told why."""
    text = to_source(make_notebook(STUB).encode()) if stub.endswith(".ipynb") else STUB
    told = f"argmax_2d: moving_average.py was judged; {stub}, still the empty exercise, was not."

    assert matched(course, {"moving_average.py": BOTH, stub: text}) == ("moving_average.py", told)
    assert matched(course, {"moving_average.py": HELPER, stub: text})[0] == stub


def test_an_empty_exercise_in_any_attempt_hides_no_answer_in_another(course):
    """Neither a newer nor an older stub is judged where an attempt has the answer, whatever its file is called."""
    old = "attempt 1/"
    older = "argmax_2d: this is of attempt 1."

    assert matched(course, {"moving_average.py": BOTH, f"{old}argmax_2d.py": STUB}, earlier=[old])[0] == (
        "moving_average.py"
    )
    path, note = matched(course, {"argmax_2d.py": STUB, f"{old}moving_average.py": BOTH}, earlier=[old])
    assert path == f"{old}moving_average.py" and note.startswith(older)
    path, note = matched(course, {"argmax_2d.py": STUB, f"{old}argmax_2d.py": ANSWERS["argmax_2d"]}, earlier=[old])
    assert path == f"{old}argmax_2d.py" and note == older
    assert matched(course, {"argmax_2d.py": STUB, f"{old}argmax_2d.py": STUB}, earlier=[old]) == ("argmax_2d.py", "")


def test_the_newest_answer_counts_in_whatever_file_it_lies(course):
    """Whoever moves an answer into another lesson's file is judged by it; with `best`, by each attempt's."""
    old = "attempt 1/"
    sources = {"moving_average.py": BOTH, f"{old}argmax_2d.py": ANSWERS["argmax_2d"]}

    assert matches_of(course, sources, [old], best=False) == ["moving_average.py"]
    assert matches_of(course, sources, [old], best=True) == ["moving_average.py", f"{old}argmax_2d.py"]


def test_what_lay_beside_an_older_answer_is_no_newer_one(course):
    """A helper in another lesson's file, handed in again as it was, is no answer; a changed one is."""
    old, newer = "attempt 1/", BOTH.replace("grid", "table")
    older = {f"{old}argmax_2d.py": "def argmax_2d(grid):\n    return 1, 1\n", f"{old}moving_average.py": BOTH}

    assert matches_of(course, {"moving_average.py": BOTH, **older}, [old], best=False) == [f"{old}argmax_2d.py"]
    changed = newer.replace("argmax_2d(table)", "argmax_2d(grid)")
    assert matches_of(course, {"moving_average.py": changed, **older}, [old], best=False) == ["moving_average.py"]
    assert len(matches_of(course, {"moving_average.py": BOTH, **older}, [old], best=True)) == 2


@pytest.mark.parametrize("text, is_written", [
    (STUB, False), (STUB + "\nargmax_2d.calls = 0\n", False), (STUB + "\nargmax_2d = cache(argmax_2d)\n", False),
    (STUB + "\nif __name__ == '__main__':\n    argmax_2d = mine\n", False),
    (STUB + "\nfor argmax_2d in [argmax_2d]:\n    pass\n", False),
    (STUB + "\nprint(argmax_2d)\nx = [argmax_2d for argmax_2d in ()]\nfrom math import *\n", False),
    (ANSWERS["argmax_2d"] + STUB, False), (STUB.replace("\ndef ", "\nargmax_2d = max\n\ndef "), False),
    (STUB + "\ndef mine(grid):\n    return 0, 0\n\nargmax_2d = mine\n", True),
    (STUB + "\nargmax_2d = lambda grid: 0\n", True), (STUB + "(", True),
    (STUB + "\nif True:\n    def argmax_2d(grid):\n        return 0, 0\n", True),
    (STUB.replace("\ndef ", "\nimport impl\n\n@impl.fill\ndef "), True), (STUB + "\nfrom mine import *\n", True),
    (STUB + "\nfrom impl import mine as argmax_2d\n", True),
    (STUB + "\n@given(argmax_2d)\ndef f(grid):\n    pass\n", True),
    (STUB + "\nargmax_2d.__code__ = mine.__code__\n", True), (STUB + "\nsetattr(argmax_2d, '__code__', f)\n", True),
])  # fmt: skip
def test_an_exercise_is_empty_as_long_as_nothing_comes_after_it(course, text, is_written):
    """What gives its name a value last counts, and a decorator: in doubt it is an answer, in whatever attempt."""
    old = "def argmax_2d(grid):\n    return 1, 1\n"

    for other, earlier in (("attempt 1/argmax_2d.py", ["attempt 1/"]), ("old.py", [])):
        path, note = matched(course, {"argmax_2d.py": text, other: old}, earlier=earlier)
        assert path == ("argmax_2d.py" if is_written else other)
        assert not (is_written and "empty" in note)


SCALED = "import numpy as np\nSIDE = 2\n\ndef side(grid):\n    return grid.shape[0] * SIDE\n\n"
SCALED += "def argmax_2d(grid):\n    return divmod(int(np.argmax(grid)), side(grid))\n"


@pytest.mark.parametrize("change, is_one", [
    (lambda text: "import math, numpy as np\n# mine\n" + text + "\ndef side_of(x):\n    return math.pi\n", True),
    (lambda text: text.replace("def argmax_2d(grid):", 'def argmax_2d(grid):\n    """The largest."""\n'), True),
    (lambda text: text + "\ngrid = np.ones(3)\nprint(argmax_2d(grid))\n", True),
    (lambda text: text.replace("SIDE = 2", "SIDE = 1"), False), (lambda text: text + "\nSIDE = 1\n", False),
    (lambda text: text.replace("* SIDE", "+ SIDE"), False), (lambda text: text.replace("numpy as", "math as"), False),
    (lambda text: text.replace("argmax_2d(grid)", "argmax_2d(grid=None)"), False), (lambda text: text + "(", False),
    (lambda text: text + "\nif SIDE:\n    argmax_2d = max\n", False),
    (lambda text: "from helpers import *\n" + text, False),
])  # fmt: skip
def test_the_same_answer_in_several_files_is_one(course, change, is_one):
    """Files that have the lesson's functions, and what these use, word for word are no contradiction; one is taken."""
    path, note = matched(course, {"hw1.py": SCALED, "hw2.py": change(SCALED)})

    assert (path, "hw2.py was not" in note) == (("hw1.py", True) if is_one else ("", False))
    assert is_one or "several files could be meant" in note
