"""The `grader` command, as it is typed."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hand_ins import ANSWERS, SUMS, TINY, write

from grader.cli.grade import COMMANDS, grader

SECONDS = 120


@pytest.fixture
def class_folder(tmp_path):
    """Three learners: one right, one with a mistake, one with half of it."""
    return write(tmp_path / "in", {
        **{f"ann/basics/{name}.py": text for name, text in ANSWERS.items()},
        "bob/moving_average.py": SUMS, "bob/argmax_2d.py": ANSWERS["argmax_2d"],
        "cy.py": ANSWERS["argmax_2d"],
        "essay.docx": "",
    })  # fmt: skip


def typed(*arguments: object) -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "grader.cli.grade", *map(str, arguments), "--course", str(TINY)]


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """What the command did."""
    return subprocess.run(typed(*arguments), capture_output=True, text=True, timeout=SECONDS,
                          env={**os.environ, "COLUMNS": "80", **environment})  # fmt: skip


def refused(*arguments: object) -> str:
    """What a command says that was asked for what cannot be; no worker is started for it."""
    done = CliRunner().invoke(grader, [*map(str, arguments)])
    assert done.exit_code == 2, done.output
    return done.output


def test_a_class_is_graded(class_folder, tmp_path):
    """The gradebook, the results and each learner's feedback are there, and the end is said in a few lines."""
    out = tmp_path / "out"
    done = run("run", class_folder, "--out", out, "--seed", 5)

    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((out / "gradebook.csv").read_text().splitlines()))
    assert [(row["id"], row["score"], row["complete"], row["missing"]) for row in rows] == [
        ("ann", "10.0", "yes", "0"), ("bob", rows[1]["score"], "yes", "0"), ("cy", "10.0", "no", "1")]  # fmt: skip
    assert 1.0 < float(rows[1]["score"]) < 10.0
    assert (rows[2]["moving_average"], rows[2]["moving_average state"]) == ("", "missing")
    whole = json.loads((out / "results.json").read_text())
    assert (whole["schema"], whole["seed"], whole["complete"], whole["ignored"]) == (1, 5, True, ["essay.docx"])
    feedback = json.loads((out / "feedback" / "bob.json").read_text())
    assert feedback["lessons"]["moving_average"]["mistakes"][0]["id"] == "ma-sum"
    assert "3 submissions graded (seed 5): mean score" in done.stdout and "1 of them incomplete" in done.stdout
    assert "essay.docx" in done.stderr
    assert sorted(re.findall(r"^\[\d/3\] (\w+)", done.stderr, re.MULTILINE)) == ["ann", "bob", "cy"]
    assert "\x1b" not in done.stdout + done.stderr


def test_some_lessons_of_some_learners(class_folder, tmp_path):
    """--lessons, --only and --limit choose; --json prints one object and nothing else."""
    done = run("run", class_folder, "--out", tmp_path / "out", "--lessons", "argmax", "--only", "cy", "--only", "ann",
               "--limit", 1, "--json")  # fmt: skip

    summary = json.loads(done.stdout)
    assert (summary["submissions"], summary["mean"], summary["states"]) == (1, 10.0, {"graded": 1})
    columns = (tmp_path / "out/gradebook.csv").read_text().splitlines()[0]
    assert columns == "id,score,complete,missing,argmax_2d,argmax_2d state,problem"


def test_stopping_keeps_what_is_done(tmp_path):
    """Ctrl-C ends every process, keeps the results so far, and says how to go on; --resume does the rest."""
    folder = write(tmp_path / "in", {f"a{n}/{name}.py": text for n in range(40) for name, text in ANSWERS.items()})
    out = tmp_path / "out"
    process = subprocess.Popen(typed("run", folder, "--out", out, "--jobs", 1), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)  # fmt: skip
    try:
        line = ""
        while not line.startswith("[2/40]"):
            line = process.stderr.readline()
            assert line, "it ended before it had graded anybody"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()

    assert process.returncode == 130
    assert "--resume" in said and "kept in" in said and "Traceback" not in said
    first = json.loads((out / "results.json").read_text())
    assert 2 <= len(first["submissions"]) < 40 and first["complete"] is False
    assert not left_behind(str(tmp_path))
    done = run("run", folder, "--out", out, "--resume")
    second = json.loads((out / "results.json").read_text())
    assert f"{len(first['submissions'])} submissions graded before" in done.stderr
    assert len(second["submissions"]) == 40 and second["seed"] == first["seed"]


