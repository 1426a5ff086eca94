"""grader.intake: names that no file can have, and links, cost their own file or hand-in and nobody else's."""

from __future__ import annotations

import os
import shutil
import time
import zipfile
from pathlib import Path

import pytest
from support.hand_ins import ANSWERS, SUMS, learner_of, make_tar, make_zip, write

from grader.errors import SubmissionError
from grader.intake.discover import discover
from grader.intake.hand_in import HandIn, read_hand_in
from grader.intake.learner import printable
from grader.intake.limits import MAX_DEPTH, MAX_PATH_CHARS
from grader.intake.match_lessons import _COPY, _common_folder
from grader.intake.name_patterns import NamePattern
from grader.intake.platform_names import PLATFORMS, canvas_readings, has_several_times

DEEP = "a/" * 1200 + "argmax_2d.py"
LONG = "_" * 5000 + ".py"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def make_hostile_zip(path: Path, prefix: str = "") -> Path:
    """Make an archive with a right file beside one without a name, a deep and a long one."""
    make_zip(path, {f"{prefix}moving_average.py": SUMS, prefix + DEEP: "x = 1", prefix + LONG: "x = 1"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(zipfile.ZipInfo("q"), "x = 1")
    raw = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 30), (b"PK\x01\x02", 46)):
        raw[raw.rindex(mark) + offset] = 0  # a name that begins with NUL is read as an empty one
    path.write_bytes(raw)
    return path


def test_nameless_deep_and_long_members_of_a_zip_cost_only_themselves(folder):
    """Each is left out with a note, and the rest is read."""
    hand_in = read_hand_in(learner_of(make_hostile_zip(folder / "eve.zip"), "zip"))

    assert list(hand_in.files) == ["moving_average.py"] and not hand_in.problem
    for words in ("it has no name", f"more than {MAX_DEPTH} folders", f"longer than {MAX_PATH_CHARS} characters"):
        assert sum(words in note for note in hand_in.notes) == 1
    assert all(len(note) < 400 for note in hand_in.notes)


def test_nameless_deep_and_long_members_of_a_class_cost_only_themselves(folder):
    """In the .zip of a whole class they are left out, the instructor is told, and everybody else is found."""
    path = make_hostile_zip(folder / "all.zip", prefix="ann/")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("bob/argmax_2d.py", ANSWERS["argmax_2d"])
    found = discover(path)

    assert [one.id for one in found.learners] == ["ann", "bob"]
    assert list(read_hand_in(found.learners[0]).files) == ["moving_average.py"]
    (note,) = found.notes
    assert all(words in note for words in ("it has no name", "folders", "characters")) and len(note) < 1500


def test_deep_and_long_names_in_a_tar_cost_only_themselves(folder):
    """What a zip may not hold, a .tar.gz may not hold either."""
    path = make_tar(folder / "eve.tar.gz", {"moving_average.py": SUMS, DEEP: "x = 1", LONG: "x = 1", "": "x = 1"})
    hand_in = read_hand_in(learner_of(path, "tar"))

    assert list(hand_in.files) == ["moving_average.py"] and len(hand_in.notes) == 3


def test_a_deep_folder_costs_only_itself(folder):
    """Files in more folders than anybody makes are left out with a note."""
    write(folder / "eve", {"moving_average.py": SUMS, "a/" * 200 + "b.py": "x = 1"})
    hand_in = read_hand_in(learner_of(folder / "eve", "folder"))

    assert list(hand_in.files) == ["moving_average.py"] and "folders" in hand_in.notes[0]


@pytest.mark.parametrize("error", [RecursionError("deep"), IndexError("x"), MemoryError(), UnicodeError(), KeyError(1)])
def test_whatever_a_reader_raises_is_the_problem_of_that_hand_in(folder, monkeypatch, error):
    """No reader can be wrong in a way that ends a run: the hand-in has the problem, and it says so."""

    def fail(*_):
        raise error

    monkeypatch.setattr("grader.intake.hand_in._read_whole", fail)
    hand_in = read_hand_in(learner_of(folder / "eve.zip", "zip"))

    assert hand_in.problem.startswith("eve.zip cannot be read: ") and len(hand_in.digest) == 64


@pytest.mark.parametrize("name", ["eve.py", "eve.zip", "eve.ipynb", "eve"])
def test_a_link_that_is_handed_in_is_not_followed(folder, name):
    """A link in the folder of a class, to a file or a folder, is a hand-in that cannot be read, and says why."""
    target = write(folder.parent, {"answers/moving_average.py": SUMS}) / "answers"
    if name != "eve":
        target = make_zip(target / "a.zip", {"a.py": SUMS}) if name == "eve.zip" else target / "moving_average.py"
    (folder / name).symlink_to(target)
    found = discover(folder)
    hand_in = read_hand_in(found.learners[0])

    assert [one.id for one in found.learners] == ["eve"]
    assert not hand_in.files and f"{name} cannot be read: it is a link" in hand_in.problem


def test_a_link_among_the_files_of_a_platform_is_not_followed(folder):
    """The same holds where several files make one hand-in; the others of it are read."""
    write(folder, {"ann_1_2_moving_average.py": SUMS})
    (folder / "ann_1_3_argmax_2d.py").symlink_to(folder / "ann_1_2_moving_average.py")
    (learner,) = discover(folder, names=NamePattern.parse("canvas")).learners
    hand_in = read_hand_in(learner)

    assert list(hand_in.files) == ["moving_average.py"]
    assert hand_in.notes == ["argmax_2d.py cannot be read: it is a link, and links are not followed."]


