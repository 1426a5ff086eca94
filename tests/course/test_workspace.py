"""grader.workspace and grader.submission: the learner's folder, and the learner's files as they go to be judged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from support.course_maker import SYLLABUS, front, make_course

from grader.course import find_lesson, load
from grader.errors import CourseError, SubmissionError, WorkspaceError
from grader.source.forbidden_calls import find_forbidden_calls
from grader.submission import read_submission
from grader.worker.watch.call_monitor import matches
from grader.workspace import Workspace, create, find, update

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534


@pytest.fixture
def course(tmp_path):
    return load(make_course(tmp_path / "course"))


@pytest.fixture
def root(tmp_path):
    return tmp_path / "work"


def files(folder: Path) -> set[str]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# ---- create, update, find --------------------------------------------------------------------------------------------


def test_a_new_workspace_holds_every_stub(course, root):
    """Starting writes the stub of each lesson into its track's folder, and the mark, and nothing else."""
    changes = create(root, course)

    stubs = {"core/mean.py", "core/mean_square.py", "more/spread.py"}
    assert files(root) == stubs | {".selfattend/workspace.toml"}
    assert changes.written == tuple(root / stub for stub in sorted(stubs))
    assert changes.kept == ()
    assert (root / "core/mean.py").read_text() == course.lessons["mean"].exercise_path.read_text()


def test_a_stub_may_be_read_by_whom_the_umask_lets(course, root):
    """Stubs have the rights that any new file has."""
    create(root, course)
    (root / "other").touch()

    assert (root / "core/mean.py").stat().st_mode == (root / "other").stat().st_mode


def test_starting_again_keeps_the_learners_work(course, root):
    """A file that is there is kept as it is, whatever is in it; what is missing is added."""
    (root / "core").mkdir(parents=True)
    (root / "core/mean.py").write_text("mine")
    (root / "core/mean_square.py").symlink_to("nowhere")

    changes = create(root, course)

    assert changes.kept == (root / "core/mean.py", root / "core/mean_square.py")
    assert changes.written == (root / "more/spread.py",)
    assert (root / "core/mean.py").read_text() == "mine"
    assert (root / "core/mean_square.py").is_symlink()
    assert create(root, course).written == ()


def test_a_newer_course_adds_its_new_lessons(course, root, tmp_path):
    """After an upgrade the new stub is there, the old work too, and the mark has the new version."""
    create(root, course)
    (root / "core/mean.py").write_text("mine")
    syllabus = SYLLABUS.replace('["spread"]', '["spread", "skew"]').replace('"1.0"', '"1.1"')
    stub = course.lessons["spread"].exercise_path.read_text().replace("spread", "skew")
    newer = load(
        make_course(
            tmp_path / "newer",
            {"course.toml": syllabus, "lessons/more/skew.md": front("skew"), "exercises/more/skew.py": stub},
        )
    )

    changes = update(find(root), newer)

    assert changes.written == (root / "more/skew.py",)
    assert (root / "core/mean.py").read_text() == "mine"
    assert changes.workspace == find(root) == Workspace(root, "small", "1.1")


def test_a_renamed_lesson_begins_with_the_work_under_its_former_name(root, tmp_path):
    """A file under an alias is copied to the new name and stays where it was."""
    (root / "more").mkdir(parents=True)
    (root / "more/variance.py").write_text("mine")
    course = load(make_course(tmp_path / "course", {"lessons/more/spread.md": front("spread", aliases='"variance"')}))

    changes = create(root, course)

    assert changes.carried == (root / "more/spread.py",)
    assert (root / "more/spread.py").read_text() == (root / "more/variance.py").read_text() == "mine"


