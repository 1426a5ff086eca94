"""`learn hint` and `learn solution`: a ladder that is counted, and the answer after it."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from support.course_maker import make_course
from support.learn_command import ROOT, TINY, answer, in_a_terminal, learn, solve, start_workspace
from support.terminal import plain

from grader.cli.context import CourseContext
from grader.cli.learn.next_step import command_beside
from grader.course import load
from grader.course.step_marks import strip_marks
from grader.model import CheckResult, LessonResult, Named
from grader.store import Store
from grader.workspace import find


@pytest.fixture
def workspace(tmp_path):
    """A fresh workspace of the tiny course."""
    return start_workspace(tmp_path / "work")


def test_hints_climb_their_ladder_and_are_counted(workspace):
    """Each call shows the next rung with its number; the last one stays, and points to the solution."""
    seen = [learn("hint", "moving_average", cwd=workspace).stdout for _ in range(4)]

    assert ["hint 1 of 3" in seen[0], "hint 2 of 3" in seen[1], "hint 3 of 3" in seen[2]] == [True] * 3
    assert seen[3] == seen[2]
    assert "--give-up" in seen[2]
    assert json.loads(learn("progress", "--json", cwd=workspace).stdout)["lessons"][0]["hints_used"] == 3


def test_a_function_in_place_of_its_lesson_asks_for_its_hints(tmp_path):
    """Of a lesson with several functions the one that is named, though another comes first."""
    said = learn("hint", "get_batch", cwd=start_workspace(tmp_path / "work", ROOT), course=ROOT).stdout

    assert said.startswith("get_batch  hint 1 of 4")


def test_a_hint_can_be_read_again(workspace):
    """`--rung` repeats a hint; it counts once."""
    first = learn("hint", "moving_average", cwd=workspace).stdout

    assert learn("hint", "moving_average", "--rung", "1", cwd=workspace).stdout == first
    assert json.loads(learn("progress", "--json", cwd=workspace).stdout)["lessons"][0]["hints_used"] == 1


def test_a_rung_beyond_the_ladder(workspace):
    """Asked for hint 9 of 3, the command says how many there are."""
    done = learn("hint", "moving_average", "--rung", "9", cwd=workspace)

    assert done.returncode == 2
    assert "only 3 hints" in done.stderr
    assert "--rung 3" in done.stderr


def test_a_rung_that_no_run_writes_counts_for_nothing(workspace):
    """A number below 1 in somebody else's progress file is none."""
    learn("hint", "moving_average", cwd=workspace)
    with closing(sqlite3.connect(find(workspace).store_path)) as file, file:
        file.execute("UPDATE hints SET rung = -5")
    assert "hint 1 of 3" in learn("hint", "moving_average", cwd=workspace).stdout


def test_a_hint_reads_the_last_attempt_alone(workspace):
    """Tens of thousands before it cost nothing: not even damage in one of them is seen."""
    with Store.open(find(workspace).store_path) as store:
        for _ in range(2):
            store.record_attempt(
                LessonResult("moving_average", "graded", 5.0, False, "cpu", 1, 0.1), "", datetime.now(UTC)
            )
    with closing(sqlite3.connect(find(workspace).store_path)) as file, file:
        file.execute("UPDATE attempts SET result = '[' WHERE id = (SELECT MIN(id) FROM attempts)")
    assert "hint 1 of 3" in learn("hint", "moving_average", cwd=workspace).stdout


@pytest.mark.slow
def test_what_cannot_be_recorded_is_shown_all_the_same(workspace):
    """Where the progress cannot be written, the reference is shown, then a warning."""
    command = ("solution", "moving_average", "--give-up")
    shown = learn(*command, cwd=workspace).stdout.splitlines()
    with closing(sqlite3.connect(workspace / ".selfattend/progress.db", isolation_level=None)) as other:
        other.execute("DELETE FROM solutions_shown")
        other.execute("BEGIN IMMEDIATE")  # another command that does not end
        done = learn(*command, cwd=workspace)

    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == shown[:3]
    assert done.stderr.startswith("! Your progress could not be saved: another program")


