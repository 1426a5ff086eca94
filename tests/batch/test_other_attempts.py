"""What an attempt imports and has not, or a newer one has mended, is taken of the learner's other attempts."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from support.hand_ins import ANSWERS, SUMS, TINY

from grader.batch.one_learner.other_attempts import OtherAttempts
from grader.course import load
from grader.intake.match_lessons import match_attempts
from grader.model import Submission

A, B = "def f(x):\n    return 1\n", "def f(x):\n    return 2\n"
BROKEN = "def f(x): return (\n"
ONE, TWO, MEAN = "attempt 1/", "attempt 2/", "moving_average.py"
STUB = (TINY / "exercises/basics/moving_average.py").read_text()


@pytest.fixture
def read_lessons():
    """Reads lessons in the newest attempt of these files that has them, or another, and says of which their time is."""
    course = load(TINY)

    def do(files: dict[str, str], names: list[str], best: bool = False, place: int = 0) -> list[tuple[Submission, str]]:
        lessons, folders = [*course.lessons.values()], [TWO, ONE]
        matches = match_attempts(course, lessons, files, folders, best=best, weights={})
        contents = {path: text.encode() for path, text in files.items()}
        judged = {one.path for found in matches.values() for one in found}
        others = OtherAttempts(course, files, contents, ["", *folders], judged, best)
        found = [others.read(course.lessons[name], matches[name][place]) for name in names]
        return [(submission, match.newest) for submission, match in found]

    return do


@pytest.fixture
def read(read_lessons):
    """Does so for argmax_2d."""
    return lambda files, **options: read_lessons(files, ["argmax_2d"], **options)[0]


def importing(line: str) -> str:
    """An answer to argmax_2d with an import."""
    return f"{line}\n{ANSWERS['argmax_2d']}"


@pytest.mark.parametrize("line, files, taken", [
    ("from lib import f", {TWO + "lib.py": A, ONE + "lib.py": B}, {"lib": A}),
    ("import lib", {ONE + "lib (1).py": B}, {"lib": B}), ("import lib", {ONE + "hw.zip/src/lib.ipynb": B}, {"lib": B}),
    ("from .lib import f", {ONE + "lib.py": A}, {"lib": A}), ("import lib", {ONE + "lib-1.py": B}, {"lib": B}),
    ("from . import (a,  # first\n b)", {ONE + "a.py": A, ONE + "b.py": B}, {"a": A, "b": B}),
    ("from pack.lib import f", {ONE + "hw.zip/pack/lib.py": A, ONE + "hw.zip/pack/__init__.py": ""}, {"lib": A}),
    ("import a", {TWO + "a.py": "import b", ONE + "b.py": A, "sub/c.py": A}, {"a": "import b", "b": A}),
    ("import moving_average as m", {TWO + MEAN: STUB, ONE + MEAN: SUMS}, {"moving_average": SUMS}),
    ("import lib", {"lib.py": A, TWO + "lib.py": B}, {"lib": A}),
    ("import lib", {"x/lib.py": A, TWO + "lib.py": B}, {"lib": A}),
    ("import lib", {"x/lib.py": A, "y/lib.py": A, "x/lib.ipynb": "{}"}, {"lib": A}),
    ("import lib", {"tests/lib.py": A, TWO + "lib.py": B}, {"lib": B}),
    ("import lib", {"tests/lib.py": A, "old/lib.py": A}, {}),
    ("import a", {"lab/a.py": "from b import *", "lab/b.py": A}, {"a": "from b import *", "b": A}),
    ("from pack.lib import f", {"pack.zip/pack/lib.py": A}, {"lib": A}),
    ("from pack.lib import f", {"pack/c.py": B, ONE + "pack/lib.py": A}, {"lib": A}),
    ("import sys\nsys.path.append('../f')\nfrom f import f\nf(1)", {"f/f.py": A}, {"f": A}),
    ("from f import f\nf.f(1)", {"f/f.py": A}, {"f": A}),
    ("from pack import f", {"q/__init__.py": B, ONE + "pack/__init__.py": A}, {"pack": A}),
    ("from pack.lib import f", {"lib.py": A, ONE + "pack/lib.py": B}, {"pack_lib": A}),
    ("import random, nothing_here", {ONE + "random.py": A, ONE + "nothing_here.txt": A}, {}),
])  # fmt: skip
def test_what_an_attempt_lacks_is_of_the_newest_that_has_it(read, line, files, taken):
    """A file of that name in its own goes first, wherever it lies; what is an exercise still comes last."""
    submission, newest = read({"argmax_2d.py": importing(line), **files})

    assert {name: text for name, (_, text) in submission.siblings.items()} == taken and newest == ""
    assert all(", which it imports, " in note for note in submission.notes)
    paths = [path for path, _ in submission.siblings.values()]
    pairs = zip(paths, submission.notes, strict=False)  # no note of one that is found without
    assert all(path.startswith("attempt ") == (" is of attempt " in note) for path, note in pairs)


def test_lending_a_file_tree_costs_little(read_lessons, monkeypatch):
    """Of hundreds of files below 40 folders, each of which every lesson imports, none is made, and it takes no time."""
    for act in ("mkdir", "open", "write_bytes"):
        monkeypatch.setattr(Path, act, lambda *_, **__: pytest.fail("a file is made"))
    folders = [f"d{number}" for number in range(40)]
    tree = {f"x/{'/'.join(folders)}/f{number}.py": "" for number in range(400)}
    imports = "".join(f"import {name}\n" for name in folders)
    lessons = {f"{at}/{name}.py": imports + ANSWERS[name] for at, name in enumerate(("argmax_2d", "moving_average"))}
    began = time.process_time()
    read_lessons(tree | lessons, ["argmax_2d", "moving_average"])
    assert time.process_time() - began < 4


def test_which_of_several_files_is_meant_is_asked(read):
    """Of several in other folders of the same attempt none is taken, and all are named."""
    submission, _ = read({"argmax_2d.py": importing("import lib"), "x/lib.py": A, "y/lib.py": B, TWO + "lib.py": B})
    assert not submission.siblings
    assert submission.notes == ("Which `lib` is imported is not known: x/lib.py, y/lib.py. Put it beside.",)


def test_what_an_attempt_lacks_may_have_come_later(read):
    """Whoever forgot a file and hands it in alone has it, and its time."""
    submission, newest = read({ONE + "argmax_2d.py": importing("import lib"), "lib.py": A})

    assert submission.siblings["lib"][1] == A and newest == ""
    assert submission.notes == ("lib.py, which it imports, is of the newest attempt.",)


@pytest.mark.parametrize("older, taken, notes", [
    (A, A, ["lib.py of attempt 2 was not used: '(' was never closed, line 1. "
            "lib.py, which it imports, is of attempt 1."]),
    (f"\n{BROKEN}", BROKEN, ["lib.py, which it imports, is of attempt 2."]),
])  # fmt: skip
def test_what_an_attempt_lacks_is_of_the_newest_that_can_be_read(read, older, taken, notes):
    """One with a fault is noted, and taken only where no other can be read."""
    files = {"argmax_2d.py": importing("import lib"), TWO + "lib.py": BROKEN, ONE + "lib.py": older}
    submission, newest = read(files)

    assert (submission.siblings["lib"][1], newest, [*submission.notes]) == (taken, "", notes)


@pytest.mark.parametrize("files, taken, of, note", [
    ({ONE + "lib.py": B, "lib.py": A}, A, "", "lib.py, which it imports, is of the newest attempt."),
    ({ONE + "lib.py": B, TWO + "hw/lib.py": A}, A, TWO, "lib.py, which it imports, is of attempt 2."),
    ({ONE + "src/lib.py": B, "lib (1).py": A}, A, "", "lib (1).py, which it imports, is of the newest attempt."),
    ({ONE + "lib.py": B, "lib.py": B}, B, ONE, ""),
    ({ONE + "lib.py": f"{B}x = 1\n", "lib.py": A}, f"{B}x = 1\n", ONE,
     "lib.py of the newest attempt was not used: it has no `x`."),
    ({ONE + "lib.py": B, "lib.py": "def f(x:\n"}, B, ONE,
     "lib.py of the newest attempt was not used: '(' was never closed, line 1."),
    ({ONE + "lib.py": B, "lib.py": f"{A}x = {'not ' * 7000}1\n"}, B, ONE,
     "lib.py of the newest attempt was not used: the source is nested too deeply."),
    ({ONE + "lib.py": B, "lib.py": A + 'x = f"' + "{1}" * 5001 + '"\n', TWO + "lib.py": A}, A, TWO,
     "lib.py of the newest attempt was not used: the file has more than 5000 curly brackets. "
     "lib.py, which it imports, is of attempt 2."),
    ({ONE + "lib/__init__.py": B, "other/__init__.py": A}, B, ONE, ""),  # that of another package
    ({ONE + "lib/__init__.py": B, "lib/__init__.py": A}, B, ONE,
     "__init__.py of the newest attempt was not used: lib/__init__.py is of a package."),
    ({ONE + "lib.py": B, "pack/lib.py": A, "pack/__init__.py": ""}, B, ONE,
     "lib.py of the newest attempt was not used: it is pack/lib.py, not lib.py."),
    ({ONE + "lib.py": B, "pack/lib.py": B, "pack/__init__.py": "", TWO + "lib.py": A}, A, TWO,
     "lib.py, which it imports, is of attempt 2."),
    ({ONE + "lib.py": B, "lib_fixed.py": A}, B, ONE,
     "lib_fixed.py of the newest attempt was not used: it is not called lib.py."),
    ({ONE + "lib.py": B, "old/lib.py": A}, B, ONE,
     "lib.py of the newest attempt was not used: it lies among tests or old files."),
    ({ONE + "lib.py": B, "lib.py": "def f(x):\n    raise NotImplementedError\n"}, B, ONE,
     "lib.py of the newest attempt was not used: its `f` is not written yet."),
    ({ONE + "src/lib.py": B, "lib.py": B, "src/lib.py": A}, A, "",
     "lib.py, which it imports, is of the newest attempt."),
])  # fmt: skip
def test_what_an_older_file_imports_is_the_newest(read, files, taken, of, note):
    """A mended helper handed in alone is used, if it has all that the older one has; with its time."""
    submission, newest = read({ONE + "argmax_2d.py": importing("from lib import f"), **files})

    assert (submission.siblings["lib"][1], newest, submission.notes) == (taken, of, (note,) if note else ())


@pytest.mark.parametrize("line, added, newest", [
    ("from lib import f", "# more\ndef g():\n    return 3\n", ONE), ("from lib import f", "import nothing_here\n", ""),
    ("from lib import f", "@f\ndef g():\n    return 3\n", ""), ("from lib import f", f"{B}#\n", ""),
    ("import lib; lib.g", "def g():\n    return 3\n", ""), ("from lib import *; g", "def g():\n    return 3\n", ""),
])  # fmt: skip
def test_a_newer_helper_that_gives_the_same_costs_nothing(read, line, added, newest):
    """The older file stands, with its time, if what it uses and what importing the helper runs are the same."""
    submission, of = read({ONE + "argmax_2d.py": importing(line), ONE + "lib.py": A, "lib.py": A + added})

    assert (submission.siblings["lib"][1], of) == (A if newest else A + added, newest)
    assert bool(submission.notes) == (not newest)


@pytest.mark.parametrize("names, times", [
    (["argmax_2d", "moving_average"], [ONE, ""]), (["moving_average", "argmax_2d"], ["", ONE]),
])  # fmt: skip
def test_what_replaces_a_file_for_one_lesson_does_not_for_another(read_lessons, names, times):
    """Whoever uses the same of both files has the older one, whichever lesson is read first."""
    files = {ONE + "argmax_2d.py": importing("from lib import f"), ONE + MEAN: f"from lib import g\n{SUMS}"}
    files |= {ONE + "lib.py": f"{A}def g():\n    return 3\n", "lib.py": f"{A}def g():\n    return 4\n"}

    assert [of for _, of in read_lessons(files, names)] == times


def test_where_the_best_counts_each_attempt_has_its_own_helper(read):
    """The older one may be better, and so may be what a newer attempt's exercise is, if nothing is written in it."""
    helped = {ONE + "argmax_2d.py": importing("import lib, moving_average; lib.f"), ONE + "lib.py": B, "lib.py": A}
    both = {ONE + MEAN: SUMS, MEAN: STUB}

    assert read({**helped, **both}, best=True)[0].siblings["lib"][1] == B
    submission, _ = read({**helped, **both})
    assert (submission.siblings["lib"][1], submission.siblings["moving_average"][1]) == (A, SUMS)


def test_each_of_many_helpers_is_looked_up_by_its_name(read):
    """The paths and texts of the others are not gone through for each: twice as many take twice the calls."""

    def count_calls(count: int) -> int:
        names, calls = [f"helper_{number}" for number in range(count)], []
        files = {f"{folder}{name}.py": A for folder in (ONE, TWO, "") for name in names}
        files[ONE + "argmax_2d.py"] = importing("".join(f"import {name}\n" for name in names))
        sys.setprofile(lambda *_: calls.append(1))
        try:
            assert len(read(files)[0].siblings) == count
        finally:
            sys.setprofile(None)
        return len(calls)

    assert count_calls(60) < 2.4 * count_calls(30)