def test_a_link_under_a_former_name_leads_to_no_work(root, tmp_path):
    """In somebody else's folder it may lead to a file of one's own, which a hand-in would take along."""
    (root / "more").mkdir(parents=True)
    (tmp_path / "secret").write_text("mine alone")
    (root / "more/variance.py").symlink_to(tmp_path / "secret")
    course = load(make_course(tmp_path / "course", {"lessons/more/spread.md": front("spread", aliases='"variance"')}))

    changes = create(root, course)
    assert changes.carried == () and "mine alone" not in (root / "more/spread.py").read_text()

    (root / "more/spread.py").unlink()
    (root / "more/spread.py").symlink_to(tmp_path / "secret")
    with pytest.raises(WorkspaceError, match="is a link"):
        find(root).reset(course.lessons["spread"])
    assert not list(root.glob("more/*.bak*")) and (tmp_path / "secret").read_text() == "mine alone"


def test_a_workspace_is_found_from_any_folder_in_it(course, root):
    """The search goes up through the parents."""
    create(root, course)
    deep = root / "core" / "notes" / "today"
    deep.mkdir(parents=True)

    workspace = find(deep)

    assert workspace.root == root
    assert workspace.exercise_path(course.lessons["spread"]) == root / "more/spread.py"
    assert workspace.store_path == root / ".selfattend/progress.db"


def test_outside_of_a_workspace_the_next_step_is_to_start_one(tmp_path):
    """Where there is no workspace, the error names the command that makes one."""
    with pytest.raises(WorkspaceError) as caught:
        find(tmp_path)

    assert caught.value.next_step == "learn start"


def test_a_workspace_of_a_newer_version_is_left_alone(course, root):
    """A newer format is refused with the command to upgrade, by find and by create, and nothing is written."""
    create(root, course)
    mark = root / ".selfattend/workspace.toml"
    mark.write_text(mark.read_text().replace("format = 1", "format = 2"))
    (root / "core/mean.py").unlink()
    for attempt in (lambda: find(root), lambda: create(root, course)):
        with pytest.raises(WorkspaceError, match="newer") as caught:
            attempt()
        assert caught.value.next_step == "pip install --upgrade selfattend"

    assert not (root / "core/mean.py").exists()


@pytest.mark.parametrize("damage", ["", "format = ", "format = 1\n", 'format = "x"\ncourse = ""\nversion = ""\n', "\0"])
def test_a_damaged_mark_is_mended_by_starting_again(course, root, damage):
    """A mark that cannot be read names the command that writes it anew, and that command keeps all work."""
    create(root, course)
    (root / "core/mean.py").write_text("mine")
    (root / ".selfattend/workspace.toml").write_text(damage)
    with pytest.raises(WorkspaceError, match="damaged") as caught:
        find(root)
    assert "learn start" in caught.value.next_step

    create(root, course)

    assert find(root).course_id == "small"
    assert (root / "core/mean.py").read_text() == "mine"


def test_a_workspace_belongs_to_one_course(course, root, tmp_path):
    """Another course is refused by every door."""
    create(root, course)
    other = load(make_course(tmp_path / "other", {"course.toml": SYLLABUS.replace('"small"', '"large"')}))
    for attempt in (
        lambda: create(root, other),
        lambda: update(find(root), other),
        lambda: find(root).require(other),
    ):
        with pytest.raises(WorkspaceError, match=r'"small", not to "large"'):
            attempt()
    find(root).require(course)


def test_the_course_itself_is_no_workspace(course):
    """Starting in the course's own folder is refused, and nothing is written there."""
    before = files(course.root)
    with pytest.raises(WorkspaceError, match="folder of a course"):
        create(course.root, course)

    assert files(course.root) == before


def test_no_workspace_begins_in_another_of_the_same_course(course, root):
    """Who names its folder twice is told where it is, and nothing is written; one that is there stays one."""
    inner = root / "my"
    create(inner, course)
    create(root, course)
    create(inner, course)
    shutil.rmtree(inner)
    with pytest.raises(WorkspaceError, match="lies in a workspace of yours") as caught:
        create(inner, course)
    assert f"cd {root} && learn" in caught.value.next_step and not inner.exists()
    create(inner, replace(course, id="another"))


