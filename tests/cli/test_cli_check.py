"""`learn check`: real submissions, real workers, real exit codes."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.course_maker import make_course
from support.learn_command import START, TINY, answer, learn, run_code, solve, start_workspace

WRONG = "def argmax_2d(grid):\n    print('a word', end=' ')\n    return int(grid.argmax()), 0\n"
CONTRACT = {
    "schema", "lesson", "score", "passed", "device", "seed", "duration_s", "checks", "mistakes", "strengths",
    "weaknesses", "suggestions", "output",
}  # fmt: skip
CHECK_CONTRACT = {"id", "function", "says", "skill", "outcome", "points", "earned", "message"}


@pytest.fixture
def workspace(tmp_path):
    """A fresh workspace of the tiny course."""
    return start_workspace(tmp_path / "work")


def attempts(workspace: Path) -> dict[str, int]:
    """How many attempts are recorded for each lesson."""
    progress = json.loads(learn("progress", "--json", cwd=workspace).stdout)
    return {lesson["lesson"]: lesson["attempts"] for lesson in progress["lessons"]}


# ---- verdicts and exit codes ----------------------------------------------------------------------------------------


def test_right_work_passes(workspace):
    """All checks passed: ten of ten, exit code 0, and the next lesson is suggested."""
    answer(workspace, "moving_average")
    done = learn("check", "moving_average", cwd=workspace)

    assert done.returncode == 0
    assert "10.0 / 10" in done.stdout
    assert "learn read argmax_2d" in done.stdout
    assert "Solved: 1 of 2 lessons." in done.stdout
    assert done.stderr == ""


def test_wrong_work_is_assessed(workspace):
    """Not yet: exit code 1, the failing checks, a small input to try, and what to do next, in 80 plain columns."""
    answer(workspace, "argmax_2d", WRONG)
    done = learn("check", "argmax_2d", "--seed", "5", cwd=workspace)

    assert done.returncode == 1
    for part in (
        "seed 5",
        "Smallest failing input",
        "failed",
        "passed: learn check argmax_2d -v",
        "Next",
        "learn hint argmax_2d",
        "a word",
    ):
        assert part in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_an_untouched_exercise_is_no_try(workspace):
    """Its check has a verdict, and leaves the lesson as it was: one that was not begun."""
    assert "not written yet" in learn("check", "argmax_2d", cwd=workspace).stdout
    assert "best" not in learn("list", cwd=workspace).stdout
    answer(workspace, "argmax_2d", WRONG)
    assert "before" not in learn("check", "argmax_2d", cwd=workspace).stdout
    assert "best" in learn("list", cwd=workspace).stdout


def test_an_untouched_stub_is_told_as_one(workspace):
    """The stub is not a failure to explain but work not begun."""
    done = learn("check", "argmax_2d", cwd=workspace)

    assert done.returncode == 1
    assert "not written yet" in done.stdout
    assert len(done.stdout.splitlines()) == 5


def test_a_file_that_is_no_python(workspace):
    """The line that Python cannot read is shown with its place; nothing else is claimed."""
    answer(workspace, "argmax_2d", "def argmax_2d(grid)\n    return 1\n")
    done = learn("check", "argmax_2d", cwd=workspace)

    assert done.returncode == 1
    assert "basics/argmax_2d.py:1" in done.stdout
    assert "Python cannot read your file" in done.stdout
    assert "-v" not in done.stdout


@pytest.mark.parametrize(("body", "under"), [
    ("    a = 1\n\tb = 2\n", "b"),
    ("\ta = grid[0\n", "["),
    ("        a = 1\n    b = 2\n", "b"),
])  # fmt: skip
def test_the_caret_stands_under_what_python_cannot_read(workspace, body, under):
    """Also in a line that is indented by tabs, and where the indentation itself is wrong."""
    answer(workspace, "argmax_2d", f"def argmax_2d(grid):\n{body}")
    shown = learn("check", "argmax_2d", cwd=workspace).stdout.splitlines()
    caret = next(number for number, line in enumerate(shown) if line.strip() == "^")

    assert shown[caret - 1][shown[caret].index("^")] == under


@pytest.mark.parametrize(("arguments", "said"), [
    (("argmax_2d", "--file", "nowhere.py"), "no such file"),
    (("argmax_2d", "--file", "."), "folder"),
    (("argmax_2d", "--device", "tpu"), "tpu"),
    (("argmax_2d", "--device", "cuda"), "CPU only"),
    (("argmax_2d", "--seed", "-1"), "-1"),
    (("argmax_2d", "--all"), "--all takes no lesson"),
    (("argmax_2d", "moving_average", "--file", "x.py"), "name one"),
    (("argmax_2d", "--pdb"), "needs a terminal"),
    (("argmax_2d", "--pdb", "--json"), "--json"),
    (("nothing_like_it",), "no lesson"),
])  # fmt: skip
def test_wrong_usage_is_exit_code_2(workspace, arguments, said):
    """What cannot be done is said on standard error, and nothing is printed or recorded."""
    done = learn("check", *arguments, cwd=workspace)

    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert attempts(workspace) == {"moving_average": 0, "argmax_2d": 0}


def test_a_missing_exercise_is_exit_code_2(workspace):
    """A lesson whose file was deleted names the command that brings it back."""
    (workspace / "basics/argmax_2d.py").unlink()
    done = learn("check", "argmax_2d", cwd=workspace)

    assert done.returncode == 2
    assert "learn start" in done.stderr


def test_a_check_that_fails_by_our_fault_is_exit_code_3(workspace, tmp_path):
    """A broken hidden check costs no points, is not recorded, and is told as ours."""
    broken = shutil.copytree(TINY, tmp_path / "broken")
    checks = broken / "solutions/basics/test_argmax_2d.py"
    checks.write_text(checks.read_text() + (
        '\n\n@pytest.mark.check(skill="values", points=1)\ndef test_broken(submission):\n    """Is our mistake."""\n'
        "    raise RuntimeError('ours')\n"
    ))  # fmt: skip
    answer(workspace, "argmax_2d")
    done = learn("check", "argmax_2d", cwd=workspace, course=broken)

    assert done.returncode == 3
    assert "fault of ours" in done.stdout
    assert attempts(workspace)["argmax_2d"] == 0


def test_without_the_hidden_checks_nothing_can_be_checked(tmp_path):
    """A course without its checks is a usage error with what to install."""
    course = make_course(tmp_path / "course")
    assert learn("start", "work", cwd=tmp_path, course=course).returncode == 0
    done = learn("check", "mean", cwd=tmp_path / "work", course=course)

    assert done.returncode == 2
    assert "hidden checks are not here" in done.stderr


# ---- what is checked, and what is kept ------------------------------------------------------------------------------


def test_without_a_name_the_lesson_one_is_at_is_checked(workspace):
    """That is the unsolved one edited last, else the first unsolved one."""
    assert learn("check", cwd=workspace).stdout.startswith("Moving average")

    answer(workspace, "argmax_2d", WRONG)
    assert learn("check", cwd=workspace).stdout.startswith("The largest entry")

    answer(workspace, "argmax_2d")
    assert learn("check", cwd=workspace).returncode == 0
    assert learn("check", cwd=workspace).stdout.startswith("Moving average")


def test_attempts_are_kept_in_a_workspace(workspace):
    """Each check is recorded, and the next one mentions the score before."""
    answer(workspace, "argmax_2d", WRONG)
    first = learn("check", "argmax_2d", cwd=workspace).stdout
    answer(workspace, "argmax_2d")
    second = learn("check", "argmax_2d", cwd=workspace / "basics").stdout

    assert attempts(workspace) == {"moving_average": 0, "argmax_2d": 2}
    for kept in ('{"mistakes": [{"id": "a"}]}', '{"checks": [1, null]}', '{"mistakes": 5}'):  # a file somebody changed
        with closing(sqlite3.connect(workspace / ".selfattend/progress.db")) as file, file:
            file.execute("UPDATE attempts SET passed = 0, mistakes = 1, result = ?", (kept,))
        for words in (["progress"], ["hint", "argmax_2d"]):
            told = learn(*words, cwd=workspace)
            assert "our fault" not in told.stderr and told.returncode in (0, 3), told.stderr
    assert f"before: {re.search(r'^([0-9.]+) / 10', first, re.MULTILINE)[1]}" in second


def test_a_file_from_elsewhere_uses_the_lessons_of_the_workspace(workspace, tmp_path):
    """What is not beside it is taken from the workspace around; elsewhere there is nothing to take."""
    answer(workspace, "moving_average")
    solution = (TINY / "solutions/basics/argmax_2d.py").read_text()
    elsewhere = tmp_path / "argmax_2d.py"
    elsewhere.write_text(f"{solution}\n\nfrom moving_average import moving_average\n")
    assert learn("check", "argmax_2d", "--file", str(elsewhere), cwd=workspace).returncode == 0
    assert "No module named" in learn("check", "argmax_2d", "--file", str(elsewhere), cwd=tmp_path).stdout
    copy = workspace / "copy.py"  # in the workspace, and in no folder of a track
    copy.write_text(elsewhere.read_text())
    assert learn("check", "argmax_2d", "--file", str(copy), cwd=workspace).returncode == 0


def test_the_next_lesson_is_one_that_is_not_solved(workspace):
    """After success the first lesson not solved is next, as text and as JSON; none is left after the last."""
    solve(workspace, "argmax_2d")
    assert "learn read moving_average" in learn("check", "argmax_2d", cwd=workspace).stdout

    answer(workspace, "moving_average")
    said = json.loads(learn("check", "moving_average", "--json", cwd=workspace).stdout)
    assert said["suggestions"][0]["command"] == "learn progress"
    assert "Next  learn progress" in learn("check", "argmax_2d", cwd=workspace).stdout


def test_outside_of_a_workspace_a_file_is_needed(tmp_path):
    """Without one, both ways on are named."""
    done = learn("check", "argmax_2d", cwd=tmp_path)

    assert done.returncode == 2
    assert "learn start" in done.stderr
    assert "--file" in done.stderr


def test_all_lessons_in_one_command(workspace):
    """`--all` checks every lesson, shows a line for each, and records each."""
    answer(workspace, "moving_average")
    answer(workspace, "argmax_2d", WRONG)
    done = learn("check", "--all", cwd=workspace)

    assert done.returncode == 1
    assert "1 of 2 lessons passed" in done.stdout
    assert re.search(r"moving_average +10\.0", done.stdout)
    assert attempts(workspace) == {"moving_average": 1, "argmax_2d": 1}


def test_a_missing_file_does_not_stop_the_other_lessons(workspace):
    """The others are judged; the exit code says that something was missing."""
    answer(workspace, "moving_average")
    (workspace / "basics/argmax_2d.py").unlink()
    done = learn("check", "--all", "--json", cwd=workspace)
    lessons = json.loads(done.stdout)["lessons"]

    assert done.returncode == 2
    assert lessons["moving_average"]["score"] == 10.0
    assert (lessons["argmax_2d"]["state"], lessons["argmax_2d"]["score"]) == ("missing", None)


def test_progress_that_cannot_be_written_does_not_hide_the_verdict(workspace):
    """The verdict is printed and keeps its exit code; the trouble is said on standard error."""
    answer(workspace, "argmax_2d")
    spoil = (
        "import sys\nfrom grader.store import Store\nfrom grader.errors import StoreError\n"
        "def refuse(*a): raise StoreError('your progress was not saved: the disk is full')\n"
        "Store.record_attempt = refuse\nsys.argv = ['learn', 'check', 'argmax_2d']\n"
    )
    done = run_code(spoil + START, workspace)

    assert done.returncode == 0
    assert "10.0 / 10" in done.stdout
    assert "the disk is full" in done.stderr


def test_hints_are_mentioned(workspace):
    """An assessment says how many hints were used."""
    learn("hint", "argmax_2d", cwd=workspace)

    assert "1 hint used" in learn("check", "argmax_2d", cwd=workspace).stdout


# ---- --json and --seed ----------------------------------------------------------------------------------------------


def test_the_json_contract(workspace):
    """One object on standard output, with every documented key."""
    answer(workspace, "argmax_2d", WRONG)
    done = learn("check", "argmax_2d", "--json", "--seed", "123", cwd=workspace)
    result = json.loads(done.stdout)

    assert done.returncode == 1
    assert done.stderr == ""
    assert result.keys() >= CONTRACT
    assert (result["schema"], result["lesson"], result["seed"], result["passed"]) == (1, "argmax_2d", 123, False)
    assert all(check.keys() >= CHECK_CONTRACT for check in result["checks"])
    assert all(suggestion.keys() >= {"says", "command"} for suggestion in result["suggestions"])
    assert "a word" in result["output"]


def test_several_lessons_as_json(workspace):
    """Several lessons are one object, by lesson."""
    lessons = json.loads(learn("check", "--all", "--json", cwd=workspace).stdout)

    assert lessons.keys() == {"schema", "lessons"}
    assert list(lessons["lessons"]) == ["moving_average", "argmax_2d"]


def test_a_seed_repeats_a_run(workspace):
    """The same seed gives the same messages; without one, runs differ."""
    answer(workspace, "argmax_2d", WRONG)

    def messages(*more: str) -> list[str]:
        result = json.loads(learn("check", "argmax_2d", "--json", *more, cwd=workspace).stdout)
        return [result["seed"], *(check["message"] for check in result["checks"])]

    assert messages("--seed", "9") == messages("--seed", "9")
    assert messages() != messages()


def test_an_imported_file_is_blamed_only_if_it_may_be_wrong(workspace):
    """A wrong call of a file that passes is told as that; once the file has changed, it is to be checked again."""
    imported = "from moving_average import moving_average\n"
    wrong_call = f"{imported}def argmax_2d(grid):\n    return moving_average(None, 'wide')\n"
    helper = answer(workspace, "moving_average")
    answer(workspace, "argmax_2d", wrong_call)

    def advice() -> tuple[str, set[str]]:
        result = json.loads(learn("check", "argmax_2d", "--json", cwd=workspace).stdout)
        return result["mistakes"][0]["suggests"], {each["command"] for each in result["suggestions"]}

    unknown, commands = advice()
    assert unknown.startswith("Fix moving_average.py first") and "learn check moving_average" in commands

    solve(workspace, "moving_average")
    passing, commands = advice()
    assert re.fullmatch(r"moving_average\.py passes by itself: look at what \S*argmax_2d\.py:3 gives it\.", passing)
    assert "learn check moving_average" not in commands

    helper.write_text(helper.read_text() + "# changed\n")
    changed, commands = advice()
    assert changed.startswith("Fix moving_average.py first") and "learn check moving_average" in commands


# ---- another file, and hints that are taken -------------------------------------------------------------------------


def test_another_file_is_checked_and_not_kept(workspace):
    """Whatever is wrong with it, the lesson's own progress stays; the next command names that file."""
    answer(workspace, "argmax_2d", "def argmax_2d(grid):\n    return 0, 0\n")
    learn("check", "argmax_2d", cwd=workspace)
    (workspace / "argmax_2d.py").write_text("def argmax_2d(grid:\n")
    for arguments in (("--file", "argmax_2d.py"), ("argmax_2d.py",)):
        done = learn("check", *arguments, cwd=workspace)
        assert done.returncode == 1
        assert "learn check argmax_2d --file argmax_2d.py" in done.stdout
        assert "This is not kept" in done.stdout and "before:" not in done.stdout
    assert attempts(workspace)["argmax_2d"] == 1

    own = learn("check", "--file", "basics/argmax_2d.py", cwd=workspace)
    assert "not kept" not in own.stdout and attempts(workspace)["argmax_2d"] == 2