def left_behind(mark: str) -> list[str]:
    """The command lines of processes that have to do with a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if mark in line and "grader" in line:
            found.append(line)
    return found


@pytest.mark.parametrize("arguments, says", [
    (["nowhere"], "no such folder"),
    (["empty"], "no submissions"),
    (["in", "--lessons", "sofmax"], "no lesson"),
    (["in", "--lessons", ","], "names no lesson"),
    (["in", "--only", "anne"], "did you mean ann?"),
    (["in", "--jobs", "0"], "--jobs"),
    (["in", "--device", "tpu"], "--device"),
    (["in", "--course", "empty"], "course.toml"),
])  # fmt: skip
def test_what_cannot_be_graded_is_said(class_folder, tmp_path, monkeypatch, arguments, says):
    """Wrong usage is a sentence with the next step, exit status 2, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    course = [] if "--course" in arguments else ["--course", TINY]

    assert says in refused("run", *arguments, "--out", tmp_path / "out", *course)
    assert not (tmp_path / "out").exists() or "only" in arguments[1]


def test_a_place_where_nothing_can_be_written_is_said(class_folder, tmp_path):
    """Where the results cannot go is wrong usage, before anybody is graded."""
    (tmp_path / "file").write_text("")

    assert "--out" in refused("run", class_folder, "--out", tmp_path / "file", "--course", TINY)


def test_broken_checks_end_the_run_and_blame_nobody(class_folder, tmp_path):
    """If the course's own checks cannot be used, that is the instructor's to mend: no learner gets a result."""
    course = shutil.copytree(TINY, tmp_path / "course")
    (course / "solutions/basics/test_argmax_2d.py").write_text("import nothing_of_that_name\n")
    command = [sys.executable, "-m", "grader.cli.grade", "run", class_folder, "--out", tmp_path / "out"]
    done = subprocess.run([*command, "--course", course], capture_output=True, text=True, timeout=SECONDS)

    assert done.returncode == 2
    assert "nothing_of_that_name" in done.stderr and "Traceback" not in done.stderr
    assert json.loads((tmp_path / "out/results.json").read_text())["submissions"] == []


def test_a_check_that_fails_by_itself_costs_nobody_points(class_folder, tmp_path):
    """A check with an error in it is the grader's: exit status 3, and the other checks make the score."""
    course = shutil.copytree(TINY, tmp_path / "course")
    checks = course / "solutions/basics/test_argmax_2d.py"
    checks.write_text(checks.read_text().replace("grid = rand(3, 5)\n", "grid = rand(3, 5) @ rand(9, 9)\n", 1))
    command = [sys.executable, "-m", "grader.cli.grade", "run", class_folder, "--out", tmp_path / "out"]
    done = subprocess.run(
        [*command, "--course", course, "--only", "ann"], capture_output=True, text=True, timeout=SECONDS
    )

    assert done.returncode == 3
    (ann,) = json.loads((tmp_path / "out/results.json").read_text())["submissions"]
    assert ann["states"] == {"graded": 1, "grader-error": 1}
    assert ann["lessons"]["argmax_2d"]["score"] == 10.0 and ann["score"] == 10.0 and not ann["complete"]
    assert ann["lessons"]["argmax_2d"]["checks"][1]["outcome"] == "grader-error"


def test_the_audit_prints_a_table(tmp_path):
    """A line a lesson, then what is wrong; exit status 1 if anything is."""
    course = shutil.copytree(TINY, tmp_path / "course")
    (course / "solutions/basics/argmax_2d_mistakes.py").write_text("FAMILIES = []\n")
    command = [sys.executable, "-m", "grader.cli.grade", "audit", course]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)

    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["✓", "moving_average", "10", "8/8", "8/8", "3/3"]
    assert lines[2].split() == ["✗", "argmax_2d", "12", "0/0", "0/0", "0/0"]
    assert "In argmax_2d:" in lines and "no family of known mistakes" in done.stdout


def test_a_new_lesson_is_begun(tmp_path):
    """`grader new` writes the files, puts the lesson into the syllabus and says what to do next."""
    course = shutil.copytree(TINY, tmp_path / "course")
    done = CliRunner().invoke(grader, ["new", "running_max", "--course", str(course)])

    assert done.exit_code == 0, done.output
    assert "grader audit --lessons running_max" in done.output
    assert '"argmax_2d", "running_max"]' in (course / "course.toml").read_text()
    assert "there is a lesson" in refused("new", "running_max", "--course", course)
    assert "there is no track" in refused("new", "other", "--track", "nope", "--course", course)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name):
    """--help of each command says what it does and shows it."""
    done = CliRunner().invoke(grader, [name, "--help"])

    assert done.exit_code == 0, done.output
    assert "Example" in done.output


def test_the_grading_command_itself_needs_no_torch(tmp_path):
    """Only the grading processes import torch: the command that sends them work stays small."""
    script = "import sys, grader.cli.grade_run, grader.batch.run\n"
    script += "print('torch' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=SECONDS)

    assert done.stdout.split() == ["False", "False"], done.stderr