def test_a_hint_as_json(workspace):
    """`hint --json` prints one object with the function, the rung and the text."""
    hint = json.loads(learn("hint", "argmax_2d", "--json", cwd=workspace).stdout)

    assert (hint["schema"], hint["lesson"], hint["function"]) == (1, "argmax_2d", "argmax_2d")
    assert hint["rung"] == 1
    assert hint["rungs"] >= 2
    assert hint["text"]


def test_a_hint_for_a_function_that_is_none(workspace):
    """An unknown function is answered with those there are."""
    done = learn("hint", "moving_average", "--function", "moving_averag", cwd=workspace)

    assert done.returncode == 2
    assert 'did you mean "moving_average"?' in done.stderr


def test_hints_go_to_the_function_that_fails(tmp_path):
    """Of several functions the first that failed at the last check gets the hint; `--function` overrules."""
    assert learn("start", cwd=tmp_path, course=ROOT).returncode == 0
    outcomes = {"split_heads": "passed", "merge_heads": "failed", "multi_head_attention": "skipped"}
    checks = [CheckResult(name, name, "It is right.", "shape", end, 1, 0) for name, end in outcomes.items()]
    result = LessonResult("multi_head", "graded", 3.0, False, "cpu", 1, 0.1, checks=tuple(checks))
    with Store.open(tmp_path / ".selfattend/progress.db") as store:
        store.record_attempt(result, "", datetime.now(UTC))

    for options, function in [((), "merge_heads"), (("--function", "split_heads"), "split_heads")]:
        assert learn("hint", "multi_head", *options, cwd=tmp_path, course=ROOT).stdout.startswith(function)


def _keep_result(workspace, *mistakes, weak):
    """Keep a result of the file as it is now."""
    answer(workspace, "moving_average", "def moving_average(values, window):\n    return values\n")
    result = LessonResult("moving_average", "graded", 3.0, False, "cpu", 1, 0.1, mistakes=mistakes, weaknesses=weak)
    with Store.open(workspace / ".selfattend/progress.db") as store:
        store.record_attempt(result, "", datetime.now(UTC) + timedelta(seconds=1))


def test_after_a_look_at_the_work_comes_its_check_unless_it_has_passed(workspace):
    """Also where it had passed once, and is broken now."""
    context = CourseContext(load(TINY), find(workspace))
    lesson = context.course.lessons["moving_average"]
    assert command_beside(context, lesson) == "learn check moving_average"
    with Store.open(workspace / ".selfattend/progress.db") as store:
        passed = LessonResult("moving_average", "graded", 10.0, True, "cpu", 1, 0.1)
        store.record_attempt(passed, "", datetime.now(UTC) + timedelta(seconds=1))
    assert command_beside(context, lesson) == "learn read argmax_2d"
    _keep_result(workspace, weak=("The last window is left out.",))
    assert command_beside(context, lesson) == "learn check moving_average"


def test_no_hint_is_used_while_the_last_check_names_the_mistake(workspace):
    """It is told again with what to do, until `--next` asks for more, or the file is another."""
    named = Named("off-by-one", "moving_average", "Your window is one too long.", "Count its ends.")
    _keep_result(workspace, named, weak=(named.says,))

    for words in ((), ("moving_average",)):
        told = learn("hint", *words, cwd=workspace).stdout
        assert "Moving average\n3.0 of 10 at the last check, 0 of 3 hints used" in told
        assert "Your last check: Your window is one too long." in told and "Count its ends." in told
        assert "mend that and check again, or hint 1 of 3" in told and "learn hint moving_average --next" in told
    assert learn("hint", "moving_average", "--next", cwd=workspace).stdout.startswith("moving_average  hint 1 of 3")

    os.utime(workspace / "basics/moving_average.py", (2**32, 2**32))
    assert learn("hint", "moving_average", cwd=workspace).stdout.startswith("moving_average  hint 2 of 3")


