"""`learn quiz` as a learner takes it, in a terminal, and as a script drives it, through a pipe."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from random import Random

import pytest
from support.learn_command import START, environment, run_code
from support.quiz_every_kind import right_answer
from support.quiz_maker import NOON, answered
from support.quiz_workspace import Workspace, kinds, of
from support.repeat import repeat
from support.terminal import Terminal, plain

from grader.cli.quiz.render import _code_lines, cut
from grader.course import load
from grader.model import LessonResult, QuizSession
from grader.quiz.bank.variants import make_variant
from grader.quiz.model import Mark, Question
from grader.store import Store
from grader.store.quiz_log import QuizLog
from grader.terminal.text import unwrap

SURE = "How sure?"
ON = "Enter goes on"
SEED = 11
ALL = ("--length", "full")  # five questions of a topic, in place of three


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


@pytest.fixture
def every_kind(tmp_path):
    return Workspace(tmp_path, every_kind=True)


def in_terminal(workspace, *arguments: str, **how) -> Terminal:
    return Terminal("quiz", *arguments, cwd=workspace.folder, course=workspace.course, **how)


def dont_know(terminal: Terminal) -> str:
    """Answer the question on the screen with `?`, and go on; what was shown after it."""
    terminal.until("\n> ")
    terminal.type("?\r")
    told = terminal.until(ON)
    terminal.type("\r")
    return told


# ---- topics ----------------------------------------------------------------------------------------------------------


def test_the_list_of_families_is_as_promised(workspace):
    """`learn quiz list --json`: every family with its topic, its kind, what it counts for; nothing else."""
    printed = json.loads(workspace.learn("quiz", "list", "--json").stdout)
    assert printed.keys() == {"schema", "families"} and printed["schema"] == 1
    assert len(printed["families"]) == 50
    of_all = {"facet": "", "counts_for": "topic0", "same_as": "", "generated": True}
    assert printed["families"][0] == {"id": "topic0.n1", "topic": "topic0", "kind": "numeric"} | of_all
    of_all = {"facet": "", "counts_for": "topic9", "same_as": "", "generated": False}
    assert {"id": "topic9.choice", "topic": "topic9", "kind": "choice"} | of_all in printed["families"]


def test_the_list_shows_how_one_did(workspace):
    """Topics by group, with how many questions each has, and score and label once there are three answers."""
    before = workspace.learn("quiz", "list").stdout
    assert before.startswith("The ten\n") and before.count("5 questions") == 10
    workspace.learn("quiz", "topic3", stdin="?\n?\n")
    assert re.search(r"topic3 +5 questions +2 answered", workspace.learn("quiz", "list").stdout)
    workspace.learn("quiz", "topic3", stdin="?\n" * 9)
    assert re.search(r"topic3 +5 questions +0\.0 +weak", workspace.learn("quiz", "list").stdout)


def test_the_list_fits_the_screen(workspace):
    """Titles are cut at a word, with dots, or left out; a topic with few answers has the quiet sign, and a legend."""
    workspace.learn("quiz", "topic3", stdin="?\n?\n")
    for columns in (80, 60, 40):
        text = workspace.learn("quiz", "list", COLUMNS=str(columns)).stdout
        assert max(map(len, text.splitlines())) <= columns, text
    assert re.search("· topic3 +5 +2 answered", text) and "· fewer than 3 answers" in " ".join(text.split())
    assert "Topic topic3" in workspace.learn("quiz", "list").stdout


def test_progress_fits_a_narrow_screen(workspace):
    """Below 70 columns there are no bars, and no line is broken by the terminal; what is left is the same."""
    workspace.learn("quiz", "topic3", stdin="?\n" * 10)
    wide, narrow = (workspace.learn("progress", COLUMNS=columns).stdout for columns in ("80", "60"))
    assert max(map(len, narrow.splitlines())) <= 60, narrow
    assert "hints  last try" in wide and "tries  last try" in narrow and "hints  last" not in narrow


def test_the_list_agrees_with_the_report(workspace):
    """Answers to the questions of a lesson count for their topic, in the list as in the report."""
    workspace.learn("quiz", "topic3", stdin="?\n" * 10)
    report = json.loads(workspace.learn("report", "--json").stdout)
    scores = {topic["name"]: topic["score"] for topic in report["topics"]}
    assert scores["topic3"] == 0.0 and "0.0  weak" in workspace.learn("quiz", "list").stdout


def test_the_list_needs_no_workspace(workspace, tmp_path):
    """What there is can be seen before `learn start`; answering needs a place to keep the answers."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    workspace.folder = elsewhere
    assert workspace.learn("quiz", "list").returncode == 0
    assert workspace.learn("quiz", "open").returncode == 0
    for command in (["quiz"], ["quiz", "topic1"], ["review"], ["quiz", "redo"], ["quiz", "open", "1"]):
        done = workspace.learn(*command)
        assert done.returncode == 2 and "learn start" in done.stderr, command


def test_a_topic_that_is_none_is_answered_with_what_was_meant(workspace):
    """Near misses are suggested, and a beginning that several topics have is said to be so."""
    done = workspace.learn("quiz", "topic11")
    assert done.returncode == 2 and 'did you mean "topic1"' in done.stderr and "learn quiz list" in done.stderr
    assert 'could be "topic0" or "topic1"' in workspace.learn("quiz", "top").stderr


