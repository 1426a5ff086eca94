"""No name and no text of somebody else's controls the terminal: not in an error, not in a lesson."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing

from support.learn_command import TINY, learn, start_workspace

HOSTILE = "\x1b]0;title\x07\x1b[2J\u202e\x9b31m\x08\U000e0041"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def test_an_error_names_what_is_asked_for_without_its_controls(tmp_path):
    """A name may have been copied from anywhere."""
    done = learn("check", f"soft{HOSTILE}max", cwd=start_workspace(tmp_path / "work"))

    assert done.returncode == 2
    assert "soft" in done.stderr
    assert not CONTROLS.search(done.stderr)


def test_a_command_to_type_names_a_file_without_its_controls(tmp_path):
    """Nor does the name of a file that is checked control the terminal, in the command that checks it again."""
    file = tmp_path / f"hostile{HOSTILE}.py"
    file.write_text("def argmax_2d(grid):\n    return 0 +\n")
    for words in (["argmax_2d", "--file", str(file)], ["--file", str(file)]):
        done = learn("check", *words, cwd=start_workspace(tmp_path / "work"))
        shown = done.stdout + done.stderr
        assert "learn check" in shown and "hostile" in shown and not CONTROLS.search(shown), shown


def test_start_names_the_folder_without_its_controls(tmp_path):
    """The command that is next leads into the folder all the same."""
    name = f"w{HOSTILE}'\\s"
    done = learn("start", name, cwd=tmp_path)
    (command,) = re.findall(r"cd \S+", done.stdout)

    assert "written to w" in done.stdout and not CONTROLS.search(done.stdout), done.stdout
    there = subprocess.run(
        ["bash", "-c", f"{command} && ls -d .selfattend"], cwd=tmp_path, capture_output=True, text=True
    )
    assert there.stdout.strip() == ".selfattend", (command, there.stderr)


def test_a_mistake_in_foreign_progress_is_told_without_its_controls(tmp_path):
    """Whoever looks into somebody else's workspace is told its last mistake."""
    work = start_workspace(tmp_path / "work")
    next(work.rglob("argmax_2d.py")).write_text("def argmax_2d(grid):\n    return (0, 0)\n")
    learn("check", "argmax_2d", cwd=work)
    with closing(sqlite3.connect(work / ".selfattend/progress.db")) as file, file:
        ((text,),) = file.execute("SELECT result FROM attempts").fetchall()
        mistake = {"id": f"x{HOSTILE}", "function": "argmax_2d", "says": f"hostile {HOSTILE}words", "suggests": ""}
        file.execute("UPDATE attempts SET result = ?", (json.dumps(json.loads(text) | {"mistakes": [mistake]}),))
    for words in ([], ["list"], ["progress"]):
        done = learn(*words, cwd=work)
        assert "hostile" in done.stdout and not CONTROLS.search(done.stdout), done.stdout + done.stderr
    for words in (["report"], ["report", "--missed"], ["hint", "argmax_2d"], ["review"], ["check", "argmax_2d"]):
        done = learn(*words, cwd=work)
        assert not CONTROLS.search(done.stdout + done.stderr), words


def test_a_lesson_is_shown_without_controls(tmp_path):
    """Its words are there, of a long text too."""
    course = shutil.copytree(TINY, tmp_path / "course")
    text = next(course.rglob("lessons/**/argmax_2d.md"))
    text.write_text(f"{text.read_text()}\n\nhostile {HOSTILE} words\n{'long ' * 9000}\nthe end\n")
    done = learn("read", "argmax_2d", "--whole", "--no-pager", cwd=tmp_path, course=course)

    assert done.returncode == 0, done.stderr
    assert "words" in done.stdout
    assert "the end" in done.stdout
    assert not CONTROLS.search(done.stdout)
