"""grader.batch, first half: who handed in what, read without trusting anything that lies there."""

from __future__ import annotations

import ast
import json
import os
import stat
import zipfile
from pathlib import Path

import pytest
from hand_ins import ANSWERS, SUMS, TINY, learner_of, make_notebook, make_zip, write
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.batch import bounds, notebook
from grader.batch.choose import Chooser
from grader.batch.discover import _file_name, _unique, discover, printable
from grader.batch.hand_in import read_hand_in
from grader.course import load
from grader.errors import SubmissionError


@pytest.fixture(scope="module")
def course():
    return load(TINY)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


# --- discover ---------------------------------------------------------------------------------------------------------


def test_each_direct_child_is_one_learner(folder):
    """Folders, archives, notebooks and Python files are learners; hidden entries, leftovers and other files are not."""
    write(folder, {"ann/a.py": "", "bob.zip": "", "cy.ipynb": "", "dan.PY": "", ".git/x.py": "", "__pycache__/x.py": "",
                   "__MACOSX/._a": "", "readme.txt": "", "out/results.json": ""})  # fmt: skip
    found = discover(folder, leave_out=folder / "out")

    assert [(learner.id, learner.kind) for learner in found.learners] == [
        ("ann", "folder"), ("bob", "zip"), ("cy", "notebook"), ("dan", "python")]  # fmt: skip
    assert found.ignored == ["readme.txt"]


def test_two_hand_ins_of_one_name_have_two_ids(folder):
    """Where a folder and an archive have the same name, the whole file names are the ids."""
    write(folder, {"ann/a.py": "", "ann.zip": "", "Ann.py": ""})
    found = discover(folder)

    assert [learner.id for learner in found.learners] == ["Ann", "ann", "ann.zip"]
    assert len({learner.feedback.casefold() for learner in found.learners}) == 3


@pytest.mark.parametrize("name", ["über Straße", "=1+1", "a\nb", "\u202etxt", "a:b*?", "-rf", "x" * 250])
def test_a_name_becomes_a_file_name_that_leads_nowhere(folder, name):
    """Whatever a learner's folder is called, their feedback file lies in the feedback folder."""
    (folder / name).mkdir()
    (learner,) = discover(folder).learners

    assert learner.feedback and not set(learner.feedback) & set("/\\\n\0 :*?") and not learner.feedback.startswith(".")
    assert len(learner.feedback.encode()) <= 200
    assert learner.id.isprintable()


NAMES = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1, max_size=20)


@given(st.lists(NAMES, min_size=1, max_size=12, unique=True))
@settings(deadline=None, max_examples=60)
def test_ids_and_feedback_files_are_never_shared(names):
    """No two learners have one id, nor one feedback file on a system that does not tell capitals from small letters."""
    paths = {Path(name): printable(name) for name in names}
    ids = _unique(paths)
    files = _unique({path: _file_name(name) for path, name in ids.items()}, fold=True)

    assert len(set(ids.values())) == len(paths)
    assert len({name.casefold() for name in files.values()}) == len(paths)


def test_a_folder_without_submissions_is_an_error(folder):
    """Neither an empty folder nor one that is not there can be graded."""
    for path in (folder, folder / "nowhere"):
        with pytest.raises(SubmissionError) as error:
            discover(path)
        assert str(path) in str(error.value)


# --- what is read -----------------------------------------------------------------------------------------------------


def test_links_in_a_hand_in_are_not_followed(folder):
    """A link to somebody else's answer is left out, and said so."""
    write(folder, {"bob/argmax_2d.py": ANSWERS["argmax_2d"], "eve/moving_average.py": SUMS})
    (folder / "eve" / "argmax_2d.py").symlink_to(folder / "bob" / "argmax_2d.py")
    (folder / "eve" / "more").symlink_to(folder / "bob")
    hand_in = read_hand_in(learner_of(folder / "eve", "folder"))

    assert list(hand_in.files) == ["moving_average.py"]
    assert hand_in.notes == ["argmax_2d.py was left out: it is a link."]


