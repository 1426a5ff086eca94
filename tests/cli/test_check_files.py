"""`learn check PATH`: files and notebooks, in the workspace and elsewhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.learn_command import TINY, learn, start_workspace

WRONG = "def argmax_2d(grid):\n    return int(grid.argmax()), 0\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A fresh workspace of the tiny course."""
    return start_workspace(tmp_path / "work")


def test_a_notebook_is_checked_for_each_lesson_that_it_defines(workspace, tmp_path):
    """Cells count as one module; the lessons are found by their functions; nothing of it is kept."""
    cells = [
        "import numpy as np",
        (TINY / "solutions/basics/argmax_2d.py").read_text(),
        "!pip install x\nprint('done')",
    ]
    notebook = tmp_path / "my work.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": text} for text in cells]}))
    done = learn("check", str(notebook), cwd=workspace)
    assert done.returncode == 0
    assert "10.0 / 10" in done.stdout
    assert "This is not kept" in done.stdout

    raises = "# mine\ndef argmax_2d(grid):\n    return grid.nothing"
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": text} for text in (cells[0], raises)]}))
    assert "line 3 of code cell 2" in " ".join(learn("check", str(notebook), "-v", cwd=workspace).stdout.split())

    for text, why in (("{}", "it has no cells"), (json.dumps({"cells": []}), "defines no function of a lesson")):
        notebook.write_text(text)
        refused = learn("check", str(notebook), cwd=workspace)
        assert refused.returncode == 2
        assert why in " ".join(refused.stderr.split())


def test_a_file_from_elsewhere_is_never_told_to_be_reset(workspace, tmp_path):
    """`learn reset` would put the stub into the workspace's own file: for another one it is said what to write."""
    empty = tmp_path / "empty.py"
    empty.write_text("")
    (workspace / "basics/argmax_2d.py").write_text("")
    for arguments, offers in ((["--file", str(empty)], False), ([], True)):
        said = learn("check", "argmax_2d", *arguments, cwd=workspace).stdout
        as_json = learn("check", "argmax_2d", *arguments, "--json", cwd=workspace).stdout

        assert ("learn reset" in said, "learn reset" in as_json) == (offers, offers)
        assert ("Write `argmax_2d(grid)`, as in the exercise." in said) is not offers


def test_a_cell_that_writes_a_file_is_told_to_be_left_out(workspace, tmp_path):
    """What the notebook imports from that file is not there when it is checked, and the verdict says why."""
    cells = [
        "%%writefile tools.py\ndef best(grid): return 0, 0",
        "from tools import best\ndef argmax_2d(grid): return best(grid)",
    ]
    notebook = tmp_path / "work.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": text} for text in cells]}))
    done = learn("check", str(notebook), cwd=workspace)

    assert "Code cell 1 was left out: it writes tools.py" in " ".join(done.stdout.split())


def test_trace_says_as_json_why_a_file_cannot_be_loaded(workspace, tmp_path):
    """In `error`, with the line; it is null where the file was watched."""
    for text, why in (("import nothing_there\n", "No module named 'nothing_there'"), ("x = (\n", "was never closed")):
        (tmp_path / "mine.py").write_text(text)
        done = learn("trace", "argmax_2d", "--file", str(tmp_path / "mine.py"), "--json", cwd=workspace)
        told = json.loads(done.stdout)
        assert done.returncode == 1 and told["calls"] == [] and why in told["error"] and "mine.py:1" in told["error"]

    (tmp_path / "mine.py").write_text(WRONG)
    told = json.loads(learn("trace", "argmax_2d", "--file", str(tmp_path / "mine.py"), "--json", cwd=workspace).stdout)
    assert told["calls"] and told["error"] is None


def test_a_notebook_of_the_workspace_says_how_its_result_is_kept(workspace):
    """By the cell that checks itself; and what comes next is another command than the one just typed."""
    notebook = workspace / "basics/mine.ipynb"
    smallest = "def argmax_2d(grid):\n    return divmod(int(grid.argmin()), grid.shape[1])\n"
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": smallest}]}))
    done = learn("check", "basics/mine.ipynb", cwd=workspace)
    said = " ".join(done.stdout.split())

    assert "This is not kept" in said and "with `%%check argmax_2d` as its first line" in said
    assert "Next  learn trace argmax_2d --file basics/mine.ipynb" in done.stdout
    shown = json.loads(learn("check", "basics/mine.ipynb", "--json", cwd=workspace).stdout)
    commands = [each["command"] for each in shown["suggestions"]]
    assert "learn check argmax_2d --file basics/mine.ipynb" not in commands
    progress = json.loads(learn("progress", "--json", cwd=workspace).stdout)["lessons"]
    assert not any(lesson["attempts"] for lesson in progress)

    moved = shutil.move(notebook, workspace.parent / "mine.ipynb")
    assert "%%check" not in learn("check", str(moved), cwd=workspace).stdout


