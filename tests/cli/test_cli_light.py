"""The learner's command where nothing is judged: bare learn, start, list, read, and words that are none."""

from __future__ import annotations

import io
import json
import re
import shutil
from datetime import UTC, datetime

import pytest
from support.course_maker import make_course
from support.learn_command import ROOT, START, TINY, answer, learn, run_code, solve, start_workspace
from support.terminal import Terminal

from grader.cli.quiz.prompt import Prompter
from grader.course import load
from grader.model import LessonResult
from grader.store import Store

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

    further = 'Further steps \\(after "The first steps"\\)'
    assert re.search(rf"0 of 2 lessons  The first steps\n.*0 of 1 lesson   {further}\n", said)


def test_a_track_comes_after_others_by_their_titles_and_not_after_what_these_follow(tmp_path):
    """The whole models need lessons of the first track, too, which three others of their needs have before them.

    On the shortest way none of two of these tracks' lessons stands.
    """
    work = start_workspace(tmp_path / "work", ROOT)
    home = learn(cwd=work, course=ROOT).stdout
    assert 'Whole models (after "From text to vectors") ' in f"{' '.join(home.split())} "

    assert learn("start", "--way", "full", cwd=work, course=ROOT).returncode == 0
    home = learn(cwd=work, course=ROOT).stdout
    after = '(after "From text to vectors", "Inside the block", "Where a token stands")'
    assert f"Whole models {after} " in f"{' '.join(home.split())} "


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


RUN = "import sys; sys.argv[1:] = ['run', '/', '--out', '/x']; from grader.cli.grader.group import main; main()"


@pytest.mark.parametrize("start", [START, RUN])
def test_a_folder_that_was_deleted_is_said_plainly(tmp_path, start):
    """A command called in a folder that is gone says so, without a traceback."""
    gone = f"import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); {start}"
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


@pytest.mark.skipif(not shutil.which("less"), reason="no less: apt-get install less")
def test_a_list_longer_than_the_terminal_is_paged(tmp_path):
    """What comes next stands below, where it is seen; a list that fits stays on the screen."""
    with Terminal("list", cwd=tmp_path, course=TINY, rows=3) as terminal:
        terminal.until("space goes on, b back, q stops")
        terminal.type("q")
        shown, code = terminal.end()
        assert "Next  " in shown and code == 0
    with Terminal("list", cwd=tmp_path, course=TINY) as terminal:
        shown, code = terminal.end()
        assert "argmax_2d" in shown and "q stops" not in shown and code == 0


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