def test_a_number_of_questions_is_answered_with_what_to_type(workspace):
    """`learn quiz 3`, as `quiz(3)` in a notebook, is told how many come and where the topic's name goes."""
    done = workspace.learn("quiz", "3")
    assert (done.returncode, "3 on one topic, with --length full all" in done.stderr) == (2, True)
    assert "learn quiz TOPIC" in done.stderr


def test_a_course_without_questions_says_so(workspace):
    """No bank is no traceback."""
    for path in (workspace.course / "lessons").rglob("*quiz*"):
        path.unlink()
    done = workspace.learn("quiz")
    assert done.returncode == 2 and "no questions" in done.stderr


def test_the_help_reads_as_one_command(workspace):
    """`learn quiz --help` has the topic, the options and the commands of its own; a command's help is found too."""
    text = workspace.learn("quiz", "--help").stdout
    assert "Usage: learn quiz [OPTIONS] [TOPIC] | COMMAND" in text
    for word in ("--exam", "--length", "Commands:", "open ", "redo ", "Example:"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 80
    assert "learn quiz open 1" in workspace.learn("quiz", "open", "--help").stdout
    assert workspace.learn("quiz", "list", "extra").returncode == 2
    assert workspace.learn("quiz", "--course", str(workspace.course), "list").stdout.startswith("The ten")
    assert workspace.learn("quiz", "--course").returncode == 2


def test_the_shell_completes_topics(workspace):
    """Tab gives topics, and the commands that stand in their place."""
    asked = {"_LEARN_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
    assert workspace.learn(COMP_WORDS="learn quiz topic9", **asked).stdout == "plain,topic9\n"
    assert workspace.learn(COMP_WORDS="learn quiz re", **asked).stdout == "plain,redo\n"


# ---- for programs ----------------------------------------------------------------------------------------------------


def test_events_tell_everything_in_order(workspace):
    """session, then question and mark in turn, then what was missed again, then end; a mark names the misconception."""
    events = workspace.events("quiz", "topic0", *ALL, "--predict", "7.5", stdin="?\n" * 10, code=0)
    assert kinds(events) == ["session", *["question", "mark"] * 10, "end"]
    assert events[0] | {"id": 0} == {
        "event": "session", "schema": 1, "id": 0, "mode": "quiz", "topics": ["topic0"], "resumed": False,
        "questions": 5, "answered": 0, "predicted": 7.5,
    }  # fmt: skip
    assert [event["again"] for event in of(events, "question")] == [False] * 5 + [True] * 5
    again = {event["family"]: event["attempt"] for event in of(events, "question")[5:]}
    assert again == {event["family"]: event["attempt"] + 1 for event in of(events, "question")[:5]}
    end = events[-1]
    assert (end["answers"], end["right"], end["predicted"], end["score"]) == (5, 0, 7.5, 0.0)
    assert end["next"] == ["learn report", "learn review"]


def test_answers_come_as_lines_or_as_objects(workspace):
    """`48`, `48 | sure` and {"answer", "certainty"} all do; what is no answer is told why and costs nothing."""
    question = of(workspace.events("quiz", "topic0"), "question")[0]
    answer = workspace.answer(question)
    lines = ["", "many words", "{", "[1]", '{"answer": [1]}', '{"answer": "1", "certainty": "very"}', "{" * 5000,
             json.dumps({"answer": answer, "certainty": "sure"})]  # fmt: skip
    events = workspace.events("quiz", "topic0", stdin="\n".join(lines) + "\n", code=1)
    assert kinds(events) == ["session", "question", *["unreadable"] * 7, "mark", "question", "stopped"]
    mark = of(events, "mark")[0]
    assert (mark["credit"], mark["certainty"], mark["typed"]) == (1.0, "sure", answer)
    question = events[-2]
    wrong = "abc"["abc".index(workspace.answer(question)) - 1] if question["kind"] == "choice" else str(
        2 * int(workspace.answer(question))
    )  # fmt: skip
    mark = of(workspace.events("quiz", "topic0", stdin=f"{wrong} | guess\n"), "mark")[0]
    assert (mark["credit"], mark["certainty"], mark["tags"]) == (0.0, "guess", ["topic0-doubles"])
    assert mark["says"][0] == "you doubled what should stand alone"


def test_bytes_that_are_no_text_are_no_answer(workspace):
    """Junk on standard input is unreadable, not a fault of ours."""
    done = subprocess.run(
        [sys.executable, "-c", START, "quiz", "topic0", "--json"], input=b"\xff\xfe\x00\n?\n", capture_output=True,
        cwd=workspace.folder, env=environment(workspace.course), timeout=60, check=False,
    )  # fmt: skip
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (1, b"")
    assert kinds(events)[:4] == ["session", "question", "unreadable", "mark"]


def test_every_kind_can_be_answered_through_a_pipe(every_kind):
    """Each kind of question is told whole enough to be answered right, with no look at anything else."""
    events = every_kind.events("quiz", "every", "--length", "full", code=1)
    with Store.open(every_kind.progress) as store:
        salt = QuizLog(store.database).salt()
        plan = QuizLog(store.database).unfinished()[0].plan
    questions = [
        make_variant(every_kind.bank, every_kind.bank.family(family), salt, attempt) for family, attempt in plan
    ]
    assert events[1]["text"] == unwrap(questions[0].text)
    typed = "\n".join(f"{right_answer(question)} | sure" for question in questions)
    events = every_kind.events("quiz", "every", stdin=typed + "\n", code=0)
    assert len(of(events, "mark")) == 9 and {mark["credit"] for mark in of(events, "mark")} == {1.0}
    assert (events[-1]["right"], events[-1]["score"]) == (9, 10.0)


def test_an_exam_tells_no_mark_before_the_end(workspace):
    """All questions first, then the second prediction, then every mark; nothing comes again."""
    events = workspace.events(
        "quiz", "topic0", *ALL, "--exam", "--predict", "3", stdin="?\n" * 5 + "many\n4,5\n", code=0
    )
    assert kinds(events) == ["session", *["question"] * 5, "predict", "unreadable", *["mark"] * 5, "end"]
    assert (events[-1]["predicted"], events[-1]["predicted_after"]) == (3.0, 4.5)
    events = workspace.events("quiz", "topic1", *ALL, "--exam", stdin="?\n" * 5, code=0)
    assert len(of(events, "mark")) == 5 and events[-1]["predicted_after"] is None


def test_the_assessment_covers_every_topic(workspace):
    """Without TOPIC: three questions of each of the ten, no two of one topic in a row of ten."""
    events = workspace.events("quiz", stdin="?\n" * 60, code=0)
    topics = [event["topic"] for event in of(events, "question")[:30]]
    assert events[0]["questions"] == 30 and len(set(topics[:10])) == len(set(topics[10:20])) == 10
    assert [topic["answers"] for topic in events[-1]["topics"]] == [3] * 10


def test_a_sitting_that_was_broken_off_goes_on(workspace):
    """The same command goes on with the same variants; --new ends the old one and begins another, and the old answers
    stay; another topic is another sitting."""
    first = workspace.events("quiz", "topic0", *ALL, stdin="?\n?\n", code=1)
    assert first[-1] == {"event": "stopped", "answered": 2, "questions": 5, "next": "learn quiz topic0"}
    other = workspace.events("quiz", "topic1", *ALL)
    second = workspace.events("quiz", "topic0", *ALL)
    assert second[0] | {"resumed": False, "answered": 0} == first[0] and second[0]["answered"] == 2
    assert second[1] == of(first, "question")[-1]
    third = workspace.events("quiz", "topic0", *ALL, "--new")
    assert third[0]["id"] not in (first[0]["id"], other[0]["id"]) and not third[0]["resumed"]
    assert len(workspace.log()) == 2
    assert workspace.events("quiz")[0]["questions"] == 30  # a topic's sitting is not the assessment


def test_what_waits_is_named_at_home(workspace):
    """`learn` alone names a session that was broken off, what was missed, and what is due; before that, nothing."""
    assert "quiz" not in workspace.learn().stdout
    workspace.events("quiz", "topic0", stdin="?\n?\n", code=1)
    assert "1 session not finished    learn quiz" in workspace.learn().stdout
    workspace.days_pass(60)
    assert "2 questions due for review    learn review" in workspace.learn().stdout


@pytest.mark.slow
def test_an_answer_that_cannot_be_kept_is_not_marked(workspace):
    """Where the log cannot be written, no mark is told: an error says why, and nothing pretends to be kept."""
    command, pipe = [sys.executable, "-c", START, "quiz", "topic0", "--json"], subprocess.PIPE
    process = subprocess.Popen(
        command,
        cwd=workspace.folder,
        env=environment(workspace.course),
        text=True,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
    with process, closing(sqlite3.connect(workspace.progress)) as file:
        assert process.stdin and process.stdout
        told = [json.loads(process.stdout.readline()) for _ in range(2)]
        file.execute("BEGIN EXCLUSIVE")  # another program holds the file for longer than we wait
        rest, error = process.communicate("?\n", timeout=60)
    assert process.returncode == 3 and "another program has been using the file" in error, error
    assert kinds(told) == ["session", "question"] and not rest


# ---- for people, through a pipe --------------------------------------------------------------------------------------


def test_plain_lines_through_a_pipe(workspace):
    """Answers one a line: no prediction, no certainty, no Enter is asked for, and what was read is shown."""
    done = workspace.learn("quiz", "topic0", *ALL, stdin="?\n" * 4 + "? | sure\n" + "?\n" * 5)
    assert done.returncode == 0 and "\x1b" not in done.stdout
    for word in ("What will you score", SURE, ON):
        assert word not in done.stdout
    assert done.stdout.count("> ?") == 10 and "Again: Topic topic0" in done.stdout
    assert "This session: 0.0 of 10   0 of 5 right\n" in done.stdout
    assert done.stdout.count("they come again") == 1 and "Again: Topic topic0" in done.stdout.split("\nYou missed 5")[0]
    assert "\nOf 5 asked again 0 were right.\n" in done.stdout
    stopped = workspace.learn("quiz", "topic1", stdin="?\nq\n?\n")
    assert "Not read" not in stopped.stdout and "Stopped. 1 of 3 questions answered and kept." in stopped.stdout


@pytest.mark.parametrize("line", ["48 | very", "1/2 |", "48 | 0.8"])
def test_a_certainty_that_is_none_is_told_so(workspace, line):
    """What stands behind a bar is a certainty; where it is none that is said, and nothing is recorded."""
    done = workspace.learn("quiz", "topic0", stdin=f"{line}\n")
    assert "certainty is guess, fairly or sure" in " ".join(done.stdout.split())
    assert workspace.log() == []
    (told,) = of(workspace.events("quiz", "topic0", stdin=f"{line}\n"), "unreadable")
    assert told["reason"].startswith("certainty is guess, fairly or sure")


def test_events_have_a_paragraph_a_line(every_kind):
    """Text and explanation come without the line breaks of their file, but with their blank lines and list items."""
    events = every_kind.events("quiz", "every", "--length", "full", stdin="?\n" * 18)
    (text,) = {each["text"] for each in of(events, "question") if each["kind"] == "numeric"}
    first, items = text.split("\n\n")
    assert "\n" not in first and items == "- Do not round.\n- Say it as a number."


@pytest.mark.parametrize(("credit", "guess", "is_partly"), [(0.4, 0.5, False), (0.5, 0.5, True), (0.0, 0.0, False)])
def test_what_earns_less_than_a_guess_is_not_called_partly_right(credit, guess, is_partly):
    """Of five options two were judged right: those that were left out."""
    question = Question("f.one", "f", "multi", 0, "Which?", [3, 4], guess, "So it is.")

    assert Mark(credit, "d, e").is_partly_right(question) == is_partly


def test_part_of_an_answer_is_told_kindly(every_kind):
    """Of an order or several letters it is said how many are right, and that they count."""
    wrong = {"shape": "(2, 3, 8); (9, 9)", "match": "1a 2a 3a"}
    lines = []
    with Store.open(every_kind.progress) as store:
        every_kind.learn("quiz", "every", "--length", "full", "--exam")
        plan = QuizLog(store.database).unfinished()[0].plan
    for family, _ in plan:
        lines.append(wrong.get(family.partition(".")[2], "?"))
    text = " ".join(every_kind.learn("quiz", "every", "--exam", stdin="\n".join([*lines, "", ""])).stdout.split())
    assert "Partly right: 1 of 2 shapes are right, and count for that share." in text
    assert "Partly right: 1 of 3 pairs are right, and count for that share." in text


@pytest.mark.parametrize("numbered", [False, True])
def test_code_breaks_at_a_blank_in_a_narrow_terminal(monkeypatch, numbered):
    """A long line goes on below, deeper than it began, and no word is cut; a line that fits stays as it is."""
    code = "def attend(q, k):\n    scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))"
    monkeypatch.setenv("COLUMNS", "40")
    first, second, *rest = _code_lines(code, numbered)

    assert first.endswith("  def attend(q, k):") and max(map(len, [second, *rest])) <= 40
    assert rest and all(line.startswith(" " * 16) for line in rest)
    assert " ".join(second.split()[numbered:] + " ".join(rest).split()) == " ".join(code.split("\n")[1].split())


def test_what_is_cut_ends_at_a_word():
    """It ends in three dots, never in four."""
    assert cut("one two three. four", 18) == "one two three..."
    assert cut("short", 5) == "short" and cut("Donaudampfschiff", 8) == "Donau..."


def test_a_pipe_that_ends_says_how_to_go_on(workspace):
    """The end of the input is no error: what is kept, and the command that goes on; exit code 1."""
    done = workspace.learn("quiz", "topic0", *ALL, stdin="?\n")
    assert done.returncode == 1 and done.stderr == ""
    assert "Stopped. 1 of 5 questions answered and kept." in done.stdout and "learn quiz topic0" in done.stdout
    assert "1 answered before" in workspace.learn("quiz", "topic0", *ALL).stdout


def test_prove_shows_the_lines_of_torch(every_kind):
    """--prove adds them to each mark that has some; without it a pipe shows none."""
    ask = ["quiz", "every", "--length", "full"]
    assert "import torch" not in every_kind.learn(*ask, stdin="?\n" * 18).stdout
    assert "print((q * k).sum(dim=-1).var())" in every_kind.learn(*ask, "--prove", stdin="?\n" * 18).stdout


def test_a_terminal_that_knows_no_signs(every_kind):
    """Where the encoding has no bars, letters do their work; with NO_COLOR there is no colour; nothing breaks."""
    done = every_kind.learn("quiz", "every", stdin="?\n" * 10, PYTHONIOENCODING="ascii", PYTHONUTF8="0", NO_COLOR="1")
    assert done.returncode == 0 and "\x1b" not in done.stdout
    assert "░" not in done.stdout and "....  2 of 3" in done.stdout


@pytest.mark.parametrize("command", ["quiz topic0", "quiz", "review", "quiz redo", "quiz list", "quiz open"])
def test_nothing_heavy_is_imported(workspace, command):
    """torch, rich and jinja2 stay out of every command of the quiz."""
    code = (
        f"import sys, os\nsys.argv = ['learn', *{command.split()!r}]\nos._exit = lambda code: None\n"
        "from grader.cli.learn.group import main\nmain()\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    done = run_code(code, workspace.folder, SELFATTEND_COURSE=str(workspace.course))
    modules = set(done.stderr.split())
    assert "grader" in modules, done.stderr
    assert not modules & {"torch", "numpy", "rich", "jinja2", "pytest", "fsrs"}


def test_after_the_last_lesson_comes_the_assessment_then_the_report(every_kind):
    """Bare `learn` names it once no lesson is left; when it was taken to its end, the report."""
    with Store.open(every_kind.progress) as store:
        for lesson in load(every_kind.course).lessons:
            store.record_attempt(LessonResult(lesson, "graded", 10.0, True, "cpu", 1, 0.1), "", datetime.now(UTC))
    assert re.search(r"      learn quiz$", every_kind.learn().stdout, re.MULTILINE)

    with Store.open(every_kind.progress) as store:
        log = QuizLog(store.database)
        taken = log.begin_session("exam", every_kind.bank.assessed or every_kind.bank.names, [])
        assert "      learn quiz\n" in every_kind.learn().stdout
        log.finish(taken.session.id, datetime.now(UTC))
    assert "      learn report\n" in every_kind.learn().stdout


# ---- in a terminal ---------------------------------------------------------------------------------------------------


def test_q_leaves_where_a_score_is_predicted(every_kind):
    """At this prompt, too: nothing is begun, and what is no number is told in the place where it was typed."""
    with in_terminal(every_kind, "every") as terminal:
        terminal.until("(Enter skips) ")
        terminal.type("eleven\r")
        terminal.until("Type a number from 0 to 10")
        assert "\x1b[A\x1b[2K" in terminal.text
        terminal.until("(Enter skips) ")
        terminal.type("q\r")
        terminal.until("Stopped before a question was asked.")
    with Store.open(every_kind.progress) as store:
        assert QuizLog(store.database).sessions() == []


def test_prediction_answer_certainty_mark(every_kind):
    """In this order: the prediction, the question, the certainty, the mark; the answer is kept before the mark."""
    with in_terminal(every_kind, "every", "--length", "full") as terminal:
        told = " ".join(terminal.until("What will you score, from 0 to 10? (Enter skips) ").split())
        assert "0 is" in told and "10 is" in told  # on the scale of the score, corrected for guessing
        terminal.type("eleven\r")
        terminal.until("Type a number from 0 to 10")
        terminal.type("7,5\r")
        screen = terminal.until("> ")
        assert "One of every kind" in screen and "1 of 9" in screen
        assert "? alone: I do not know." in " ".join(screen.split())
        terminal.type("9" * 1001 + "\r")
        terminal.until("It costs")
        terminal.until("> ")
        with Store.open(every_kind.progress) as store:
            log = QuizLog(store.database)
            planned, salt = log.unfinished()[0], log.salt()
        assert planned.session.predicted == 7.5
        family, attempt = planned.plan[0]
        terminal.type(right_answer(make_variant(every_kind.bank, every_kind.bank.family(family), salt, attempt)) + "\r")
        terminal.until(SURE)
        assert "f fairly 70%, s sure 95%" in " ".join(terminal.until("(Enter").split())
        assert every_kind.log() == []
        terminal.type("perhaps\r")
        terminal.until("Type g, f, s or c, or Enter alone.")
        terminal.type("s\r")
        terminal.until("Right.")
        (answer,) = every_kind.log()
        assert (answer.family, answer.credit, answer.certainty) == (family, 1.0, "sure")
        terminal.until(ON)
        terminal.type("\r")
        assert "2 of 9" in terminal.until("> ")


def test_an_answer_can_be_taken_back_before_its_certainty(workspace):
    """c at the certainty goes back to the answer; certainty may be typed with the answer; Enter means fairly."""
    question = of(workspace.events("quiz", "topic0"), "question")[0]
    answer = workspace.answer(question)
    with in_terminal(workspace, "topic0") as terminal:
        terminal.until("Go on with it?")
        terminal.type("\r")
        for typed, certainty in (("b", "c"), (answer, "")) if question["options"] else (("1", "c"), (answer, "")):
            terminal.until("> ")
            terminal.type(f"{typed}\r")
            terminal.until(SURE)
            terminal.type(f"{certainty}\r")
        terminal.until("Right.")
        terminal.until(ON)
        terminal.type("\r")
        terminal.until("\n> ")
        terminal.type("? | sure\r")
        assert SURE not in terminal.until(ON)
    first, second = workspace.log()
    assert (first.typed, first.certainty) == (answer, "fairly") and (second.typed, second.certainty) == ("?", "")


def test_a_sign_behind_the_answer_says_how_sure_and_q_leaves(workspace):
    """`48!` is sure and `48?` a guess, without a question for it; q at the answer stops; what is no answer is told
    with the question still above it."""
    question = of(workspace.events("quiz", "topic0", *ALL), "question")[0]
    with in_terminal(workspace, "topic0", *ALL) as terminal:
        terminal.until("Go on with it?")
        terminal.type("\r")
        shown = terminal.until("> ")
        terminal.type("9" * 1001 + "\r")
        terminal.until("Not read")
        terminal.until("> ")
        assert terminal.text.count("1 of 5") == shown.count("1 of 5") + 1
        terminal.type(f"{workspace.answer(question)}!\r")
        assert SURE not in terminal.until(ON)
        terminal.type("\r")
        terminal.until("2 of 5")
        terminal.until("> ")
        terminal.type("q\r")
        rest, code = terminal.end()
    assert code == 1 and "1 of 5 questions answered and kept" in rest
    assert [answer.certainty for answer in workspace.log()] == ["sure"]


def test_q_leaves_where_any_text_is_an_answer(every_kind):
    """What code prints may be any text, and is never `q`: it stops there, and no answer is marked."""
    with in_terminal(every_kind, "every", "--length", "full", "--predict", "5") as terminal:
        while "What it prints" not in terminal.until("\n> "):
            terminal.type("?\r")
            terminal.until(ON)
            terminal.type("\r")
        terminal.type("q\r")
        rest, code = terminal.end()
    assert code == 1 and "Stopped." in rest and SURE not in rest


def test_ctrl_c_says_how_to_go_on(workspace):
    """Ctrl-C keeps what was answered, names the next command and leaves no traceback; bare `learn quiz` offers to go
    on, Enter does."""
    with in_terminal(workspace, "topic0", *ALL, "--predict", "5") as terminal:
        dont_know(terminal)
        terminal.until("2 of 5")
        shown = terminal.until("\n> ")
        terminal.interrupt()
        rest, code = terminal.end()
    assert code == 130 and "Traceback" not in rest
    assert "Stopped. 1 of 5 questions answered and kept." in rest and "learn quiz topic0" in rest
    with in_terminal(workspace) as terminal:
        assert "“Topic topic0”: 1 of 5 answered" in terminal.until("Go on with it?")
        terminal.type("\r")
        terminal.until("2 of 5")
        assert terminal.until("\n> ") == shown


def test_a_question_is_shown_again_after_ctrl_z(workspace):
    """With what was typed so far, which the shell's line has pushed away."""
    with in_terminal(workspace, "topic0", *ALL, "--predict", "5") as terminal:
        asked = terminal.until("\n> ")
        terminal.type("?")
        terminal.until("?")
        time.sleep(0.5)  # by then it waits for the next key
        terminal.process.send_signal(signal.SIGTSTP)
        again = terminal.until("\n> ?")
        terminal.type("\r")
        terminal.until("Enter goes on")
    assert asked.split("1 of 5")[1] in again


def test_no_begins_another(workspace):
    """n at the offer ends the old sitting as it stands: it is not offered again."""
    workspace.learn("quiz", "topic0", stdin="?\n")
    with in_terminal(workspace, "topic0") as terminal:
        terminal.until("Go on with it?")
        terminal.type("n\r")
        terminal.until("What will you score")
        terminal.type("\x04")
        rest, code = terminal.end()
    assert code == 1 and "Stopped before a question was asked." in rest
    with Store.open(workspace.progress) as store:
        assert QuizLog(store.database).unfinished() == []
    assert len(workspace.log()) == 1


def test_a_prediction_of_a_session_that_goes_on_is_told_not_to_be_kept(workspace):
    """What was begun without one goes on without one, and it is said how another begins."""
    workspace.learn("quiz", "topic0", stdin="?\n")
    done = workspace.learn("quiz", "topic0", "--predict", "3", stdin="?\n")
    assert "--predict 3 is not kept: this session has begun, and goes on. With --new another" in " ".join(
        done.stderr.split()
    )
    with Store.open(workspace.progress) as store:
        assert [each.predicted for each in QuizLog(store.database).sessions()] == [None]
    begun = workspace.learn("quiz", "topic0", "--new", "--predict", "3", stdin="?\n")
    assert "not kept" not in begun.stderr


def test_several_unfinished_sittings_are_listed(workspace):
    """Bare `learn quiz` lists them all, of any kind; a number goes on with one, e ends one, n leaves the rest."""
    workspace.learn("quiz", "topic0", *ALL, stdin="?\n")
    workspace.learn("quiz", "topic1", *ALL, stdin="?\n?\n")
    workspace.learn("quiz", "open", "1", stdin="a line\n")
    with in_terminal(workspace) as terminal:
        screen = terminal.until("n begins another")
        assert "3 sessions not finished" in screen and "1  your own words on “Topic topic0”: begun just now" in screen
        assert "3  “Topic topic0”: 1 of 5 answered" in screen
        assert "the answers that you gave in it count, and the rest of it is dropped" in " ".join(screen.split())
        terminal.type("4\r")
        terminal.until("Type a number from 1 to 3, e and a number, n or q.")
        terminal.type("e2\r")
        terminal.until("2 sessions not finished")
        terminal.until("n begins another")
        terminal.type("2\r")
        assert "2 of 5" in terminal.until("\n> ")
        terminal.type("\x04")
        assert terminal.end()[1] == 1
    with in_terminal(workspace) as terminal:
        terminal.until("n begins another")
        terminal.type("\r")
        terminal.until("Question 1: Topic topic0")
    with Store.open(workspace.progress) as store:
        assert len(QuizLog(store.database).unfinished()) == 2
    assert len(workspace.log()) == 3


def test_unfinished_sittings_are_listed_in_a_narrow_terminal(workspace):
    """No word is cut where a line ends; what waits for its misses says so; q stops there and at the offer of one."""
    workspace.learn("quiz", "topic0", *ALL, stdin="?\n" * 5)
    workspace.learn("quiz", "topic1", *ALL, stdin="?\n")
    for arguments in ((), ("topic0",)):
        with in_terminal(workspace, *arguments, columns=40) as terminal:
            screen = terminal.until("stops ")
            terminal.type("q\r")
            rest, code = terminal.end()
        assert code == 1 and "Stopped before a question was asked." in rest
        assert max(map(len, screen.splitlines())) <= 40
        assert "“Topic topic0”: all answered, what you missed comes again" in " ".join(screen.split())


def test_ctrl_d_and_q_stop_too(workspace):
    """Both keep everything, and end with exit code 1."""
    for keys, before in (("\x04", "\n> "), ("q\r", ON)):
        with in_terminal(workspace, "topic1", "--predict", "5", "--new") as terminal:
            if before == ON:
                terminal.until("\n> ")
                terminal.type("?\r")
            terminal.until(before)
            terminal.type(keys)
            rest, code = terminal.end()
        assert code == 1 and "learn quiz topic1" in rest, rest
    assert len(workspace.log()) == 1


def test_a_closed_window_loses_no_answer(workspace):
    """SIGHUP ends the command; what was answered is there, and the sitting goes on."""
    with in_terminal(workspace, "topic0", *ALL, "--predict", "5") as terminal:
        dont_know(terminal)
        dont_know(terminal)
        terminal.until("3 of 5")
        terminal.until("\n> ")
        terminal.hang_up()
        assert terminal.process.wait(60) in (-signal.SIGHUP, 1)
    assert len(workspace.log()) == 2
    assert workspace.events("quiz", "topic0", *ALL)[0]["answered"] == 2


def test_the_end_of_a_sitting(workspace):
    """Misses come again; then the score beside the prediction, and the next commands."""
    with in_terminal(workspace, "topic0", *ALL, "--predict", "6") as terminal:
        for _ in range(10):
            dont_know(terminal)
        rest, code = terminal.end()
    assert code == 0
    assert "This session: 0.0 of 10   0 of 5 right" in rest and "You predicted 6.0: 6.0 too high." in rest
    assert "learn report" in rest and "learn review" in rest


def test_sure_but_wrong_is_told_first(every_kind):
    """What one was sure of and wrong about stands at the end by the name of the misconception."""
    done = every_kind.learn("quiz", "every", "--length", "full", "--exam", "--json")
    assert done.returncode == 1
    with Store.open(every_kind.progress) as store:
        plan = QuizLog(store.database).unfinished()[0].plan
    typed = ["8 | sure" if family.endswith("numeric") else "?" for family, _ in plan]
    text = every_kind.learn("quiz", "every", "--exam", stdin="\n".join(typed) + "\n\n").stdout
    assert "You were sure: it comes back within a week." in text
    end = text.partition("Sure, but wrong")[2]
    assert "divided the scores by d_k in place of its square" in end
    assert "The components of q and k are independent" in end and "What is the variance of" in " ".join(end.split())
    assert "learn review" in end


def test_an_exam_in_a_terminal(workspace):
    """No mark before the end; a second prediction; then each question with its mark; q skips the rest."""
    with in_terminal(workspace, "topic0", *ALL, "--exam", "--predict", "2") as terminal:
        for _ in range(5):
            terminal.until("\n> ")
            terminal.type("?\r")
        before = terminal.until("What will your score be")
        assert "Not known yet" not in before and "The marks come next" in before
        terminal.type("1\r")
        screen = terminal.until(ON)
        assert "Marks: Topic topic0" in screen and "You said that you did not know." in screen
        terminal.type("q\r")
        rest, code = terminal.end()
    assert code == 0 and "After answering you said 1.0: 1.0 too high." in rest


def test_an_exam_that_is_broken_off_at_its_marks_shows_them(workspace):
    """Killed after the last answer, it goes on with the prediction and the marks: no question is asked again."""
    workspace.events("quiz", "topic0", *ALL, "--exam", stdin="?\n" * 4, code=1)
    with in_terminal(workspace, "topic0", *ALL, "--exam") as terminal:
        terminal.until("Go on with it?")
        terminal.type("\r")
        terminal.until("\n> ")
        terminal.type("?\r")
        terminal.until("What will your score be")
        terminal.kill()
    events = workspace.events("quiz", "topic0", *ALL, "--exam", code=0)
    assert kinds(events) == ["session", "predict", *["mark"] * 5, "end"]


def test_past_predictions_are_shown_before_the_next(workspace):
    """By how much one's own last predictions were off is said before one predicts again."""
    with Store.open(workspace.progress) as store:
        log = QuizLog(store.database)
        for number in range(4):
            log.begin(QuizSession(f"s{number}", "quiz", ("topic0",), NOON, predicted=9.0), [])
            for family in range(8):
                log.add_answer(answered(f"topic{family}.n1", float(family % 2), session=f"s{number}"))
            log.finish(f"s{number}", NOON)
    with in_terminal(workspace) as terminal:
        assert "Your last 3 predictions were 3.9 too high on average." in terminal.until("What will you score")


def test_enter_alone_shows_the_question_again_at_the_new_width(every_kind):
    """After the window was made narrow, Enter sets the question anew: no line of prose is wider than it."""
    with in_terminal(every_kind, "every", "--length", "full", "--predict", "5", columns=140, rows=40) as terminal:
        terminal.until("\n> ")
        terminal.resize(40, 60)
        time.sleep(0.3)  # the signal of the new size has to arrive before the key
        terminal.type("\r")
        screen = terminal.until("\n> ")
        header = next(line for line in screen.splitlines() if line.startswith("One of every kind"))
        assert len(header) == 60
        terminal.type("?\r")
        terminal.until(ON)
        terminal.type("\r")
        for _ in range(17):
            told = dont_know(terminal)
            prose = [line for line in told.splitlines() if "torch" not in line and not line.startswith("    ")]
            assert max(map(len, prose)) <= 60, told


def test_what_is_longer_than_the_screen_stops(every_kind):
    """On six rows a question stops before its beginning is gone; Ctrl-C there stops the sitting at once."""
    every_kind.learn("quiz", "every", "--length", "full")
    with Store.open(every_kind.progress) as store:
        ((session, plan),) = QuizLog(store.database).unfinished()
        longest_first = sorted(plan, key=lambda each: each[0] != "every_kind.numeric")
        QuizLog(store.database).set_plan(session.id, longest_first)
    with in_terminal(every_kind, "every", rows=6) as terminal:
        terminal.until("Go on with it?")
        terminal.type("\r")
        screen = terminal.until("Enter shows the rest").rpartition("1 of 9")[2]
        assert len(screen.splitlines()) == 6  # the rest of the header's row, four more, and the stop
        terminal.interrupt()
        assert "Stopped." in terminal.end()[0]
    with in_terminal(every_kind, "every", rows=6) as terminal:
        terminal.until("Go on with it?")
        terminal.type("\r")
        for _ in range(4):  # as many as the longest of these questions may need; at the prompt Enter shows it again
            terminal.type("\r")
        terminal.until("\n> ")


def test_on_a_low_screen_there_are_fewer_empty_lines(every_kind):
    """What fits only without its empty lines is shown without them, and its header stays."""
    every_kind.learn("quiz", "every", "--length", "full")
    with Store.open(every_kind.progress) as store:
        ((session, plan),) = QuizLog(store.database).unfinished()
        first = sorted(plan, key=lambda each: each[0] != "every_kind.bug")
        QuizLog(store.database).set_plan(session.id, first)
    for rows, empty in ((24, 3), (9, 0)):
        with in_terminal(every_kind, "every", rows=rows) as terminal:
            terminal.until("Go on with it?")
            terminal.type("\r")
            terminal.until("1 of 9\n")
            screen = terminal.until("\n> ")
        assert "shows the rest" not in screen and screen.splitlines().count("") == empty, screen


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_none_is_wanted(workspace, variables):
    """With NO_COLOR no colour is set, and a dumb terminal gets no escape sequence at all."""
    with in_terminal(workspace, "topic0", "--predict", "5", **variables) as terminal:
        dont_know(terminal)
        terminal.until("\n> ")
        assert not re.search(r"\x1b\[[0-9;]*m", terminal.text)
        assert "\x1b" not in terminal.text or "TERM" not in variables


# ---- kill -9 ---------------------------------------------------------------------------------------------------------


class Witness:
    """What a learner has seen over many broken sittings, held against the log."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.told: set[tuple[str, str, int]] = set()  # session, family, attempt: the mark was shown
        self.sittings: dict[str, dict[str, int]] = {}  # session -> family -> the variant that was shown first
        self.answers = 0

    def saw(self, events: list[dict]) -> None:
        if not events:
            return
        session = events[0]["id"]
        first = self.sittings.setdefault(session, {})
        assert events[0]["resumed"] == bool(first) or not first
        for event in of(events, "question"):
            if not event["again"]:
                assert first.setdefault(event["family"], event["attempt"]) == event["attempt"], "another variant"
        self.told |= {(session, event["family"], event["attempt"]) for event in of(events, "mark")}

    def check(self) -> None:
        """Everything whose mark was shown is in the log, once; and the log only grows."""
        log = [(answer.session, answer.family, answer.attempt) for answer in self.workspace.log()]
        assert len(log) == len(set(log)), "an answer stands there twice"
        assert self.told <= set(log), "an answer was lost"
        assert len(log) >= self.answers
        self.answers = len(log)


@repeat(usual=5, soak=40)
def test_kill_nine_at_any_moment_loses_no_answer(workspace, times):
    """So many times through a pipe, a quarter as often in a terminal: what was told is in the log, and the same sitting
    goes on with the same variants."""
    random, witness = Random(SEED), Witness(workspace)
    command = [sys.executable, "-c", START, "quiz", "--json"]
    for _ in range(times):
        process = subprocess.Popen(
            command, cwd=workspace.folder, env=environment(workspace.course), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )  # fmt: skip
        process.stdin.write(b"?\n" * 100)
        process.stdin.flush()
        head = process.stdout.readline() if random.random() < 0.8 else b""  # else perhaps before the first word
        time.sleep(random.uniform(0, 0.25))
        process.kill()
        text = head + process.communicate(timeout=30)[0]
        witness.saw([json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n")])
        witness.check()
    assert witness.answers > times
    for _ in range(times // 4):
        before = len(workspace.log())
        with in_terminal(workspace, "topic0", "--predict", "5") as terminal:
            terminal.type("\r" + "?\r\r" * 20)
            if random.random() < 0.8:
                terminal.until("opic0")
            time.sleep(random.uniform(0, 0.25))
            terminal.kill()
        shown = plain(terminal.text).count("Not known yet.")
        assert len(workspace.log()) >= before + shown
    with closing(sqlite3.connect(workspace.progress)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
