"""What an attempt imports and has not is taken of the learner's other attempts."""

from __future__ import annotations

import pytest
from support.hand_ins import ANSWERS, SUMS, TINY, write

from grader.batch.one_learner.other_attempts import OtherAttempts
from grader.course import load
from grader.intake.match_lessons import match_attempts
from grader.model import Submission

A, B = "def f(x):\n    return 1\n", "def f(x):\n    return 2\n"
ONE, TWO, MEAN = "attempt 1/", "attempt 2/", "moving_average.py"
STUB = (TINY / "exercises/basics/moving_average.py").read_text()


@pytest.fixture
def read(tmp_path):
    """Reads argmax_2d in the newest attempt of these files that has it, or another, and says of which its time is."""
    course = load(TINY)

    def do(files: dict[str, str], best: bool = False, place: int = 0) -> tuple[Submission, str]:
        write(tmp_path, files)
        lessons, folders = [*course.lessons.values()], [TWO, ONE]
        matches = match_attempts(course, lessons, files, folders, best=best, weights={})
        contents = {path: text.encode() for path, text in files.items()}
        others = OtherAttempts(tmp_path, course, files, contents, ["", *folders], best)
        submission, match = others.read(course.lessons["argmax_2d"], matches["argmax_2d"][place])
        return submission, match.newest

    return do


def importing(line: str) -> str:
    """An answer to argmax_2d with an import."""
    return f"{line}\n{ANSWERS['argmax_2d']}"


@pytest.mark.parametrize("line, files, taken", [
    ("from lib import f", {TWO + "lib.py": A, ONE + "lib.py": B}, {"lib": A}),
    ("import lib", {ONE + "lib (1).py": B}, {"lib": B}), ("import lib", {ONE + "hw.zip/src/lib.ipynb": B}, {"lib": B}),
    ("from .lib import f", {ONE + "lib.py": A}, {"lib": A}),
    ("from pack.lib import f", {ONE + "hw.zip/pack/lib.py": A, ONE + "hw.zip/pack/__init__.py": ""}, {"lib": A}),
    ("import a", {TWO + "a.py": "import b", ONE + "b.py": A, "sub/c.py": A}, {"a": "import b", "b": A}),
    ("import moving_average as m", {TWO + MEAN: STUB, ONE + MEAN: SUMS}, {"moving_average": SUMS}),
    ("import lib", {"lib.py": A, TWO + "lib.py": B}, {"lib": A}),
    ("import lib", {"x/lib.py": A, TWO + "lib.py": B}, {}),
    ("from pack import f", {"q/__init__.py": B, ONE + "pack/__init__.py": A}, {"pack": A}),
    ("from pack.lib import f", {"lib.py": A, ONE + "pack/lib.py": B}, {"pack_lib": A}),
    ("import random, nothing_here", {ONE + "random.py": A, ONE + "nothing_here.txt": A}, {}),
])  # fmt: skip
def test_what_an_attempt_lacks_is_of_the_newest_that_has_it(read, line, files, taken):
    """A file of that name in its own goes first, wherever it lies; what is an exercise still comes last."""
    submission, newest = read({"argmax_2d.py": importing(line), **files})

    assert {name: text for name, (_, text) in submission.siblings.items()} == taken and newest == ""
    of_others = [path for path, _ in submission.siblings.values() if "/attempt " in path]
    assert len(of_others) == len(submission.notes) == (len(taken) if "lib.py" not in files else 0)
    assert all(", which it imports, is of attempt " in note for note in submission.notes)


def test_what_an_attempt_lacks_may_have_come_later(read):
    """Whoever forgot a file and hands it in alone has it, and its time."""
    submission, newest = read({ONE + "argmax_2d.py": importing("import lib"), "lib.py": A})

    assert submission.siblings["lib"][1] == A and newest == ""
    assert submission.notes == ("lib.py, which it imports, is of the newest attempt.",)