def test_no_name_behind_a_link_is_told(folder):
    """Who is told what their hand-in holds reads the names in their own folders alone, not where a link leads."""
    secret = write(folder.parent, {"secret/exam-2027.pdf": "", "secret/.answers.py": ""}) / "secret"
    (folder / "Eve_12_assignsubmission_file_").symlink_to(secret)
    write(
        folder, {"Eve_12_assignsubmission_onlinetext_/onlinetext.html": "", "Eve_12_assignsubmission_more_/a.txt": ""}
    )
    (folder / "Eve_12_assignsubmission_more_" / "lib").symlink_to(secret)
    (learner,) = discover(folder, names=NamePattern.parse("moodle")).learners
    problem = read_hand_in(learner).problem

    assert "onlinetext.html" in problem and "Eve_12_assignsubmission_file_ cannot be read: it is a link" in problem
    assert "exam" not in problem and "answers" not in problem


@pytest.mark.parametrize("target", ["a folder", "a file", "nothing"])
def test_where_a_link_leads_decides_nothing(folder, target):
    """Whether there is something at the end of a link, and how new that is, shows in no list of the class."""
    write(folder, {"ann/moving_average.py": SUMS})
    secret = write(folder.parent, {"secret/1_2_moving_average.py": SUMS}) / "secret"
    ends = {"a folder": secret, "a file": secret / "1_2_moving_average.py", "nothing": secret / "none"}
    (folder / "eve").symlink_to(ends[target])
    os.utime(secret, (4e9, 4e9))
    found = discover(folder)
    eve = found.learners[1]

    assert eve.id == "eve" and not found.ignored
    assert eve.first.modified_at() == (folder / "eve").lstat().st_mtime
    shutil.rmtree(folder / "ann")
    with pytest.raises(SubmissionError, match="the first is eve"):  # and not opened as the only folder
        discover(folder, names=NamePattern.parse("canvas"))


def test_a_class_may_itself_be_named_by_a_link(folder):
    """The path that the instructor gives is theirs: it may be a link."""
    write(folder, {"ann/moving_average.py": SUMS})
    (folder.parent / "week 1").symlink_to(folder)
    found = discover(folder.parent / "week 1")

    assert list(read_hand_in(found.learners[0]).files) == ["moving_average.py"]


LONG_NAMES = ("_a" * 32_000, "1-2 - " + "1 " * 32_000 + "- x.py", "a" + "_1" * 32_000, "_assignsubmission_" * 3_600)


@pytest.mark.parametrize("name", LONG_NAMES, ids=lambda name: name[:20])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_name_as_long_as_an_archive_may_hold_says_nothing_at_once(platform, name):
    """No platform gives such a name; whoever reads it is told so before any pattern is matched."""
    start = time.process_time()

    assert PLATFORMS[platform](name) is None and not has_several_times(name) and not canvas_readings(name)
    assert time.process_time() - start < 1


# --- what names are compared by ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("paths, expected", [
    (["a/b/x.py", "a/b/y.py"], "a/b/"), (["a/b/x.py", "a/c/y.py"], "a/"), (["a/x.py", "y.py"], ""), ([], ""),
    (["a/basics/x.py", "a/basics/y.py"], "a/"), (["basics/x.py"], ""), (["a/x.py", "ab/y.py"], ""),
    (["a/b/x.py"], "a/b/"), (["a/b/x.py", "a/y.py"], "a/"),
])  # fmt: skip
def test_the_folder_that_holds_everything(paths, expected):
    """It is the longest that all files lie in, up to a track's."""
    assert _common_folder(dict.fromkeys(paths, ""), {"basics"}) == expected


@pytest.mark.parametrize("name, plain", [
    ("softmax (copy)", "softmax"), ("softmax - copy", "softmax"), ("softmax(1)", "softmax"), ("softmax-2", "softmax"),
    ("copy of softmax", "softmax"), ("softmax copy (2)", "softmax"), ("softmax -- copy", "softmax"),
    ("photocopy", "photocopy"),    ("softmax--12", "softmax"), ("soft--max", "soft--max"),
])  # fmt: skip
def test_the_name_of_a_copy(name, plain):
    """Systems and browsers mark copies in their names; what is left is the original's."""
    assert _COPY.sub("", name) == plain


@pytest.mark.parametrize("sign", ["\n", "\x1b", "\u2028", "\u2029", "\x85", "\u202e", "\ud800"])
def test_a_name_is_one_line_of_text(sign):
    """No sign that ends a line, moves the cursor or turns the text round is left in a name; blanks of any kind are."""
    assert printable(f"a{sign}b\u00a0c") == "a?b\u00a0c"


def test_a_problem_is_short_and_plain():
    """A reader's message that holds a name of any length, or control signs, is shown as short, printable text."""
    hand_in = HandIn()
    with hand_in.takes_the_blame("eve\x1b[31m.zip"):
        raise OSError("x" * 100_000 + os.linesep)

    assert len(hand_in.problem) < 400 and hand_in.problem.isprintable()