def test_the_notebook_beside_an_exercise_is_kept_as_its_cell_is(workspace):
    """As an attempt, in the empty file what passes; other work there stays; the notebook as it was given is no try."""
    right = (TINY / "solutions/basics/argmax_2d.py").read_text()
    stub = (TINY / "exercises/basics/argmax_2d.py").read_text()
    file = workspace / "basics/argmax_2d.py"

    def check(source):
        cells = ["%load_ext grader.notebook", f"%%check argmax_2d\n{source}", "%hint argmax_2d"]
        notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
        (workspace / "basics/argmax_2d.ipynb").write_text(json.dumps(notebook))
        said = " ".join(learn("check", "basics/argmax_2d.ipynb", cwd=workspace).stdout.split())
        lessons = json.loads(learn("progress", "--json", cwd=workspace).stdout)["lessons"]
        return said, next(each["attempts"] for each in lessons if each["lesson"] == "argmax_2d")

    assert check(stub)[1] == 0
    wrong, tries = check("def argmax_2d(grid):\n    return (0, 0)\n")
    assert tries == 1 and "kept" not in wrong and file.read_text() == stub
    passed, _ = check(right)
    assert "Written to `basics/argmax_2d.py` as well" in passed and "Solved: " in passed
    assert "def argmax_2d" in file.read_text() != stub
    file.write_text(f"\n{right}\n")
    assert "other work" not in check(right)[0]
    file.write_text("mine = 1\n")
    assert "`basics/argmax_2d.py` holds other work" in check(right)[0] and file.read_text() == "mine = 1\n"


def test_a_path_that_leads_nowhere_is_answered_with_one_that_does(workspace):
    """The workspace's file of that name, the command that writes it, or the form; no other file is judged silently."""

    def next_after(*words: str, folder: str = ".") -> str:
        refused = learn(*words, cwd=workspace / folder)
        assert refused.returncode == 2 and "there is no such file" in refused.stderr.lower(), refused.stderr
        return refused.stderr.partition("Next:  ")[2].strip()

    write_them = "learn start --notebook (it writes a notebook for each lesson"
    assert next_after("check", "argmax_2d.ipynb").startswith(write_them)
    assert f"{workspace}; learn start" in " ".join(next_after("trace", "argmax_2d.ipynb", folder="basics").split())
    (workspace / "basics/argmax_2d.ipynb").write_text("{}")
    assert next_after("check", "argmax_2d.ipynb") == "learn check basics/argmax_2d.ipynb"
    assert next_after("trace", "argmax_2d", "--file", "no/argmax_2d.ipynb") == "learn trace basics/argmax_2d.ipynb"
    assert next_after("check", "no/argmax_2d.py") == "learn check basics/argmax_2d.py"
    assert next_after("check", "basics/nope.py") == "learn check LESSON --file FILE.py"
    assert next_after("check", "other.ipynb") == "learn check LESSON --file FILE.ipynb"

    (workspace / "basics/nope.py").write_text(WRONG)
    assert "learn check LESSON --file basics/nope.py" in learn("check", "basics/nope.py", cwd=workspace).stderr
    assert learn("check", "basics/argmax_2d.py", cwd=workspace / "basics").returncode == 1  # known in every folder


def test_a_file_outside_of_a_workspace_is_checked_and_not_kept(tmp_path):
    """`--file` needs no workspace, no lesson if the file is named after it, and leaves nothing behind."""
    file = tmp_path / "argmax_2d.py"
    file.write_text((TINY / "solutions/basics/argmax_2d.py").read_text())

    assert learn("check", "argmax_2d", "--file", str(file), cwd=tmp_path).returncode == 0
    assert learn("check", "--file", "argmax_2d.py", cwd=tmp_path).returncode == 0
    assert learn("check", "argmax_2d.py", cwd=tmp_path).returncode == 0
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_whose_suffix_is_in_capitals_is_the_one_that_is_checked(workspace):
    """argmax_2d.PY, which is there, is judged, and not the workspace's own file of that lesson."""
    (workspace / "argmax_2d.PY").write_text((TINY / "solutions/basics/argmax_2d.py").read_text())
    (workspace / "basics/argmax_2d.py").write_text(WRONG)

    done = learn("check", "argmax_2d.PY", cwd=workspace)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_file_named_after_no_lesson_needs_one(tmp_path):
    """A file called otherwise is answered with the command that says whose work it is."""
    (tmp_path / "my try.py").write_text("")
    done = learn("check", "--file", "my try.py", cwd=tmp_path)

    assert done.returncode == 2
    assert "learn check LESSON --file 'my try.py'" in done.stderr