@pytest.mark.parametrize(
    ("source", "offered"),
    [("def argmax_2d(grid):\n    raise OSError('odd')\n", True), ("def argmax_2d():\n    return 0, 0\n", False)],
)
def test_the_debugger_is_offered_where_no_mend_is_known(workspace, source, offered):
    """Who is told what to write in place of a line has no need to step through the call."""
    answer(workspace, "argmax_2d", source)
    result = json.loads(learn("check", "argmax_2d", "--json", cwd=workspace).stdout)

    assert any("--pdb" in each["command"] for each in result["suggestions"]) is offered


def test_after_a_hint_the_next_one_is_offered(workspace):
    """The mildest is offered as long as none was taken."""

    def offered() -> str:
        told = json.loads(learn("check", "moving_average", "--json", cwd=workspace).stdout)["suggestions"]
        return next(each["says"] for each in told if each["command"].startswith("learn hint"))

    assert offered() == "Stuck at the start? Take the mildest hint."
    learn("hint", "moving_average", cwd=workspace)
    assert offered() == "Take the next hint."


def test_where_no_hint_is_left_the_reference_is_named(workspace):
    """After the last hint, `learn check` and `learn` say what there is besides."""
    for _ in range(3):
        learn("hint", "moving_average", cwd=workspace)
    answer(workspace, "moving_average", "def moving_average(values, window):\n    return values\n")
    for said in (learn("check", "moving_average", cwd=workspace).stdout, learn(cwd=workspace).stdout):
        assert "learn hint" not in said
        assert "learn solution moving_average --give-up" in said and "learn read moving_average" in said


def test_who_has_solved_a_lesson_does_not_give_up(workspace):
    """Where no hint is left and the file is wrong again, the reference is there to compare with."""
    solve(workspace, "moving_average")
    learn("check", "moving_average", cwd=workspace)
    hints = [learn("hint", "moving_average", cwd=workspace).stdout for _ in range(3)]
    answer(workspace, "moving_average", "def moving_average(values, window):\n    return values\n")
    for said in (hints[-1], learn("check", "moving_average", cwd=workspace).stdout):
        assert "learn solution moving_average" in said and "--give-up" not in said


def test_a_null_byte_is_shown_with_its_line(workspace):
    """Python names no line for it."""
    answer(workspace, "argmax_2d", "import numpy\n\nx = '\0'\n")
    assert "argmax_2d.py:3" in learn("check", "argmax_2d", cwd=workspace).stdout