def test_a_pipe_in_a_hand_in_does_not_stop_the_grader(folder):
    """What is no ordinary file is left out without being opened for long."""
    write(folder, {"eve/moving_average.py": SUMS})
    os.mkfifo(folder / "eve" / "argmax_2d.py")
    hand_in = read_hand_in(learner_of(folder / "eve", "folder"))

    assert list(hand_in.files) == ["moving_average.py"]
    assert "no ordinary file" in hand_in.notes[0]


def test_what_is_read_of_a_hand_in_is_bounded(folder, monkeypatch):
    """Too many files or too large ones are left out, those nearest the top last."""
    monkeypatch.setattr("grader.batch.hand_in.MOST_FILES", 3)
    write(folder / "eve", {"moving_average.py": SUMS, **{f"deep/er/{n}.py": "" for n in range(5)}, "venv/lib/x.py": ""})
    hand_in = read_hand_in(learner_of(folder / "eve", "folder"))

    assert list(hand_in.files) == ["moving_average.py", "deep/er/0.py", "deep/er/1.py"]
    assert "too large" in hand_in.notes[0]


def test_names_in_an_archive_lead_nowhere(folder):
    """Members with names that lead out of the archive, and links, are left out with a note; the rest is read."""
    names = ["../up.py", "/root.py", "a/../../b.py", "C:/c.py", "d\\e.py", "ok.py", "__MACOSX/._ok.py", "notes.txt"]
    path = make_zip(folder / "eve.zip", dict.fromkeys(names, "x = 1"))
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo("link.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    hand_in = read_hand_in(learner_of(path, "zip"))

    assert hand_in.files == {"ok.py": b"x = 1"}
    assert len(hand_in.notes) == 6
    assert not hand_in.problem


def test_a_bomb_does_not_go_off(folder):
    """Of a member that unpacks to a gigabyte, no more is read than a Python file may have."""
    path = folder / "eve.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("moving_average.py", "w") as member:
        for _ in range(64):
            member.write(b" " * (1 << 20))
    hand_in = read_hand_in(learner_of(path, "zip"))

    assert len(hand_in.files["moving_average.py"]) == bounds.limit_for("moving_average.py")


def test_an_encrypted_archive_is_refused(folder):
    """An archive with a password is not guessed at: the problem is said."""
    path = make_zip(folder / "eve.zip", {"moving_average.py": SUMS})
    raw = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + offset] |= 1
    path.write_bytes(raw)

    assert "encrypted" in read_hand_in(learner_of(path, "zip")).problem


@given(st.binary(max_size=300), st.integers(0, 400))
@settings(deadline=None, max_examples=60)
def test_a_damaged_archive_is_a_problem_and_no_accident(tmp_path_factory, junk, place):
    """Whatever bytes stand in an archive, reading it ends with files, notes or a problem."""
    path = make_zip(tmp_path_factory.mktemp("zip") / "eve.zip", {"moving_average.py": SUMS, "b.py": "x = 1"})
    raw = path.read_bytes()
    path.write_bytes(raw[:place] + junk + raw[place + len(junk) :])
    hand_in = read_hand_in(learner_of(path, "zip"))

    assert hand_in.files or hand_in.problem


# --- notebooks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell, expected", [
    ("%matplotlib inline\nx = 1", "# %matplotlib inline\nx = 1"),
    ("!pip install torch\nx = 1", "# !pip install torch\nx = 1"),
    ("if x:\n    !ls\nelse:\n    y = 2", "if x:\n    pass  # !ls\nelse:\n    y = 2"),
    ("files = !ls\nx = 1", "# files = !ls\nx = 1"),
    ("torch.softmax?\nx = 1", "# torch.softmax?\nx = 1"),
    ("%%time\nx = 1", "# %%time\nx = 1"),
    ("%%bash\nls | wc", "# %%bash\n# ls | wc"),
    ("x = (7\n     % 4)", "x = (7\n     % 4)"),
    ("%%writefile a.py\ndef f(): pass", "# %%writefile a.py\n# def f(): pass"),
])  # fmt: skip
def test_what_only_a_notebook_understands_becomes_a_comment(cell, expected):
    """Magics, shell lines and questions are comments in the source; Python stays as it is."""
    source = notebook.to_source(make_notebook(cell).encode())

    assert source == f"# --- code cell 1 ---\n{expected}\n"
    ast.parse(source)


