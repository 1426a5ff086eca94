"""The learner's command as a program in a terminal: help, completion, colour, width, errors, speed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.course_maker import make_course
from support.learn_command import (
    ROOT,
    START,
    TINY,
    answer,
    environment,
    in_a_terminal,
    learn,
    run_code,
    solve,
    start_workspace,
)
from support.terminal import plain

from grader.cli.learn.group import COMMANDS
from grader.cli.learn.group import learn as learn_command


@pytest.fixture
def workspace(tmp_path):
    """A fresh workspace of the tiny course."""
    return start_workspace(tmp_path / "work")


# ---- help and options -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_every_help_has_an_example(tmp_path, command):
    """The help of each command shows how it is typed."""
    done = learn(*([command] if command else []), "--help", cwd=tmp_path)

    assert done.returncode == 0
    assert "Example:" in done.stdout
    assert f"learn {command or 'start'}" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    "line, says",
    [
        ("check argmax_2d --seed -1", "must be 0 or more, not -1"),
        ("web --port 70000", "must be 0 to 65535, not 70000"),
        (f"web --port {'9' * 5001}", "'99999999… of 5001 digits' is not a valid"),
        ("hint --rung first", "'first' is not a valid number"),
    ],
)
def test_a_range_is_said_in_words(workspace, line, says):
    """Where a number lies outside of it, as in the help."""
    done = learn(*line.split(), cwd=workspace)
    assert done.returncode == 2 and says in done.stderr
    assert "<=" not in learn(line.split()[0], "--help", cwd=workspace).stdout


@pytest.mark.parametrize("program", ["learn", "grader"])
def test_help_is_short_and_whole(tmp_path, program):
    """Every command takes -h, the list of commands cuts no phrase, and examples name the program that was asked."""
    start = f"from grader.cli.{program}.group import main; import sys; sys.argv = [{{!r}}, *sys.argv[1:]]; main()"

    def said(*arguments: str) -> str:
        command = [sys.executable, "-c", start.format(program), *arguments, "-h"]
        done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "..." not in said().partition("Commands:")[2]
    assert f"    {program} doctor" in said("doctor")


def test_the_help_lists_every_command_and_tells_of_completion(tmp_path):
    """`learn --help` says what each command does, and how Tab is switched on."""
    said = learn("--help", cwd=tmp_path).stdout

    for command in COMMANDS:
        assert re.search(rf"^  {command} +\w+", said, re.MULTILINE), command
    assert "_LEARN_COMPLETE" in said


def test_the_shell_completes_commands_and_lessons(tmp_path):
    """The completions are the course's lessons, hyphens welcome."""
    asked: dict[str, Any] = {"_LEARN_COMPLETE": "bash_complete", "COMP_CWORD": "2"}

    assert learn(cwd=tmp_path, COMP_WORDS="learn check mo", **asked).stdout == "plain,moving_average\n"
    assert learn(cwd=tmp_path, COMP_WORDS="learn hint argmax-", **asked).stdout == "plain,argmax_2d\n"
    assert learn(cwd=tmp_path, COMP_WORDS="learn check x", course=tmp_path, **asked).stdout.strip() == ""


def test_the_course_can_be_named_before_and_after_the_command(tmp_path):
    """`--course` is taken everywhere, and beats the environment."""
    course = make_course(tmp_path / "course")

    assert "mean_square" in learn("--course", str(course), "list", cwd=tmp_path).stdout
    assert "mean_square" in learn("list", "--course", str(course), cwd=tmp_path).stdout
    assert "mean_square" in learn("list", cwd=tmp_path, course=course).stdout

    nowhere = learn("list", "--course", str(tmp_path / "nowhere"), cwd=tmp_path)
    assert nowhere.returncode == 2
    assert "--course" in nowhere.stderr


def test_a_workspace_of_another_course_is_refused(workspace):
    """Progress of one course is never written into another's workspace."""
    done = learn("list", cwd=workspace, course=ROOT)

    assert done.returncode == 2
    assert "belongs to the course" in done.stderr


