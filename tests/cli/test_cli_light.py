"""The learner's command where nothing is judged: bare learn, start, list, read, hint, solution, reset, progress."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from support.course_maker import front, make_course
from support.learn_command import ROOT, START, TINY, answer, learn, run_code, solve, start_workspace
from support.terminal import Terminal

from grader.cli.context import CourseContext
from grader.cli.learn.next_step import command_beside
from grader.cli.quiz.prompt import Prompter
from grader.course import load
from grader.model import CheckResult, LessonResult, Named
from grader.source.step_marks import strip_marks
from grader.store import Store
from grader.workspace import find

LESSONS = ["moving_average", "argmax_2d"]
COURSE = load(ROOT)


@pytest.fixture
def workspace(tmp_path):
    """A fresh workspace of the tiny course."""
    return start_workspace(tmp_path / "work")


# ---- where one is ---------------------------------------------------------------------------------------------------


def test_bare_learn_outside_of_a_workspace_says_how_to_begin(tmp_path):
    """Without a workspace the one next thing is to make one."""
    done = learn(cwd=tmp_path)

    assert done.returncode == 0
    assert "learn start" in done.stdout
    assert done.stderr == ""


def test_bare_learn_follows_the_learner(workspace):
    """It sends one first to read, after writing to check, after a failed check to a hint."""
    assert "learn read moving_average" in learn(cwd=workspace).stdout

    answer(workspace, "moving_average", "def moving_average(values, window):\n    return values\n")
    assert "learn check moving_average" in learn(cwd=workspace).stdout

    assert learn("check", cwd=workspace).returncode == 1
    assert "learn hint moving_average" in learn(cwd=workspace).stdout

    solve(workspace, "moving_average")
    said = learn(cwd=workspace).stdout
    assert "1 of 2 lessons solved" in said
    assert "learn read argmax_2d" in said


def test_bare_learn_draws_a_bar_for_each_of_several_tracks(tmp_path):
    """Where a course has several tracks, each has its bar and its title; nothing is locked."""
    work, course = tmp_path / "work", make_course(tmp_path / "course")
    learn("start", str(work), cwd=tmp_path, course=course)
    said = learn(cwd=work, course=course).stdout

    assert re.search(r"0 of 2 lessons  The first steps\n.*0 of 1 lesson   Further steps \(after core\)\n", said)


def test_the_way_is_chosen_at_the_start_and_kept(tmp_path):
    """What comes next is the next on it, whatever stands between; another way is followed from the next command on."""
    work = start_workspace(tmp_path / "work", ROOT)
    with Store.open(work / ".selfattend/progress.db") as store:
        for name in COURSE.ways["shortest"].lessons[:-4]:
            store.record_attempt(LessonResult(name, "graded", 10.0, True, "cpu", 1, 0.1), "", datetime.now(UTC))
    home = learn(cwd=work, course=ROOT).stdout
    assert "11 of 15 lessons  The shortest way to a GPT that writes\n" in home and "learn read gpt" in home
    assert learn("start", "--way", "full", cwd=work, course=ROOT).returncode == 0
    assert learn("start", cwd=work, course=ROOT).returncode == 0  # which keeps it
    home = learn(cwd=work, course=ROOT).stdout
    assert "shortest" not in home and "learn read layer_norm" in home

    started = learn("start", "other", cwd=tmp_path, course=ROOT).stdout
    assert "The shortest way to a GPT that writes takes 15 lessons, about 8 hours.\n" in started
    wrong = learn("start", "--way", "long", cwd=work, course=ROOT)
    assert wrong.returncode == 2 and "name one of: shortest, full" in wrong.stderr


def test_a_way_that_is_gone_to_its_end_goes_on_with_the_rest(tmp_path):
    """The assessment is named, and the first lesson that is left comes next."""
    work = start_workspace(tmp_path / "work", ROOT)
    with Store.open(work / ".selfattend/progress.db") as store:
        for name in COURSE.ways["shortest"].lessons:
            store.record_attempt(LessonResult(name, "graded", 10.0, True, "cpu", 1, 0.1), "", datetime.now(UTC))
    home = learn(cwd=work, course=ROOT).stdout

    assert "You have gone the shortest way" in home and "learn read layer_norm" in home
    assert "`learn build two_bits` lets it write" in " ".join(home.split())


@pytest.mark.parametrize("columns", ["60", "80", "140"])
def test_the_list_says_what_comes_before_each_lesson(tmp_path, columns):
    """In a narrow terminal, too; not what another of these needs, nor what is solved. The way is marked."""
    work = start_workspace(tmp_path / "work", ROOT)
    with Store.open(work / ".selfattend/progress.db") as store:
        result = LessonResult("generate", "graded", 10.0, True, "cpu", 1, 0.1)
        store.record_attempt(result, "", datetime.now(UTC))
    said = " ".join(learn("list", cwd=work, course=ROOT, COLUMNS=columns).stdout.split())

    assert "* · 18 gpt GPT (45 min) after block, learned_positions " in said
    assert " · 24 encoder The encoder (40 min) after padding_mask, block, learned_positions " in said
    assert " · 22 kv_cache The key-value cache (30 min) · 23 tiny_gpt " in said
    assert "A GPT that writes English (60 min) after rope, language_batches · 24" in said
    assert said.startswith("* is on the shortest way to a GPT that writes: 15 lessons, about 8 hours.")


def test_every_lesson_solved_leads_to_progress(workspace):
    """When nothing is left, progress is the next thing to look at."""
    for lesson in LESSONS:
        solve(workspace, lesson)

    assert "learn progress" in learn(cwd=workspace).stdout


def test_a_newer_course_is_mentioned(workspace):
    """A workspace that an older version of the course made is told how to get what is new."""
    mark = workspace / ".selfattend/workspace.toml"
    mark.write_text(mark.read_text().replace('"1.0"', '"0.9"'))

    assert "learn start" in learn(cwd=workspace).stdout


def test_a_folder_that_was_deleted_is_said_plainly(tmp_path):
    """A command called in a folder that is gone says so, without a traceback."""
    gone = f"import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); {START}"
    done = run_code(gone, tmp_path)

    assert done.returncode == 2
    assert "no longer there" in done.stderr
    assert "Traceback" not in done.stderr


# ---- start, list, read ----------------------------------------------------------------------------------------------


def test_start_says_what_it_wrote_and_keeps_what_is_there(tmp_path):
    """Starting twice keeps the learner's file, and says so."""
    assert "2 exercises written" in learn("start", "work", cwd=tmp_path).stdout
    answer(tmp_path / "work", "moving_average", "mine")
    (tmp_path / "work/basics/argmax_2d.py").unlink()

    again = learn("start", cwd=tmp_path / "work")

    assert "1 exercise written" in again.stdout
    assert "1 file of yours kept as it is." in again.stdout
    assert (tmp_path / "work/basics/moving_average.py").read_text() == "mine"
    assert "Nothing to add" in learn("start", cwd=tmp_path / "work").stdout