def test_code_cells_stand_one_after_the_other():
    """Text cells are left out, cells of format 3 are found too, and lines may be a list or one text."""
    old = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "a = 1"}]}]}

    assert notebook.to_source(make_notebook("a = 1", "b = 2").encode()).count("--- code cell") == 2
    assert "a = 1" in notebook.to_source(json.dumps(old).encode())


@pytest.mark.parametrize("raw, says", [
    (b"\xff\xfe", "UTF-8"), (b"hello", "JSON"), (b"[" * 100_000, "JSON"), (b"[]", "no cells"),
    (b'{"cells": 3}', "no cells"),
    (make_notebook("x <- 1", kernelspec={"language": "R"}).encode(), "R"),
])  # fmt: skip
def test_what_is_no_notebook_is_said(raw, says):
    """A file that is no notebook, or one of another language, is refused in a sentence."""
    with pytest.raises(notebook.NotebookError, match=says):
        notebook.to_source(raw)


# --- which file is which lesson ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("files, expected", [
    (["moving_average.py"], "moving_average.py"),
    (["basics/moving_average.py", "moving_average.py"], "basics/moving_average.py"),
    (["moving_average.py", "old/moving_average.py"], "moving_average.py"),
    (["week 1/moving_average.py"], "week 1/moving_average.py"),
    (["hand-in/basics/moving_average.py", "hand-in/old/moving_average.py"], "hand-in/basics/moving_average.py"),
    (["Moving-Average.py"], "Moving-Average.py"),
    (["a/moving_average.py", "b/moving_average.py"], ""),
    (["a/moving_average.py", "b/c/moving_average.py"], "a/moving_average.py"),
    (["moving_average.ipynb", "other.py"], "moving_average.ipynb"),
    (["work.ipynb"], "work.ipynb"),
    (["argmax_2d.py"], ""),
    ([], ""),
])  # fmt: skip
def test_the_file_of_a_lesson_is_found_by_its_name(course, files, expected):
    """The track's folder goes first, then the top, then the one nearest to it; two that differ are no answer."""
    sources = {path: f"def moving_average(x, window): return {number}" for number, path in enumerate(files)}

    assert Chooser(course, sources).choose(course.lessons["moving_average"]).path == expected


def test_equal_files_are_no_contradiction(course):
    """Two copies of one file are one answer, and the reader is told."""
    sources = dict.fromkeys(["a/moving_average.py", "b/moving_average.py"], SUMS)
    choice = Chooser(course, sources).choose(course.lessons["moving_average"])

    assert choice.path == "a/moving_average.py"
    assert "b/moving_average.py was not" in choice.notes[0]


def test_a_file_of_any_name_serves_the_lessons_whose_functions_it_defines(course):
    """One file with several functions is the answer to several lessons, a syntax error or not."""
    whole = {"ann.py": ANSWERS["moving_average"] + "\n\nif True:\n    argmax_2d = lambda grid: (0, 0)\n"}
    broken = {"ann.py": "def moving_average(x, window):\n    return (\n"}

    assert [Chooser(course, whole).choose(lesson).path for lesson in course.lessons.values()] == ["ann.py"] * 2
    assert [Chooser(course, broken).choose(lesson).path for lesson in course.lessons.values()] == ["ann.py", ""]


def test_with_one_lesson_a_lone_file_may_have_any_name(course):
    """Where one lesson was asked for, a single file is meant for it whatever it defines."""
    chooser = Chooser(course, {"homework.py": "x = 1"}, only_lesson=True)

    assert chooser.choose(course.lessons["moving_average"]).path == "homework.py"