def test_a_tracks_folder_is_no_second_workspace(course, root):
    """Starting inside core/ of a workspace points to the workspace."""
    create(root, course)
    with pytest.raises(WorkspaceError) as caught:
        create(root / "core", course)

    assert caught.value.next_step == f"cd {root} && learn start"


def test_a_file_in_the_way_is_named(course, root):
    """Where a folder should be and a file is, the error names the place."""
    root.mkdir()
    (root / "core").write_text("mine")
    with pytest.raises(WorkspaceError) as caught:
        create(root, course)

    assert str(root / "core") in caught.value.where
    with pytest.raises(WorkspaceError):
        create(root / "core", course)


# ---- reset ----------------------------------------------------------------------------------------------------------


def test_a_reset_keeps_every_earlier_work(course, root):
    """Each reset makes a copy under a new number and puts the stub back."""
    create(root, course)
    workspace, lesson = find(root), course.lessons["mean"]
    backups = []
    for work in ("first", "second"):
        (root / "core/mean.py").write_text(work)
        backups.append(workspace.reset(lesson))

    assert backups == [root / "core/mean.py.bak-1", root / "core/mean.py.bak-2"]
    assert [backup.read_text() for backup in backups] == ["first", "second"]
    assert (root / "core/mean.py").read_text() == lesson.exercise_path.read_text()


def test_a_reset_without_work_makes_no_copy(course, root):
    """An untouched stub needs no copy, and a missing file is put back."""
    create(root, course)
    workspace, lesson = find(root), course.lessons["mean"]

    assert workspace.reset(lesson) is None
    (root / "core/mean.py").unlink()
    assert workspace.reset(lesson) is None
    assert files(root / "core") == {"mean.py", "mean_square.py"}


def test_a_stub_that_the_course_has_lost_is_the_courses_fault(course, root):
    """A stub that vanished after the course was read is a CourseError, and the work stays."""
    create(root, course)
    (root / "core/mean.py").write_text("mine")
    course.lessons["mean"].exercise_path.unlink()
    with pytest.raises(CourseError):
        find(root).reset(course.lessons["mean"])

    assert files(root / "core") == {"mean.py", "mean_square.py"}
    assert (root / "core/mean.py").read_text() == "mine"


# ---- folders that cannot be written ---------------------------------------------------------------------------------

ATTEMPT = """
import json, os, sys, tomllib
from pathlib import Path
import grader.course.load_course, grader.submission, grader.workspace
from grader.errors import SubmissionError, WorkspaceError
course, root, user, act = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
course = grader.course.load_course.load(course)
if user:
    os.setgroups([])
    os.setuid(user)
try:
    if act == "create":
        grader.workspace.create(root, course)
    elif act == "reset":
        grader.workspace.find(root).reset(course.lessons["mean"])
    else:
        grader.submission.read_submission(root / "core/mean.py", course.lessons["mean"], course)
except (SubmissionError, WorkspaceError) as error:
    print(error.what)
"""