def test_list_shows_lessons_in_order_with_their_state(workspace):
    """Each lesson has a line; what is solved says so in words."""
    solve(workspace, "argmax_2d")
    lines = learn("list", cwd=workspace).stdout.splitlines()

    assert [line.split()[1:3] for line in lines[1:3]] == [["1", LESSONS[0]], ["2", LESSONS[1]]]
    assert "solved" in lines[2]
    assert "solved" not in lines[1]
    assert lines[-1].strip() == "learn read moving_average"


def test_list_as_json(workspace):
    """`list --json` prints one object with every lesson, its needs and whether it is solved."""
    listed = json.loads(learn("list", "--json", cwd=workspace).stdout)

    assert listed["schema"] == 1
    assert [lesson["lesson"] for lesson in listed["lessons"]] == LESSONS
    assert listed["lessons"][0]["functions"] == ["moving_average"]
    assert listed["lessons"][0]["solved"] is False
    assert listed["lessons"][0]["file"] == str(workspace / "basics/moving_average.py")


def test_list_works_outside_of_a_workspace(tmp_path):
    """A learner may look before starting."""
    done = learn("list", cwd=tmp_path)

    assert done.returncode == 0
    assert "argmax_2d" in done.stdout
    assert "learn start" in done.stdout


def test_the_command_to_go_there_can_be_typed(tmp_path):
    """A folder with a space in its name is quoted."""
    assert "cd 'with space'" in learn("start", "with space", cwd=tmp_path).stdout


