"""grader.reports: an assessment as text for a terminal and as JSON."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.course_files import ROOT

from grader.course import load
from grader.model import CheckResult, Counterexample, LessonResult, Named, Suggestion, WrongLine
from grader.reports.formats.to_json import lessons_to_json, to_json
from grader.reports.formats.to_terminal import assessment, summary
from grader.terminal.layout import Layout
from grader.terminal.text import (
    MAX_CHARS,
    PLAIN_SIGNS,
    Signs,
    ago,
    bar,
    clean,
    plural,
    score_bar,
    score_text,
    signs_for,
)
from grader.web.verdict import verdict_event

SAYS = "Hides from each query exactly the keys that its row of the mask blocks, and no others at all."
TRACE = "ValueError: no\n  core/attention.py:7 in attention\n    raise ValueError('no')\nAsked: attention(3)"


def check(name: str, outcome: str = "passed", message: str = "", **more: Any) -> CheckResult:
    """One check worth a point."""
    given: dict[str, Any] = {
        "function": "attention",
        "says": f"Is right about {name}.",
        "skill": "values",
        "output": "",
    } | more
    return CheckResult(
        f"attention.{name}", given["function"], given["says"], given["skill"], outcome, 1.0,
        1.0 if outcome == "passed" else 0.0, message, given["output"],
    )  # fmt: skip


def result(*checks: CheckResult, **more: Any) -> LessonResult:
    """Make a verdict with these checks."""
    passed = all(one.passed for one in checks)
    given: dict[str, Any] = {"score": 10.0 if passed else 4.6, "passed": passed, "file": "core/attention.py"} | more
    return LessonResult(
        "attention", given.pop("state", "graded"), device="cpu", seed=77, duration_s=0.1, checks=checks, **given
    )


FAILED = result(
    check("shape"),
    check("mask", "failed", "Wrong: got 1, expected 2.\nAsked: attention(1, 2)", says=SAYS, output="my print\n"),
    check("trace", "raised", TRACE),
    check("later", "skipped", "Not run: it needs “mask” to pass first."),
    mistakes=(Named("at-mask-inverted", "attention", "Your `mask` is inverted.", "Turn it round."),),
    strengths=("Shapes: every output has the right shape.",),
    weaknesses=("Your `mask` is inverted.", f"`attention` raises an error.\n{TRACE}"),
    suggestions=(
        Suggestion("Turn it round.", "learn check attention"),
        Suggestion("Take the next hint, which is a long sentence about what to do next here.", "learn hint attention"),
    ),
    counterexamples=(Counterexample("attention", "attention(torch.tensor([1.0]))", "torch.tensor([2.0])", "[1.0]"),),
    hints_used=2,
    output="my print\n",
    notes=("torch.py beside your file is ignored.",),
)


def plain(text: str) -> str:
    """Text without colours and links."""
    return re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", text)


# ---- the assessment -------------------------------------------------------------------------------------------------


def test_the_head_says_lesson_score_device_and_seed():
    """Title, file, device and seed, then the score with a bar, what passed, the score before and the hints used."""
    head = assessment(FAILED, Layout(), title="Attention", before=3.1).splitlines()[:2]

    assert head[0] == "Attention  core/attention.py  cpu, seed 77"
    assert head[1].startswith("4.6 / 10  ████████░░░")
    assert head[1].endswith("1 of 4 checks passed, before: 3.1, 2 hints used")


def test_a_screen_says_what_is_wrong_and_what_to_do():
    """Each mistake with its action, prints, the failing input as it can be typed, the count of checks, commands."""
    lines = assessment(FAILED, Layout()).splitlines()

    assert lines[2:] == [
        "! torch.py beside your file is ignored.",
        "",
        "✗ Your `mask` is inverted.",
        "  → Turn it round.",
        "✗ `attention` raises an error.",
        "  ValueError: no",
        "    core/attention.py:7 in attention",
        "      raise ValueError('no')",
        "",
        "Your prints",
        "  my print",
        "",
        "Smallest failing input",
        "  attention(torch.tensor([1.0]))",
        "  yours     torch.tensor([2.0])",
        "  expected  [1.0]",
        "2 checks failed, 1 waits for them, 1 passed: -v lists them.",
        "Next  learn hint attention",
    ]


def test_an_unwritten_stub_takes_five_lines():
    """However many functions a lesson has: nothing is explained of work that was not begun."""
    names = ("split", "merge")
    mistakes = tuple(Named("stub", name, f"`{name}` is not written yet.", f"Write `{name}`.") for name in names)
    checks = [check(name, "raised", "NotImplementedError", function=name) for name in names]
    says = tuple(mistake.says for mistake in mistakes)
    suggestions = (Suggestion("Read the lesson.", "learn read attention"),)
    text = assessment(result(*checks, mistakes=mistakes, weaknesses=says, suggestions=suggestions), Layout())

    assert text.splitlines()[2:] == ["", "✗ `split` and `merge` are not written yet.", "Next  learn read attention"]


def test_the_most_important_findings_fit_a_screen():
    """Three findings are shown, and how many more there are; what depends on another lesson says so."""
    other = Suggestion("It uses your softmax.py: see whether that passes by itself.", "learn check softmax")
    wrong = result(check("a", "failed", "No."), weaknesses=tuple(f"Wrong {i}." for i in range(5)), suggestions=(other,))
    text = assessment(wrong, Layout(), rows=10)

    assert "✗ Wrong 2.\n\n... and 2 more findings. 1 check failed: -v lists them.\n" in text
    assert "  It uses your softmax.py: see whether that passes by itself.\n" in text
    assert text.endswith("Next  learn check softmax\n")


def test_nothing_is_cut_where_rows_are_free():
    """More findings than the most important ones are shown, down to the last row."""
    wrong = result(check("a", "failed", "No."), weaknesses=tuple(f"Wrong {i}." for i in range(30)))
    more = "learn check attention -v"
    text = assessment(wrong, Layout(more=more), rows=25)

    assert len(text.splitlines()) == 25 and "✗ Wrong 19.\n" in text
    assert "\n... and 10 more findings. 1 check failed: learn check attention -v lists them.\n" in text
    assert "more finding" not in assessment(wrong, Layout(), rows=36)
    for columns in range(30, 80):
        assert more in assessment(wrong, Layout(columns, more=more)), "the command stands whole in a line"


@given(st.integers(20, 100), st.lists(st.sampled_from(["softmax", "positional_encoding", "block"]), max_size=4))
def test_a_command_that_comes_next_stands_whole_in_a_line(width, names):
    """However narrow the terminal is, each can be copied, if it is not wider than that itself."""
    commands = ["learn hint softmax", *(f"learn read {name}" for name in dict.fromkeys(names))]
    text = assessment(replace(FAILED, suggestions=tuple(Suggestion("", each) for each in commands)), Layout(width))

    assert all(any(each in line for line in text.splitlines()) for each in commands if len(each) + 6 <= width), text


def test_a_long_failing_input_leaves_no_empty_line():
    """Where even one finding does not fit above it, the last empty line goes: the screen has 20 lines again."""
    large = Counterexample("attention", "attention(1.0, 2.0, " + "3.0, " * 55, "0.25, " * 44, "0.75, " * 44)
    wrong = result(check("a", "failed", "No."), weaknesses=("Wrong, and why. " * 16,) * 2, counterexamples=(large,))
    lines = assessment(wrong, Layout()).splitlines()

    assert "Smallest failing input" in lines and "" not in lines and len(lines) == 20


@given(st.integers(40, 140), st.integers(0, 60), st.integers(1, 14))
def test_a_line_that_is_to_blame_is_worth_more_than_a_failing_input(columns, numbers, words):
    """A long input is cut off, or left out, before the line is: both fit where the finding itself is short."""
    line = WrongLine("attention", 7, 0, f"`attention`: Line 7 is where it goes wrong: {'w = 1 ' * words}.", "Line 7.")
    long = Counterexample("attention", f"attention({'3.0, ' * numbers})", "0.25, " * numbers, "0.75, " * numbers)
    wrong = result(check("a", "failed", "No."), weaknesses=("No.", line.says), counterexamples=(long,), lines=(line,))
    lines = assessment(wrong, Layout(columns)).splitlines()

    assert any("Line 7" in each for each in lines) and len(lines) <= 20
    assert all(len(each) <= columns for each in lines)
    if columns >= 60:
        assert "Smallest failing input" in lines
        assert any(each.endswith(" ...") for each in lines) or sum(each.count("3.0") for each in lines) == numbers


def test_what_shows_more_is_named_by_the_place_where_it_is_shown():
    """A screen has a key in place of an option: no `-v` is left in what it says."""
    wrong = replace(FAILED, weaknesses=tuple(f"Wrong {i}." for i in range(5)), output="print\n" * 9)
    wrong = replace(wrong, checks=tuple(replace(each, output="") for each in wrong.checks))
    text = assessment(wrong, Layout(more="c"))

    assert ": c shows" in text and ": c lists" in text
    assert "1 passed: c lists them." in text.replace("\n", " ")
    assert "-v" not in text
    stepped = replace(wrong, suggestions=(Suggestion("Step.", f"learn check {wrong.lesson} --pdb"),))
    assert "--pdb" in assessment(stepped, Layout()) and "--pdb" not in assessment(stepped, Layout(more="c"))


def test_checks_are_a_row_of_marks_below_the_score():
    """What is wrong first, as it is listed, wrapped, in ASCII where there is no UTF-8; none where none ran."""
    assert assessment(FAILED, Layout(), with_marks=True).splitlines()[2] == "✗ ✗ · ✓"
    assert assessment(FAILED, Layout(signs=PLAIN_SIGNS), with_marks=True).splitlines()[2] == "x x - +"
    many = [check(f"c{i}", "failed" if i == 30 else "passed") for i in range(31)]
    lines = assessment(result(*many), Layout(60), with_marks=True).splitlines()
    assert [" ".join(["✗", *"✓" * 29]), "✓"] in (lines[2:4], lines[3:5])
    none = assessment(result(*many, state="would-not-import"), Layout(), with_marks=True)
    assert "✓ ✓" not in none


def test_the_checks_have_one_order_in_every_list_and_row():
    """By function, one with a failure first: below each other in a terminal, beside each other there and on a page."""
    several = [check(f"{name}_{end}", end, says=f"{name} {end}.", function=name)
               for name, ends in (("one", ["passed"]), ("two", ["passed", "skipped", "failed"]), ("three", ["failed"]))
               for end in ends]  # fmt: skip
    wrong = result(*several)
    order = ["two failed.", "two skipped.", "two passed.", "three failed.", "one passed."]

    listed = re.findall(r"\w+ \w+\.$", assessment(wrong, Layout(everything=True)).partition("Next")[0], re.MULTILINE)
    assert listed == order
    assert assessment(wrong, Layout(), with_marks=True).splitlines()[2] == "✗ · ✓ ✗ ✓"
    event = verdict_event(load(ROOT).lessons["softmax"], wrong, None, "")
    assert re.findall(r'<i class="\w+" title="([^"]*)"', event["html"]) == order


def test_there_is_a_next_step_where_each_suggestion_is_about_a_mistake():
    """Their command is the one that was just run: the lesson is what is left to read."""
    again = tuple(Suggestion(f"Mend {i}.", "learn check attention") for i in range(3))
    wrong = result(check("a", "failed", "No."), weaknesses=("Wrong.",), suggestions=again)
    assert assessment(wrong, Layout()).endswith("Next  learn read attention\n")


# ---- every check ----------------------------------------------------------------------------------------------------

EVERYTHING = Layout(everything=True)


def test_what_did_not_pass_comes_first_with_its_message():
    """Failures first with sign, word and message, then what was not run, then what passed."""
    lines = assessment(FAILED, EVERYTHING).splitlines()
    outcomes = ("failed", "raised", "skipped", "passed")
    heads = [line.split()[:2] for line in lines if line[4:12].strip() in outcomes]

    assert heads == [["✗", "failed"], ["✗", "raised"], ["·", "skipped"], ["✓", "passed"]]
    assert "             Wrong: got 1, expected 2." in lines


def test_below_the_checks_stand_the_most_useful_things():
    """Prints, the failing input as it can be typed, strengths, named weaknesses with their id, and the next steps."""
    text = assessment(FAILED, EVERYTHING)
    expected = ["Your prints", "Smallest failing input", "Strengths", "Weaknesses", "Next"]

    assert [line for line in text.splitlines() if line in expected] == expected
    assert "  ✗ Your `mask` is inverted.  [at-mask-inverted]" in text
    assert "  1 Turn it round.  learn check attention" in text


def test_nothing_is_said_twice():
    """A traceback that stands under its check is not repeated under Weaknesses."""
    assert assessment(FAILED, EVERYTHING).count("core/attention.py:7 in attention") == 1


def test_a_check_on_several_inputs_is_one_line():
    """Checks that differ in their brackets only are one line, which counts the inputs with the worst outcome."""
    outcomes = ("passed", "failed", "failed")
    many = [check(f"axis[{i}]", outcome, says="Is right.") for i, outcome in enumerate(outcomes)]

    assert "  ✗ failed   Is right. (2 of 3 inputs)" in assessment(result(*many), EVERYTHING)


def test_the_count_of_checks_agrees_with_the_lines():
    """A check on several inputs counts once, and as passed only if it passes on all."""
    many = [check(f"axis[{i}]", outcome, says="Is right.") for i, outcome in enumerate(("passed", "failed"))]
    more = [check(f"size[{i}]", says="Is right too.") for i in range(3)]

    assert "  1 of 2 checks passed" in assessment(result(*many, *more), Layout())
    assert "  1 of 2 checks passed" in summary([result(*many, *more)], Layout())


@pytest.mark.parametrize("outcome", ["failed", "timed-out", "out-of-memory"])
def test_sentences_stand_under_each_other(outcome):
    """The column of the outcomes is as wide as its longest word, also above a message."""
    text = assessment(result(check("a", outcome, "The message."), check("b")), EVERYTHING)
    parts = ("Is right", "The message")
    columns = {line.index(part) for line in text.splitlines()[3:6] for part in parts if part in line}

    assert len(columns) == 1


def test_nothing_earned_fills_nothing():
    """The bar shows the share of the points that was earned: 1.0, the lowest score, is an empty bar."""
    assert "1.0 / 10  ░░░" in assessment(result(check("a", "failed", "No."), score=1.0), Layout())
    assert [score_bar(score, 9, PLAIN_SIGNS).count("#") for score in (None, 1.0, 5.5, 9.9, 10.0)] == [0, 0, 4, 8, 9]


def test_functions_have_their_own_headings():
    """In a lesson of several functions each has its checks; one with failures comes first."""
    text = assessment(result(check("a", function="split"), check("b", "failed", "No.", function="merge")), EVERYTHING)

    assert text.index("\nmerge\n") < text.index("\nsplit\n")


def test_a_file_that_could_not_be_loaded_shows_no_checks():
    """Checks that never ran are not listed one by one."""
    skipped = [check(f"a{i}", "skipped", "Your file could not be loaded.") for i in range(5)]
    text = assessment(result(*skipped, state="would-not-import", score=1.0), Layout())

    assert "could not be loaded, so nothing was checked" in text
    assert "skipped" not in text


def test_a_fault_of_ours_is_told_as_ours():
    """A grader error has its own word, costs nothing, and names the doctor."""
    broken = check("b", "grader-error", "The check itself failed.")
    text = assessment(result(check("a"), broken, state="grader-error"), EVERYTHING)

    assert "1 of 1 check passed" in text
    assert "! grader error" in text
    assert "learn doctor" in text


def test_no_score_is_said_in_words():
    """Where nothing could be scored, there is no number."""
    assert "No score" in assessment(result(state="grader-error", score=None), Layout())


@pytest.mark.parametrize("width", [60, 80, 140])
def test_lines_fit_the_width(width):
    """No line is longer than the terminal, and none ends in spaces."""
    lines = assessment(FAILED, Layout(width)).splitlines()

    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_words_longer_than_the_width_are_not_broken():
    """A long path stays whole, so that it can be copied and clicked."""
    path = "/a/" + "very/" * 30 + "deep.py"
    text = assessment(result(check("a", "raised", f"ValueError: no\n  {path}:3 in f\n    code"), file=path), EVERYTHING)

    assert f"               {path}:3\n               in f\n" in text
    assert f"\n{path}\n" in text


def test_colour_changes_no_word():
    """With colour and links the same text is there."""
    colourful = assessment(FAILED, Layout(colour=True, links=True))

    assert "\x1b[31m" in colourful
    assert "\x1b]8;" in colourful
    assert [line.rstrip() for line in plain(colourful).splitlines()] == assessment(FAILED, Layout()).splitlines()


def test_without_colour_there_is_no_escape_sequence():
    """A pipe gets text only."""
    assert "\x1b" not in assessment(FAILED, Layout(links=True))


def test_ascii_signs():
    """Where the encoding has no better signs, letters and punctuation stand in."""
    text = assessment(FAILED, Layout(signs=PLAIN_SIGNS, everything=True))

    assert "  x failed" in text
    assert " ########..." in text
    assert signs_for("ascii") == signs_for(None) == signs_for("no such thing") == PLAIN_SIGNS
    assert signs_for("utf-8") == Signs()


def test_what_a_learner_printed_is_shown_harmless():
    """Control characters of prints and messages never reach the terminal."""
    evil = "\x1b[2J\x1b]0;title\x07\x1b[31mred\x1b[0m \x07\x08\x9b31m\u202eabc"
    text = assessment(
        result(check("a", "failed", evil, output=evil), output=evil, weaknesses=(evil,)), Layout(colour=True)
    )

    assert "\x1b[2J" not in text
    assert not set("\x07\x08\x9b\u202e") & set(text)
    assert "title" not in text
    assert "red" in text


def test_prints_are_cut():
    """Of many printed lines a few are shown, with the number of the rest."""
    printed = "".join(f"step {i}\n" for i in range(100))
    text = assessment(result(check("a", "failed", "No.", output=printed), output=printed), Layout())

    assert "step 4\n" in text
    assert "step 5\n" not in text
    assert "... 95 more lines" in text


def test_several_lessons_are_summed_up():
    """A line for each lesson, then what is wrong with those that did not pass, each with its command."""
    text = summary([FAILED, result(check("a"))], Layout())

    assert re.search(r"^✗ attention   4\.6  █+░+  1 of 4 checks passed$", text, re.MULTILINE)
    assert re.search(r"^✓ attention  10\.0  █{10}  1 of 1 check passed$", text, re.MULTILINE)
    assert "learn check attention\n  Your `mask` is inverted." in text


def test_a_missing_lesson_is_summed_up():
    """A lesson without a file has no score and says so."""
    assert "no file for this lesson" in summary([result(state="missing", score=None, passed=False)], Layout())


# ---- JSON -----------------------------------------------------------------------------------------------------------


def test_json_is_the_result_and_ascii():
    """What is printed is the documented object, safe in any encoding."""
    text = to_json(FAILED)

    assert json.loads(text) == json.loads(json.dumps(FAILED.to_dict()))
    assert text.isascii()


def test_json_of_several_lessons():
    """Several lessons are one object, by lesson."""
    assert json.loads(lessons_to_json([FAILED]))["lessons"]["attention"]["score"] == 4.6


# ---- pieces ---------------------------------------------------------------------------------------------------------


@example("a\ufffeb\uffff\ufdd0\U0001fffe")
@given(st.text())
def test_clean_text_has_no_control_characters(text):
    """Whatever comes in, only newlines and printable characters come out."""
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\U0001fffe]",
        clean(text),
    )


@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "Zs"))))
def test_clean_leaves_ordinary_text_alone(text):
    """Letters, digits and punctuation of any language are kept."""
    assert clean(text) == text


def test_clean_shows_a_progress_bar_as_it_looked_last():
    """Of a line overwritten by carriage returns the last state is kept."""
    assert clean("10%\r50%\r100%\nnext\r\nlast\r") == "100%\nnext\nlast"


@pytest.mark.parametrize("piece", ["\x1b]", "\x1b[", "\x1b[1;", "\x1bP", "a\r", "\x1b", "\x9b;"])
def test_cleaning_takes_no_longer_for_text_made_to_be_slow(piece):
    """A million characters of unfinished sequences are cleaned at once."""
    before = time.process_time()
    assert len(clean(piece * (1_000_000 // len(piece)))) <= MAX_CHARS
    assert time.process_time() - before < 1.0


@given(st.floats(0, 1), st.integers(2, 40))
def test_a_bar_is_full_only_when_all_is_done(share, cells):
    """A bar has its length, something in it as soon as there is something, and is full only at the end."""
    drawn = bar(share, cells, PLAIN_SIGNS)

    assert len(drawn) == cells
    assert (drawn.count("#") == cells) == (share == 1)
    assert (drawn.count("#") == 0) == (share == 0)


def test_small_words():
    """Counts, scores and times read as people write them."""
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)
    times = {0: "just now", 300: "5 min ago", 7200: "2 h ago", 3 * 86400: "3 days ago", 90 * 86400: "2025-11-02"}

    assert [plural(1, "check"), plural(0, "check")] == ["1 check", "0 checks"]
    assert [score_text(10.0), score_text(5.4), score_text(None)] == ["10.0", "5.4", "-"]
    assert {ago(now - timedelta(seconds=s), now) for s in times} == set(times.values())
