"""What is told of files that are not read where a lesson is missing."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from support.hand_ins import SUMS, TINY, make_tar, make_zip, write

from grader.course import load
from grader.intake.discover import discover
from grader.intake.explain_unreadable import explain_unread
from grader.intake.hand_in import HandIn, read_hand_in
from grader.intake.learner import Entry, Learner
from grader.intake.limits import MAX_UNREAD
from grader.intake.match_lessons import has_name_of

TOLD = [
    "argmax_2d.txt", "rest.rar", "rest.7z", "argmax_2d.py.gz", "Argmax-2D (1).docx", "week 1/argmax_2d.md", ".hw.py",
    "env/hw.py", "venv/basics/hw.ipynb", "hw.pyw", "hw.py ", "hw.ipynb.html", "onlinetext.html",
]  # fmt: skip
OTHERS = [
    "notes.txt", "moving_average.txt", "argmax_2d_data.csv", "env/lib/argmax_2d.py", "env/bin/hw.py", "env/.hw.py",
    "env/a/b/argmax_2d.py", "env/pyvenv.cfg", "env/site-packages/hw.py", "site-packages/argmax_2d.py",
    "__pycache__/argmax_2d.pyc", "._argmax_2d.py", ".git/argmax_2d.py",
]  # fmt: skip


@pytest.fixture(scope="module")
def lacking():
    return [load(TINY).lessons["argmax_2d"]]


def in_folder(root, files):
    write(root / "in" / "ann", files)
    return discover(root / "in").learners[0]


def in_zip(root, files):
    make_zip(root / "in/ann.zip", files)
    return discover(root / "in").learners[0]


def in_tar(root, files):
    make_tar(root / "in/ann.tar.gz", files)
    return discover(root / "in").learners[0]


def in_class(root, files):
    members = {"bob/moving_average.py": SUMS, **{f"ann/{name}": text for name, text in files.items()}}
    return discover(make_zip(root / "class.zip", members)).learners[0]


def in_repository(root, files):
    write(root / "ann", files)
    for command in (
        ["init", "-q"],
        ["add", "-Af"],
        ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *command], cwd=root / "ann", check=True, timeout=60)
    return Learner("ann", (Entry("ann", root / "ann", "git"),))


WAYS = [in_folder, in_zip, in_tar, in_class, pytest.param(in_repository, marks=pytest.mark.skipif(
    not shutil.which("git"), reason="needs git"))]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_what_may_be_meant_for_a_missing_lesson_is_told(tmp_path, lacking, way):
    """Beside another lesson's file, by whatever way it was handed in; nothing where no lesson is missing."""
    names = [name for name in TOLD + OTHERS if way is not in_repository or not name.startswith(".git/")]
    hand_in = read_hand_in(way(tmp_path, {"moving_average.py": SUMS, **dict.fromkeys(names, "x")}))

    assert list(hand_in.files) == ["moving_average.py"]
    assert sorted(path for path in hand_in.unread if explain_unread([path], lacking)) == sorted(TOLD)
    told = explain_unread(hand_in.unread, lacking)
    assert told.startswith("Not read, and perhaps meant for a lesson that is missing: ")
    assert all(name in told for name in TOLD if has_name_of(name, {"argmax_2d"}))
    assert explain_unread(hand_in.unread, []) == explain_unread(["notes.txt"], lacking) == ""
    assert HandIn.from_dict(hand_in.to_dict()).unread == hand_in.unread


def test_what_lies_in_an_inner_archive_or_an_older_attempt_is_told_with_its_place(tmp_path, lacking):
    """The path leads to the file."""
    inner = make_zip(tmp_path / "inner.zip", {"argmax_2d.txt": "x", "moving_average.py": SUMS}).read_bytes()
    learner = in_folder(tmp_path, {"hw.zip": inner})
    hand_in = read_hand_in(Learner("ann", learner.entries, attempt=2, earlier=(learner,)))

    assert hand_in.unread == ["hw.zip/argmax_2d.txt", "attempt 1/hw.zip/argmax_2d.txt"]


def test_what_is_kept_of_names_is_bounded(tmp_path):
    """However many files nobody reads."""
    files = {f"{number}.png": "" for number in range(MAX_UNREAD + 10)}

    assert len(read_hand_in(in_zip(tmp_path, files)).unread) == MAX_UNREAD