@pytest.mark.parametrize("lesson", ["softmax", "causal_mask", "multi_head", "training"])
def test_a_lesson_in_a_pipe_is_plain_text_of_80_columns(tmp_path, lesson):
    """Read into a pipe, a lesson has no escape sequence, no drawn box and no line beyond the width."""
    done = learn("read", lesson, cwd=tmp_path, course=ROOT)

    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert not set("│┃┏╭") & set(done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert f"learn check {lesson}" in done.stdout


def test_code_what_it_prints_and_names_are_told_apart(tmp_path):
    """Output has a word above it; in a pipe, code within a sentence keeps its backticks."""
    text = learn("read", "softmax", cwd=tmp_path, course=ROOT).stdout

    assert re.search(r"^  output:\n  tensor\(", text, re.MULTILINE)
    assert "`dim" in text


@pytest.fixture
def asking(tmp_path):
    """A course whose lesson `mean` asks twice, far down the text."""
    stop = "\n\nGuess {0}!\n\n<details>\n<summary>What it prints</summary>\n\nAnswer {0}.\n\n</details>\n"
    text = front("mean") + 40 * "A line.\n\n" + stop.format("one") + stop.format("two") + "\nThe end.\n"
    return make_course(tmp_path / "asking", {"lessons/core/mean.md": text})


@pytest.mark.parametrize("options", [(), ("--no-pager",)])
def test_an_answer_is_hidden_until_it_is_asked_for(tmp_path, asking, options):
    """On a terminal each question stands on the screen without its answer; Enter shows it, with a guess or without."""
    with Terminal("read", "mean", *options, cwd=tmp_path, course=asking) as terminal:
        if not options and shutil.which("less"):
            terminal.until("space goes on, b back, q ends this part")  # the question below asks all the same
            terminal.type("    ")
        shown = terminal.until("q leaves: ")
        assert "Guess one!" in shown and "Answer" not in shown
        terminal.type("a guess\r")
        shown = terminal.until("q leaves: ")
        assert "--- What it prints ---" in shown and "Answer one." in shown and "Guess two!" in shown
        assert "Answer two." not in shown
        terminal.type("\r")
        shown, code = terminal.end()
        assert "Answer two." in shown and "The end." in shown and code == 0


@pytest.mark.skipif(not shutil.which("less"), reason="no less: apt-get install less")
def test_a_list_longer_than_the_terminal_is_paged(tmp_path):
    """What comes next stands below, where it is seen; a list that fits stays on the screen."""
    with Terminal("list", cwd=tmp_path, course=TINY, rows=3) as terminal:
        terminal.until("space goes on, b back, q leaves")
        terminal.type("q")
        shown, code = terminal.end()
        assert "Next  " in shown and code == 0
    with Terminal("list", cwd=tmp_path, course=TINY) as terminal:
        shown, code = terminal.end()
        assert "argmax_2d" in shown and "q leaves" not in shown and code == 0


@pytest.mark.parametrize("key, code", [("q\r", 0), ("\x04", 0), ("\x03", 130)])
def test_a_reader_may_leave_at_a_question(tmp_path, asking, key, code):
    """q, Ctrl-D and Ctrl-C end without the answer and without a traceback."""
    with Terminal("read", "mean", "--no-pager", cwd=tmp_path, course=asking) as terminal:
        terminal.until("q leaves: ")
        terminal.interrupt() if key == "\x03" else terminal.type(key)
        rest, ended = terminal.end()

    assert "Answer" not in rest and "Traceback" not in rest and ended == code


def test_nobody_is_asked_in_a_pipe_or_for_the_whole(tmp_path, asking):
    """A pipe and `--whole` show all at once, with a line above each answer."""
    piped = learn("read", "mean", cwd=tmp_path, course=asking).stdout
    with Terminal("read", "mean", "--whole", "--no-pager", cwd=tmp_path, course=asking) as terminal:
        whole, _ = terminal.end()

    assert re.search(r"Guess one!\n+--- What it prints ---\n\nAnswer one\.\n", piped)
    assert piped.endswith("learn check mean\n")
    assert whole.partition("Guess")[2] == piped.partition("Guess")[2]


def test_the_end_of_a_lesson_says_where_to_write_and_what_checks_it_once(tmp_path, workspace):
    """Where the text ends with the commands, only the file is added; else the command is, too."""
    ours = learn("read", "softmax", cwd=tmp_path, course=ROOT).stdout
    assert ours.endswith("  learn check softmax\n  learn quiz softmax\n\nYour own copy of the exercise:  learn start\n")

    tiny = learn("read", "argmax_2d", cwd=workspace).stdout
    assert tiny.endswith("Your file:  basics/argmax_2d.py\nCheck it:   learn check argmax_2d\n")


def test_a_lesson_may_be_named_loosely(workspace):
    """A hyphen, a beginning, a file's name and the number in the list all find the lesson."""
    texts = {
        learn("read", name, cwd=workspace).stdout
        for name in ("moving_average", "moving-average", "mov", "basics/moving_average.py", "1")
    }

    assert len(texts) == 1
    assert "Moving average" in texts.pop()


def test_a_mistyped_lesson_is_answered_with_the_right_one(workspace):
    """A name that is almost right is suggested, and the exit code is 2."""
    for command in ("read", "check", "hint", "reset", "solution"):
        done = learn(command, "moving_averge", cwd=workspace)

        assert done.returncode == 2
        assert 'did you mean "moving_average"?' in done.stderr
        assert done.stdout == ""


def test_a_mistyped_command_is_answered_with_the_right_one(tmp_path):
    """A command that is almost right is suggested, and the exit code is 2."""
    done = learn("chek", cwd=tmp_path)

    assert done.returncode == 2
    assert '"learn check"' in done.stderr


@pytest.mark.parametrize(
    "word, meant",
    [("test", "check"), ("run", "check"), ("verify", "check"), ("status", "progress"), ("score", "progress")],
)
def test_another_word_for_a_command_is_understood(tmp_path, word, meant):
    """It is answered with the command that is meant."""
    assert f'Did you mean "learn {meant}"?' in learn(word, cwd=tmp_path).stderr


@pytest.mark.parametrize(
    "word, says",
    [
        ("next", '"learn" alone says what is next.'),
        ("moving_average", 'It is a lesson: "learn read moving_average", "learn check moving_average".'),
        ("1", '"learn check moving_average"'),
        ("nothing_like_it", '"learn --help" lists the commands.'),
    ],
)
def test_a_word_that_is_something_else_is_told(workspace, word, says):
    """A lesson in a command's place is no riddle, nor is what `learn` does alone."""
    done = learn(word, cwd=workspace)

    assert done.returncode == 2
    assert says in done.stderr


def test_no_word_is_taken_for_reset(tmp_path):
    """What takes a file away is not suggested for a slip of the fingers."""
    assert '"learn reset"' not in learn("resets", cwd=tmp_path).stderr


def test_start_in_a_folder_in_use_says_what_was_added_and_kept(tmp_path):
    """It names the files, and leaves all others alone."""
    (tmp_path / "basics").mkdir()
    (tmp_path / "basics/argmax_2d.py").write_text("mine")
    (tmp_path / "notes.txt").write_text("mine")
    said = " ".join(learn("start", cwd=tmp_path).stdout.split())
    assert "Added: basics/moving_average.py." in said and "Kept: basics/argmax_2d.py." in said
    assert "Nothing else in the folder was changed." in said


LIGHT = [
    "", "--help", "list", "progress", "report", "start --help", "check --help", "hint --help", "solution --help",
    "read --help", "report --help", "doctor --help", "quiz --help", "quiz list", "quiz open", "quiz open --help",
    "quiz export --help", "review --help", "hint softmax --rung 1",
]  # fmt: skip


@pytest.mark.parametrize("command", LIGHT)
def test_sixty_columns_are_enough(tmp_path, command):
    """No line is wider than the terminal, which would break words; no word is cut that 140 columns show whole."""
    shown = []
    for columns in ("60", "140"):
        folder = start_workspace(tmp_path / columns / "work", ROOT)
        shown.append(learn(*command.split(), cwd=folder, course=ROOT, COLUMNS=columns).stdout)
    assert [line for line in shown[0].splitlines() if len(line) > 60] == []
    narrow, wide = ({word.rstrip(".") for word in text.split()} for text in shown)
    assert narrow <= wide


def test_a_prompt_is_wrapped_at_blanks(monkeypatch, capsys):
    """The answer is typed after its last line."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdin", io.StringIO("g\n"))
    assert Prompter().ask("How sure? g guess, f fairly, s sure (Enter: fairly; c changes the answer) ") == "g"
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 2 and max(map(len, shown)) <= 60 and shown[-1].endswith("answer) g")


# ---- hints and solutions --------------------------------------------------------------------------------------------


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
        assert "hint 1 of 3" in told and "learn hint moving_average --next" in told
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


def test_a_course_without_solutions_says_so(tmp_path):
    """A release for learners has no solutions; the command says so and goes on to the hints."""
    course = make_course(tmp_path / "course")
    assert learn("start", "work", cwd=tmp_path, course=course).returncode == 0

    done = learn("solution", "mean", "--give-up", cwd=tmp_path / "work", course=course)

    assert done.returncode == 2
    assert "no solutions" in done.stderr


# ---- reset ----------------------------------------------------------------------------------------------------------


def test_reset_keeps_the_work_and_says_where(workspace):
    """The stub comes back, the work lies beside it under the name that was printed."""
    answer(workspace, "argmax_2d", "mine")

    done = learn("reset", "argmax_2d", "--yes", cwd=workspace)

    assert done.returncode == 0
    assert "argmax_2d.py.bak-1" in done.stdout
    assert (workspace / "basics/argmax_2d.py.bak-1").read_text() == "mine"
    assert "not written yet" in (workspace / "basics/argmax_2d.py").read_text()


@pytest.mark.parametrize(("typed", "changed"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_reset_asks(workspace, typed, changed):
    """Only a yes changes anything."""
    file = answer(workspace, "argmax_2d", "mine")

    assert learn("reset", "argmax_2d", cwd=workspace, stdin=typed).returncode == 0
    assert (file.read_text() != "mine") is changed


def test_reset_does_not_guess_an_answer(workspace):
    """Where nobody can be asked, nothing is changed, and the option that answers is named."""
    file = answer(workspace, "argmax_2d", "mine")
    done = learn("reset", "argmax_2d", cwd=workspace)

    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert file.read_text() == "mine"


# ---- progress -------------------------------------------------------------------------------------------------------


def test_progress_shows_every_lesson_and_the_next_thing(workspace):
    """Best score, attempts and hints stand beside each lesson; named mistakes and the next step below."""
    learn("hint", "argmax_2d", cwd=workspace)
    answer(workspace, "argmax_2d", "def argmax_2d(grid):\n    return None\n")
    learn("check", "argmax_2d", cwd=workspace)
    said = learn("progress", cwd=workspace).stdout

    assert re.search(r"argmax_2d +\d\.\d .* 1 +1/\d+ +just now", said)
    assert "[returned-none]" in said
    assert "learn hint argmax_2d" in said
    assert max(map(len, said.splitlines())) <= 80


def test_mistakes_of_solved_lessons_are_history(workspace):
    """A mistake is shown until its lesson is solved."""
    answer(workspace, "argmax_2d", "def argmax_2d(grid):\n    return None\n")
    learn("check", "argmax_2d", cwd=workspace)
    assert "Latest mistakes" in learn("progress", cwd=workspace).stdout

    solve(workspace, "argmax_2d")
    assert "Latest mistakes" not in learn("progress", cwd=workspace).stdout


def test_progress_needs_a_workspace(tmp_path):
    """Elsewhere there is nothing to show, which is said."""
    done = learn("progress", cwd=tmp_path)

    assert done.returncode == 2
    assert "learn start" in done.stderr


def test_progress_as_json(workspace):
    """`progress --json` prints one object: totals, tracks, lessons, mistakes and what is next."""
    solve(workspace, "moving_average")
    progress = json.loads(learn("progress", "--json", cwd=workspace).stdout)

    assert (progress["solved"], progress["total"]) == (1, 2)
    assert progress["lessons"][0]["best_score"] == 10.0
    assert progress["lessons"][0]["solved_when"]
    assert progress["next"]["lesson"] == "argmax_2d"


def test_a_damaged_progress_file_is_set_aside_with_a_word(workspace):
    """Nothing is lost in silence: the learner is told where the damaged file is."""
    solve(workspace, "moving_average")
    (workspace / ".selfattend/progress.db").write_bytes(b"no database" * 500)
    done = learn("progress", cwd=workspace)

    assert done.returncode == 0
    assert "damaged" in done.stderr
