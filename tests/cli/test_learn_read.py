"""`learn read` where the text asks: the question, the reader's guess, and the answer below it."""

from __future__ import annotations

import re
import shutil

import pytest
from support.course_maker import front, make_course
from support.learn_command import learn
from support.terminal import Terminal


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
        shown = terminal.until("q stops ")
        assert "Guess one!" in shown and "Answer" not in shown
        terminal.type("a guess\r")
        shown = terminal.until("q stops ")
        assert "--- What it prints ---" in shown and "Answer one." in shown and "Guess two!" in shown
        assert "Answer two." not in shown
        terminal.type("\r")
        shown, code = terminal.end()
        assert "Answer two." in shown and "The end." in shown and code == 0


@pytest.mark.skipif(not shutil.which("less"), reason="no less: apt-get install less")
def test_a_question_stands_once_and_its_answer_below_the_guess(tmp_path):
    """Also where pages come before and after it; no page scrolls an answer away that was not read."""
    asks = "**Predict before you read on.** Guess!\n\n<details>\n<summary>Told</summary>\n\nThis.\n\n</details>\n\n"
    course = make_course(tmp_path / "asking", {"lessons/core/mean.md": front("mean") + (40 * "A line.\n\n" + asks) * 2})
    with Terminal("read", "mean", cwd=tmp_path, course=course) as terminal:
        shown = read_to_the_question(terminal)
        below = terminal.until("Enter goes on, q stops ")
        terminal.type("\r")
        shown += read_to_the_question(terminal)
        last, code = terminal.end()
    assert below.split()[:5] == last.split()[:5] == ["mine", "---", "Told", "---", "This."] and code == 0
    assert shown.count("Predict before you read on. Guess!") == 2


def read_to_the_question(terminal: Terminal) -> str:
    """Page to the end of a part and guess; return what was shown."""
    paged = terminal.until("q ends this part")
    terminal.type("    ")
    asked = terminal.until("Your guess, or Enter alone; q stops ")
    terminal.type("mine\r")
    return paged + asked


@pytest.mark.parametrize("key, code", [("q\r", 0), ("\x04", 0), ("\x03", 130)])
def test_a_reader_may_leave_at_a_question(tmp_path, asking, key, code):
    """q, Ctrl-D and Ctrl-C end without the answer and without a traceback."""
    with Terminal("read", "mean", "--no-pager", cwd=tmp_path, course=asking) as terminal:
        terminal.until("q stops ")
        terminal.interrupt() if key == "\x03" else terminal.type(key)
        rest, ended = terminal.end()

    assert "Answer" not in rest and "Traceback" not in rest and ended == code


@pytest.mark.skipif(not shutil.which("less"), reason="no less: apt-get install less")
def test_ctrl_c_leaves_from_a_page_too(tmp_path, asking):
    """Also where further parts would come; nothing more is asked."""
    with Terminal("read", "mean", cwd=tmp_path, course=asking, rows=6) as terminal:
        terminal.until("q ends this part")
        terminal.interrupt()
        rest, code = terminal.end()

    assert code == 130 and "Stopped." in rest and "Your guess" not in rest


def test_nobody_is_asked_in_a_pipe_or_for_the_whole(tmp_path, asking):
    """A pipe and `--whole` show all at once, with a line above each answer."""
    piped = learn("read", "mean", cwd=tmp_path, course=asking).stdout
    with Terminal("read", "mean", "--whole", "--no-pager", cwd=tmp_path, course=asking) as terminal:
        whole, _ = terminal.end()

    assert re.search(r"Guess one!\n+--- What it prints ---\n\nAnswer one\.\n", piped)
    assert piped.endswith("learn check mean\n")
    assert whole.partition("Guess")[2] == piped.partition("Guess")[2]


def test_a_line_that_is_too_long_goes_on_below_its_last_column(tmp_path):
    """In a narrow terminal what is folded of a table stands under it, and not at the line's beginning."""
    table = "```\nq      (T, d)    one row for every query\nw      (T, S)    short\n```\n"
    course = make_course(tmp_path / "wide", {"lessons/core/mean.md": front("mean") + table})
    done = learn("read", "mean", "--whole", cwd=tmp_path, course=course, COLUMNS="40")

    assert "  q      (T, d)    one row for every\n                   query\n" in done.stdout


def test_a_line_of_code_that_is_too_long_goes_on_below_and_deeper(tmp_path):
    """The rest of a line stood at the left, where another statement would begin."""
    code = "```python\nfor row in rows:\n    print(row.sum(), row.mean(), row.std())\n```\n"
    course = make_course(tmp_path / "wide", {"lessons/core/mean.md": front("mean") + code})
    done = learn("read", "mean", "--whole", cwd=tmp_path, course=course, COLUMNS="40")

    assert "      print(row.sum(), row.mean(),\n          row.std())\n" in done.stdout