def test_the_command_works_inside_of_another_program(tmp_path, monkeypatch):
    """As a click command, with click's own runner, errors keep their message and exit code."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SELFATTEND_COURSE", str(TINY))

    assert CliRunner().invoke(learn_command, ["list"]).exit_code == 0
    failed = CliRunner().invoke(learn_command, ["read", "argmax_3d"])
    assert failed.exit_code == 2
    assert 'did you mean "argmax_2d"?' in failed.output


def test_the_version_is_told(tmp_path):
    """`learn --version` prints the name and a number."""
    assert re.fullmatch(r"selfattend \d+\.\d+\.\d+\S*\n", learn("--version", cwd=tmp_path).stdout)


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.parametrize("command", [(), ("list",), ("progress",), ("hint", "argmax_2d"), ("read", "argmax_2d")])
def test_no_colour_where_none_is_wanted(workspace, command, variables):
    """With NO_COLOR, and in a dumb terminal, no escape sequence is printed."""
    text, code = in_a_terminal(*command, cwd=workspace, **variables)

    assert code == 0
    assert "\x1b" not in text


@pytest.mark.parametrize("columns", [80, 140])
def test_a_terminal_gets_colour_and_no_line_beyond_its_width(workspace, columns):
    """On a terminal there is colour, and each line fits."""
    solve(workspace, "moving_average")
    for command in ((), ("list",), ("progress",), ("hint", "argmax_2d"), ("read", "argmax_2d")):
        text, _ = in_a_terminal(*command, cwd=workspace, columns=columns)

        assert "\x1b[" in text
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
        assert max(map(len, plain.splitlines())) <= columns


def test_in_a_narrow_terminal_titles_stand_below_what_is_beside_them(tmp_path):
    """No line of `learn` and `learn list` is wider than 40 columns, and no title is a column of single words."""
    workspace = start_workspace(tmp_path / "work", ROOT)
    where = learn(cwd=workspace, course=ROOT, COLUMNS="40").stdout
    listed = learn("list", cwd=workspace, course=ROOT, COLUMNS="40").stdout

    assert max(map(len, [*where.splitlines(), *listed.splitlines()])) <= 40
    assert '  From text to vectors (after "The\n  transformer, piece by piece")\n' in where
    assert "softmax\n        Softmax (25 min)\n" in listed


def test_ctrl_c_at_a_question_ends_quietly(workspace):
    """Ctrl-C where `reset` asks changes nothing and leaves no traceback."""
    file = answer(workspace, "argmax_2d", "mine")
    text, code = in_a_terminal("reset", "argmax_2d", cwd=workspace, keys=("[y/N]", "\x03"))

    assert code == 130
    assert "Traceback" not in text
    assert file.read_text() == "mine"


def test_ascii_terminals_get_ascii(workspace):
    """Where the encoding has no signs and no bars, letters do their work, and nothing breaks."""
    done = learn("progress", cwd=workspace, PYTHONIOENCODING="ascii", PYTHONUTF8="0")

    assert done.returncode == 0
    assert "...." in done.stdout
    assert done.stdout.isascii()


def test_an_error_of_ours_is_no_traceback(workspace):
    """What nobody foresaw gives one message with the place of a log, and exit code 3."""
    code = f"import grader.cli.learn.list as l; l._line = lambda *a: 1 / 0\n{START}".replace(
        "main()", "import sys; sys.argv = ['learn', 'list']; main()"
    )
    done = run_code(code, workspace)

    assert done.returncode == 3
    assert "our fault" in done.stderr
    assert "Traceback" not in done.stderr
    log = Path(re.search(r"Where: (\S+)", done.stderr)[1])
    assert "ZeroDivisionError" in log.read_text()
    log.unlink()


def test_a_reader_that_goes_away_is_no_error(workspace):
    """`learn read ... | head` ends in silence."""
    command = f"'{sys.executable}' -c '{START}' read moving_average | head -n 1"
    done = subprocess.run(command, shell=True, cwd=workspace, env=environment(), capture_output=True, timeout=60)

    assert done.stderr == b""


# ---- speed ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", ["", "list", "hint argmax_2d", "progress", "--help", "list --json", "read argmax_2d", "start"]
)
def test_nothing_heavy_is_imported_where_nothing_is_judged(workspace, command):
    """torch, numpy and pytest stay out where nothing is judged, and rich where the answer must be instant."""
    code = (
        "import sys, os\n"
        f"sys.argv = ['learn', *{command.split()!r}]\n"
        "os._exit = lambda code: None\n"
        "from grader.cli.learn.group import main\n"
        "main()\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    done = run_code(code, workspace)
    modules = set(done.stderr.split())

    assert "grader" in modules
    assert not modules & {"torch", "numpy", "pytest"}
    assert "rich" not in modules or command.startswith("read")


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("solution softmax", "learn solution softmax --give-up"),
        ("nothing", "lists the commands."),
        ("reset softmax", "[y/N]:"),
    ],
)
def test_errors_and_questions_are_wrapped_at_blanks(tmp_path, line, whole):
    """A terminal would break them within a word; a command to type stays whole."""
    folder = start_workspace(tmp_path / "work", ROOT)
    keys = ("/N]", "n\r") if "reset" in line else None
    shown, _ = in_a_terminal(*line.split(), cwd=folder, columns=52, keys=keys, SELFATTEND_COURSE=str(ROOT))
    lines = plain(shown).splitlines()
    assert [each for each in lines if len(each) > 52] == [] and any(whole in each for each in lines)