def attempt(course, root, act: str, user: int = 0) -> str:
    """Create, reset or read in a process of its own, as another user if one is given; what the error says."""
    done = subprocess.run(
        [sys.executable, "-c", ATTEMPT, str(course.root), str(root), str(user), act],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.fixture
def others():
    """A course and a workspace where another user may look around; pytest's own folders are closed to others."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user: run pytest as root")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        course, root = load(make_course(Path(folder) / "course")), Path(folder) / "work"
        create(root, course)
        yield course, root


@pytest.mark.parametrize("act", ["create", "reset"])
def test_a_folder_that_may_not_be_written_is_said(others, act):
    """A read-only folder gives a plain error, and what was there stays as it was."""
    course, root = others
    (root / "core/mean.py").write_text("mine")
    (root / "more/spread.py").unlink()
    before = files(root)

    assert attempt(course, root, act, NOBODY) == "you may not write here"
    assert files(root) == before


def test_a_file_that_may_not_be_read_is_said(others):
    """A file that its reader may not open is a SubmissionError."""
    course, root = others
    (root / "core/mean.py").chmod(0o600)

    assert attempt(course, root, "read", NOBODY) == "the file cannot be read: Permission denied"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True, timeout=10
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small disk: run pytest as root, outside of a container")
    yield disk
    subprocess.run(["umount", str(disk)], check=True, timeout=10)


def test_a_full_disk_leaves_no_half_of_a_file(course, small_disk):
    """On a full disk starting and resetting fail plainly, and every file there is whole."""
    root = small_disk / "work"
    create(root, course)
    (root / "core/mean.py").write_text("mine " * 800)
    (root / "more/spread.py").unlink()
    with (small_disk / "ballast").open("wb") as ballast, pytest.raises(OSError, match="No space"):
        while True:
            os.write(ballast.fileno(), b"x" * 4096)
    before = files(root)

    assert attempt(course, root, "create").startswith("the disk is full")
    assert attempt(course, root, "reset").startswith("the disk is full")
    assert files(root) == before
    assert (root / "core/mean.py").read_text() == "mine " * 800


# ---- read_submission ------------------------------------------------------------------------------------------------


@pytest.fixture
def work(course, root):
    """A function that writes files into a workspace and reads core/mean_square.py as a submission."""
    create(root, course)

    def read(changes: dict[str, str | bytes], name: str = "mean_square", path: str = "core/mean_square.py"):
        for file, text in changes.items():
            (root / file).parent.mkdir(exist_ok=True, parents=True)
            (root / file).write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_submission(root / path, course.lessons[name], course)

    return read


def test_a_submission_is_the_text_of_the_file(work, root):
    """The source comes as text, with one kind of line end and without a byte order mark."""
    submission = work({"core/mean_square.py": b"\xef\xbb\xbf# \xe2\x88\x9ax\r\nx = 1\rprint(x)\n"})

    assert submission.source == "# √x\nx = 1\nprint(x)\n"
    assert (submission.lesson, submission.path) == ("mean_square", str(root / "core/mean_square.py"))
    assert (submission.siblings, submission.notes) == ({}, ())


def test_a_declared_encoding_of_an_old_editor_is_followed(work):
    """PEP 263's declaration holds for the usual encodings."""
    submission = work({"core/mean_square.py": b"#!/usr/bin/python\n# -*- coding: latin-1 -*-\nx = '\xe9'\n"})

    assert submission.source.endswith("x = 'é'\n")


@pytest.mark.parametrize(
    ("content", "says", "line"),
    [
        (b"x = 1\ny = '\xe9'\n", "byte 0xe9 at offset 11, line 2", ":2"),
        (b"\xef\xbb\xbf\n\n\xff", "byte 0xff at offset 5, line 3", ":3"),
        ("x = 1\n".encode("utf-16"), "UTF-16", ""),
        (b"# coding: punycode\nx\n", "declares the encoding punycode", ""),
        (b"x = 1\n# coding: punycode\n\xff", "byte 0xff at offset 25", ":3"),
        (b"#" * 250_001, "larger than 250 kB", ""),
        (b'{"nbformat": 4, "cells": [{"source": ["x = 1"], "execution_count": null}]}\n', "is a notebook", ""),
        (b"x = f'" + b"{x:{x}}" * 2_501 + b"'", "more than 5000 curly brackets", ""),
    ],
)
def test_a_file_that_is_no_text_says_where(work, root, content, says, line):
    """Bytes that are not UTF-8 are named with offset and line; every such error has a next step."""
    with pytest.raises(SubmissionError) as caught:
        work({"core/mean_square.py": content})

    assert says in caught.value.what
    assert caught.value.where == f"{root}/core/mean_square.py{line}"
    assert caught.value.next_step


def test_a_missing_file_names_the_command_that_brings_it_back(work, root):
    """In a workspace that is `learn start`; elsewhere the file has to be named rightly."""
    (root / "core/mean_square.py").unlink()
    with pytest.raises(SubmissionError, match="no such file") as caught:
        work({})
    assert caught.value.next_step.startswith("learn start")

    with pytest.raises(SubmissionError, match="no such file") as caught:
        work({}, path="mine.py")
    assert "--file" in caught.value.next_step


def test_what_is_no_file_is_refused_without_waiting(work, root):
    """A folder, a pipe and a name that no file can have are errors at once; what is in an exercise's place is to go."""
    os.mkfifo(root / "core/pipe.py")
    for path, says, next_step in [
        ("core", "folder", "learn check LESSON --file"),
        ("core/pipe.py", "no ordinary file", "move it away, then learn start"),
        ("core/\0.py", "cannot be read", "make it readable"),
    ]:
        with pytest.raises(SubmissionError, match=says) as caught:
            work({}, path=path)
        assert caught.value.next_step.startswith(next_step)


# ---- the files that a submission imports ----------------------------------------------------------------------------


def test_imported_modules_come_along_from_all_tracks(work, root):
    """Own modules come beside the file and from other tracks, through one another, wherever they are imported."""
    submission = work(
        {
            "core/mean_square.py": "import numpy\nfrom mean import mean\ndef f():\n    import helpers.deep as h\n",
            "core/mean.py": "try:\n    from spread import spread\nexcept ImportError:\n    pass\n",
            "more/spread.py": "import mean_square, missing\n",
            "core/helpers.py": "from . import odd\nimport broken",
            "core/broken.py": "def (",
            "core/unused.py": "",
            "core/odd.py": "",
        }
    )

    assert set(submission.siblings) == {"mean", "spread", "helpers", "broken", "mean_square", "odd"}
    assert submission.siblings["spread"] == (str(root / "more/spread.py"), "import mean_square, missing\n")
    assert submission.notes == ()


def test_the_nearest_file_of_a_name_is_taken(work, root):
    """A module beside the file comes before one of the same name in another track."""
    submission = work({"core/mean_square.py": "import spread", "core/spread.py": "near", "more/spread.py": "far"})

    assert submission.siblings["spread"] == (str(root / "core/spread.py"), "near")


def test_a_file_outside_of_a_track_has_only_its_own_folder(work, root):
    """`--file` somewhere else looks for modules beside that file alone."""
    submission = work({"mine.py": "import mean, other", "other.py": "x = 1"}, path="mine.py")

    assert set(submission.siblings) == {"other"}


def test_nothing_outside_of_the_learners_folder_is_taken(course, tmp_path):
    """In a class's folder one learner's file never gets another learner's modules."""
    for name, text in {"core/mean.py": "import bob, spread", "more/spread.py": "", "core/bob.py": ""}.items():
        (tmp_path / "class" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "class" / name).write_text(text)
    file = tmp_path / "class/core/mean.py"

    def siblings(root):
        return set(read_submission(file, course.lessons["mean"], course, root).siblings)

    assert siblings(None) == {"bob", "spread"}
    assert siblings(file.parent) == {"bob"}
    assert siblings(file) == set()


def test_a_syntax_error_imports_nothing(work):
    """A source that is not Python, or too deep for the parser, comes alone and unchanged."""
    for source in ("import mean\ndef (", "import mean\n" + "-" * 200_000 + "1", "import mean\nx = 'a\0'"):
        submission = work({"core/mean_square.py": source})

        assert (submission.source, submission.siblings) == (source, {})


@pytest.mark.parametrize("name", ["torch", "numpy", "random", "conftest", "pytest", "grader"])
def test_no_file_takes_the_name_of_the_real_thing(work, name):
    """A file named like a module that is needed is ignored, with a note if it is imported."""
    shadow = {f"core/{name}.py": "import mean", "core/mean.py": ""}

    assert work({**shadow, "core/mean_square.py": "import mean"}).siblings.keys() == {"mean"}
    submission = work({"core/mean_square.py": f"import {name}.part\nfrom {name} import x"})

    assert submission.siblings == {}
    assert all(note.startswith(f"{name}.py beside your file is ignored") for note in submission.notes)
    assert all(note.endswith("rename it") for note in submission.notes)
    assert len(submission.notes) == 1


def test_a_module_that_cannot_be_read_is_a_note(work):
    """An imported file that is no text does not stop the submission; the learner is told."""
    submission = work({"core/mean_square.py": "import mean", "core/mean.py": b"\xff"})

    assert submission.siblings == {}
    assert submission.notes == (
        "mean.py, which your file imports, is left out: the file is not UTF-8 text: byte 0xff at offset 0, line 1",
    )


def test_a_link_out_of_the_workspace_is_not_followed(work, root, tmp_path):
    """What lies outside of the learner's folder is not read through a link in it."""
    (tmp_path / "secret.py").write_text("SECRET = 1")
    (root / "core/secret.py").symlink_to(tmp_path / "secret.py")
    (root / "core/pack").symlink_to(tmp_path)
    (tmp_path / "__init__.py").write_text("SECRET = 1")

    for source in ("import secret", "from .secret import SECRET", "import pack", "from .pack import secret"):
        submission = work({"core/mean_square.py": source})

        assert submission.siblings == {}
        assert "leads out of" in submission.notes[0]


def test_imported_files_have_a_limit_together(work):
    """Files that are larger than 250 kB together do not all come along, and the learner is told."""
    submission = work(
        {"core/mean_square.py": "import a, b", "core/a.py": "#" * 150_000, "core/b.py": "#" * 150_000},
    )

    assert set(submission.siblings) == {"a"}
    assert submission.notes == ("b.py is left out: the files that yours imports are larger than 250 kB together",)


def test_a_file_that_is_read_for_its_names_counts_once(work):
    """What a package takes by a star is looked through first, which takes nothing of what may come along."""
    files = {"pack/__init__.py": "from .large import *", "pack/large.py": "f = 1  " + "#" * 240_000}
    submission = work({"core/mean_square.py": "from pack import f", **files})

    assert set(submission.siblings) == {"pack", "large"} and not submission.notes


@pytest.mark.parametrize("written, read, file", [
    ("from core.mean import mean", "from mean import mean", "core/mean.py"),
    ("if 1: from  utils.tools import (a,\n  b); x = 1", "if 1: from tools import a, b; x = 1\n", "utils/tools.py"),
    ("é = 1; import core.utils.tools as t, os", "é = 1; import tools as t, os", "core/utils/tools.py"),
    ("from utils import tools, more as m", "import tools as tools, more as m", "utils/tools.py"),
    ("from utils import tools", "import utils_tools as tools", "utils/tools.py"),
    ("from utils.math import exp", "from utils_math import exp", "utils/math.py"),
    ("from utils.tools import f", "from tools import f", "utils/tools.ipynb"),
    ("from x import x; x.run()", "import x as x; x.run()", "x/x.py"),
    ("import tools", None, "tools.py"), ("import tools", None, "core/src/tools.py"),
    ("import tools", None, "src/tools.py"),
    ("import tools", None, "core/tools (1).py"), ("import tools", None, "core/tools-1.py"),
    ("import tools", None, "core/tools.ipynb"),
])  # fmt: skip
def test_a_module_of_a_package_or_above_is_found(work, root, written, read, file):
    """It gets a plain name, which nothing else has, on the line where it is imported."""
    others = {"utils/more.py": "", **({"core/tools.py": ""} if read and "utils_tools" in read else {})}
    submission = work({"core/mean_square.py": written, file: "x = 1", **others})

    assert submission.source == (read or written) and submission.notes == ()
    assert (str(root / file), "x = 1") in submission.siblings.values()


def test_what_is_not_looked_into_is_no_module_of_its_own_name(work):
    """`from x import x` is the function of x/x.py where `sys.path` leads to that folder."""
    written = "from x import x\nx()"

    assert work({"core/mean_square.py": written, "x/x.py": "def x(): pass"}).source == written


@pytest.mark.parametrize("written, read, siblings", [
    ("from utils import f", None, "utils"), ("import utils, os", None, "utils"),
    ("from utils import *", None, "utils"), ("from pack.part import f", "from part import f", "part"),
    ("from utils import BIG, tools", "import tools as tools; from utils import BIG", "utils tools"),
    ("from utils import (  # mine\n  tools\n)", "import tools as tools\n\n", "tools"),
    ("from pack import far", None, "far pack"), ("from pack import near", "import near as near", "near"),
    ("from .beside import (f,\n  g); x = 1", "from beside import f, g; x = 1\n", "beside"),
    ("from . import beside as b, math", "import beside as b, core_math as math", "beside core_math"),
    ("from ..utils import f", "from utils import f", "utils"),
    ("from ..utils.tools import f", "from tools import f", "tools"),
    ("from ..pack import up", "from pack import up", "pack"),
    ("from .. import top", "from __init__ import top", "__init__"),
    ("from .math import f; import math", "from core_math import f; import math", "core_math"),
    ("from ..types import f", "from own_types import f", "own_types"),
    ("from .. import types as t, top", "import own_types as t; from __init__ import top", "own_types __init__"),
])  # fmt: skip
def test_what_a_package_gives_and_what_lies_beside_is_found(work, written, read, siblings):
    """`__init__.py` is the module of its package, and comes before a file in that; dots lead from the file's folder."""
    empty = ("core/beside.py", "core/math.py", "utils/tools.py", "pack/near.py", "pack/part/__init__.py", "types.py")
    files = dict.fromkeys(empty, "") | {"pack/__init__.py": "from .far import *\nfrom .. import top as up"}
    files |= {"utils/__init__.py": "BIG = 1\ndef f(): 1", "pack/far.py": "from . import *\nfar = near"}
    files |= {"__init__.py": "top = 1"}
    submission = work({"core/mean_square.py": written, **files})

    assert submission.source == (read or written) and submission.notes == ()
    assert set(siblings.split()) <= set(submission.siblings)


@pytest.mark.parametrize("lines", ["from utils.tools import f\nfrom utils import BIG", "from utils import BIG, tools"])
def test_a_package_that_was_found_hides_no_module_of_it(work, lines):
    """In whichever order they are imported, `__init__.py` too, and by the name of its own package."""
    files = {"utils/__init__.py": "from utils.more import *\nBIG = 1", "utils/more.py": "", "utils/tools.py": "f = 1"}
    for importer in (lines, "\n".join(reversed(lines.split("\n"))), "import utils, beside"):
        submission = work({"core/mean_square.py": importer, "core/beside.py": lines, **files})
        texts = [submission.source, *(text for _, text in submission.siblings.values())]

        assert {"utils", "more", "tools"} <= set(submission.siblings) and not any("utils." in text for text in texts)


@pytest.mark.parametrize("init, read", [
    ("from . import tools", "import tools as tools"), ("from utils import f, tools as tools", "import tools as tools"),
    ("from . import f as tools", "from utils import tools"), ("from .f import tools", "from utils import tools"),
    ("import math as tools\nfrom . import tools", "from utils import tools"),
    ("tools = 1\nfrom . import tools", "from utils import tools"), ("from .f import *", "from utils import tools"),
])  # fmt: skip
def test_what_a_package_takes_out_of_itself_alone_is_its_module(work, init, read):
    """It is so for `__init__.py` as for whoever imports it; a name that gets another value as well is given by that."""
    files = {"utils/__init__.py": init, "utils/tools.py": "", "utils/f.py": "tools = 1"}
    submission = work({"core/mean_square.py": "from utils import tools\nimport utils", **files})

    assert submission.source == f"{read}\nimport utils"
    assert read.startswith("from") or "from utils" not in submission.siblings["utils"][1]


@pytest.mark.parametrize("written, read, file", [
    ("from utils.mean_square import f", "from utils_mean_square import f", "utils/mean_square.py"),
    ("from .mean_square import f", "from core_mean_square import f", "core/mean_square.py"),
    ("from mean_square import f", "from core_mean_square import f", "core/mean_square.py"),
    ("import os, mean_square", "import os, own_mean_square as mean_square", "mean_square.py"),
    ("from mean_square import f", "from mean_square___init__ import f", "mean_square/__init__.py"),
    ("from utils.__main__ import f", "from utils___main__ import f", "utils/__main__.py"),
])  # fmt: skip
def test_a_file_called_like_the_lesson_is_not_taken_for_the_judged_one(course, root, written, read, file):
    """The worker knows the judged file by the lesson's name, and itself as `__main__`: another file gets its path."""
    for name, text in {"core/hw1.py": written, file: "f = 1"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    submission = read_submission(root / "core/hw1.py", course.lessons["mean_square"], course, root)

    assert submission.source == read
    assert (str(root / file), "f = 1") in submission.siblings.values()


@pytest.mark.parametrize("written, name", [
    ("from utils import f", "softmax"), ("import utils\nf = utils.f", "softmax"), ("from utils import *", "softmax"),
    ("from .beside import f", "softmax"), ("from . import beside as b\nf = b.f", "softmax"), ("from .no import f", "."),
])  # fmt: skip
def test_what_is_forbidden_is_found_behind_a_package_or_a_dot(work, written, name):
    """The reader of the source follows it there, as into any file beside; a dot that leads nowhere is a door."""
    hidden = "from torch import softmax as f"
    files = {"utils/__init__.py": "from .inner import f", "utils/inner.py": hidden, "core/beside.py": hidden}
    one = work({"core/mean_square.py": f"{written}\n\n\ndef mean_square(x):\n    return f(x, 0)\n", **files})
    found = find_forbidden_calls(one.source, ["mean_square"], partial(matches, forbids=("softmax",)), one.siblings)

    assert found["mean_square"].name == name


@pytest.mark.parametrize("source", [
    "from torch.tools import f", "from numpy import tools", "from .utils.tools import f", "from ...utils import tools",
    "from . import utils", "from . import nothing", "from .... import tools", "from torch import *",
    "from utils import tools, nothing",
    "import utils.tools", "from scipy.tools import f", "import tools", "from utils.tools import (",
])  # fmt: skip
def test_no_package_of_a_learner_takes_the_place_of_another(work, course, root, source):
    """Nor is a file found in any folder, or one of several copies; a relative import that leads nowhere stays."""
    files = {f"{name}/tools.py": "" for name in ("torch", "numpy", "utils", "core/scipy")}
    files |= {"utils/tools.py": "", "core/tools (1).py": "", "core/tools (2).py": ""}
    work({"core/mean_square.py": source, **files})
    course = replace(course, packages=("scipy",))
    submission = read_submission(root / "core/mean_square.py", course.lessons["mean_square"], course)

    assert (submission.source, submission.siblings) == (source, {})


def test_an_import_of_a_track_gets_a_word(work):
    """`import core.mean` cannot work; the note says what does."""
    submission = work({"core/mean_square.py": "import core.mean"})

    assert submission.notes == ("core.mean is not found from here: write `from mean import ...` instead",)


def test_a_lesson_of_the_course_can_be_handed_in_as_it_is(course, root):
    """An untouched stub is a submission like any other."""
    create(root, course)
    lesson = find_lesson(course, "mean")
    submission = read_submission(find(root).exercise_path(lesson), lesson, course)

    assert submission.source == lesson.exercise_path.read_text()