def test_what_the_last_check_found_stands_above_a_hint(workspace):
    """Where it has no name, too."""
    _keep_result(workspace, weak=("The last window is left out.\nAsked: ...",))

    first, *_, hint = learn("hint", "moving_average", cwd=workspace).stdout.partition("\n\n")
    assert first == "Your last check: The last window is left out."
    assert hint.startswith("moving_average  hint 1 of 3")


def test_a_file_that_python_cannot_read_is_mended_first(workspace):
    """It is shown with its place, and what comes next is its check: no hint is meant for it."""
    error = "Python cannot read your file.\nSyntaxError: '(' was never closed\n  moving_average.py:2\n      (x\n      ^"
    _keep_result(workspace, Named("syntax-error", "", error, "Close it."), weak=(error,))

    told = learn("hint", "moving_average", cwd=workspace).stdout
    assert "Your last check: Python cannot read your file.\n  SyntaxError: '(' was never closed\n" in told
    assert "        (x\n        ^\n" in told
    assert told.endswith("Next  mend that, and check again\n      learn check moving_average\n")
    assert learn(cwd=workspace).stdout.endswith("learn check moving_average\n")


def test_without_a_lesson_no_hint_is_used(workspace):
    """`learn hint` alone says which lesson it would be for, how many are left, and how to get one."""
    for _ in range(2):
        told = learn("hint", cwd=workspace).stdout
        assert "0 of 3 hints used" in told and "hint 1 of 3" in told and "learn hint moving_average --next" in told
    assert "hint 1 of 3" in learn("hint", "--next", cwd=workspace).stdout
    assert "1 of 3 hints used" in learn("hint", cwd=workspace).stdout


def test_outside_of_a_workspace_hints_are_not_counted(tmp_path):
    """There the first hint is shown again and again, with the way to the next."""
    assert "hint 1 of" in learn("hint", "argmax_2d", cwd=tmp_path).stdout
    assert "--rung 2" in learn("hint", "argmax_2d", cwd=tmp_path).stdout
    assert list(tmp_path.iterdir()) == []


def test_the_solution_is_shown_after_solving_or_giving_up(workspace):
    """Before, it is refused with the next step; after giving up it is shown, but for its marks, and that is kept."""
    refused = learn("solution", "moving_average", cwd=workspace)
    assert refused.returncode == 2
    assert "--give-up" in refused.stderr
    assert refused.stdout == ""

    shown = learn("solution", "moving_average", "--give-up", cwd=workspace)
    assert shown.stdout == strip_marks((TINY / "solutions/basics/moving_average.py").read_text())
    assert json.loads(learn("progress", "--json", cwd=workspace).stdout)["lessons"][0]["gave_up"] is True
    assert learn("solution", "moving_average", cwd=workspace).returncode == 0

    solve(workspace, "argmax_2d")
    assert learn("solution", "argmax_2d", cwd=workspace).returncode == 0
    assert json.loads(learn("progress", "--json", cwd=workspace).stdout)["lessons"][1]["gave_up"] is False


def test_in_a_narrow_terminal_code_still_reads_as_code(workspace):
    """The rest of a line that is too long stands deeper than what begins below it; no character is lost."""
    text, _ = in_a_terminal("solution", "argmax_2d", "--give-up", "--no-pager", cwd=workspace, columns=40)
    lines = plain(text).split("\n")
    code = strip_marks((TINY / "solutions/basics/argmax_2d.py").read_text())

    assert max(map(len, lines)) <= 40 and len(lines) > len(code.split("\n"))
    assert not [line for line in lines if line[:1] not in ("", " ") and line not in code]
    assert "".join(plain(text).split()) == "".join(code.split())


def test_a_course_without_solutions_says_so(tmp_path):
    """A release for learners has no solutions; the command says so and goes on to the hints."""
    course = make_course(tmp_path / "course")
    assert learn("start", "work", cwd=tmp_path, course=course).returncode == 0

    done = learn("solution", "mean", "--give-up", cwd=tmp_path / "work", course=course)

    assert done.returncode == 2
    assert "no solutions" in done.stderr
