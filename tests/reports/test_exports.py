"""What comes out for others: Markdown, Gradescope, JUnit, the gradebook, and filled-in Canvas and Moodle files."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support.gradescope_rules import assert_is_gradescope
from support.hand_ins import ANSWERS, ON_TRUST, SUMS, TINY, write

from grader.batch.results import read_results
from grader.errors import UsageError
from grader.model import Override
from grader.record import Record
from grader.reports.formats.to_csv import gradebook_head, gradebook_line
from grader.reports.formats.to_gradescope import to_gradescope
from grader.reports.formats.to_junit import junit_lines
from grader.reports.formats.to_markdown import block, code, feedback_markdown, prose
from grader.reports.gradebook.canvas import fill_canvas
from grader.reports.gradebook.csv_sheet import Sheet
from grader.reports.gradebook.marks import GRADER_FAILED, NOT_HANDED_IN, NOT_READ, Mark, Rule, make_marks
from grader.reports.gradebook.match_people import Person, match
from grader.reports.gradebook.moodle import fill_moodle
from grader.store.class_store import ClassStore

HEAD: dict[str, Any] = {
    "schema": 1, "course": {"id": "c", "version": "1.0", "title": "A course"}, "engine": "0.1", "started":
    "2026-03-01T10:00:00+00:00", "lessons": ["softmax", "attention"],
    "titles": {"softmax": "Softmax", "attention": "Attention"}, "seed": 7, "missing": [], "similar": [],
}  # fmt: skip


def check(name: str, outcome: str = "passed", points: float = 2.0, message: str = "", **more: Any) -> dict:
    """One check as results.json holds it."""
    lesson = name.partition(".")[0]
    given = {
        "function": lesson,
        "says": f"Is right about {name}.",
        "skill": "values",
        "output": "",
        "gist": "",
        "form": "",
    } | more
    earned = points if outcome == "passed" else 0.0
    return {"id": name, "outcome": outcome, "points": points, "earned": earned, "message": message, "stage": ""} | given


def lesson(name: str, *checks: dict, state: str = "graded", **more: Any) -> dict:
    """One lesson's result."""
    counted = [one for one in checks if one["outcome"] != "grader-error"]
    possible = sum(one["points"] for one in counted)
    score = round(1 + 9 * sum(one["earned"] for one in counted) / possible, 1) if possible else None
    given = {
        "schema": 1, "lesson": name, "state": state, "score": score, "passed": score == 10.0, "device": "cpu",
        "seed": 7, "duration_s": 0.5, "checks": list(checks), "mistakes": [], "strengths": [], "weaknesses": [],
        "suggestions": [], "counterexamples": [], "output": "", "notes": [], "hints_used": 0, "file": f"{name}.py",
    }  # fmt: skip
    return given | more


GOOD = (lesson("softmax", check("softmax.a"), check("softmax.b")), lesson("attention", check("attention.a")))
HALF = (lesson("softmax", check("softmax.a"), check("softmax.b", "failed", message="Wrong.")), GOOD[1])
MISSING = (GOOD[0], lesson("attention", state="missing"))
NOTHING = (lesson("softmax", state="missing"), lesson("attention", state="missing"))
BROKEN = (GOOD[0], lesson("attention", state="grader-error"))


def record(whose: str, *lessons: dict, **more: Any) -> Record:
    """One submission of results.json."""
    lessons = lessons or GOOD
    scores = [one["score"] for one in lessons if one["score"] is not None]
    states: dict[str, int] = {}
    for one in lessons:
        states[one["state"]] = states.get(one["state"], 0) + 1
    given = {
        "id": whose, "learner": whose, "name": "", "attempt": 1, "late": False, "source": whose, "digest": "d",
        "score": round(sum(scores) / len(scores), 1) if scores else None, "complete": states.keys() == {"graded"},
        "states": states, "problem": "", "notes": [], "duration_s": 1.4, "previous": None,
        "lessons": {one["lesson"]: one for one in lessons},
    }  # fmt: skip
    return Record.from_json(given | more)


# --- Markdown ---------------------------------------------------------------------------------------------------------

HOSTILE = (
    "# head\n[link](http://x.y) <img src=x onerror=alert(1)> ![i](u) ```\n- item\n1. one\n| a | b |\n&lt; http://z.w"
)


def test_feedback_reads_well_as_it_is():
    """The page has the score, a table of the lessons, and for each what works, what does not, and what to do next."""
    flawed = lesson(
        "softmax", check("softmax.a"), check("softmax.b[1]", "failed", says="Is right."),
        check("softmax.b[2]", "failed", says="Is right.", message="Some values differ."),
        strengths=["Shapes: right."], weaknesses=["`softmax` overflows."],
        suggestions=[{"says": "Subtract the maximum.", "command": "learn check softmax"}],
    )  # fmt: skip
    text = feedback_markdown(HEAD, record("ann", flawed, GOOD[1], name="Ann Lee", late=True))

    assert text.startswith("# Feedback for Ann Lee (ann)\n\n**Score: 7.0 of 10**, over 2 of 2 lessons\n"[:40])
    assert "| Softmax | 4.0 of 10 | 1 of 2 |" in text
    assert "> Handed in late." in text
    assert "## Softmax: 4.0 of 10\n\n### What works\n\n- Shapes: right.\n\n### What to work on" in text
    assert "- `softmax` overflows.\n" in text
    assert "1. Subtract the maximum. `learn check softmax`\n" in text
    assert "- ✗ **failed** Is right. (0/4 points, 2 inputs)\n" in text
    assert text.endswith("\n") and "\n\n\n" not in text
    assert "## Attention" not in text and "| Attention | 10.0 of 10 | 1 of 1 |" in text  # what is right is in the table


def test_checks_that_were_not_run_for_one_reason_are_one_line():
    """The reason stands there once, with how many checks it is of."""
    reason = "Not run before this passes: Keeps the shape."
    skipped = [check(f"softmax.s{place}", "skipped", 2.0, reason) for place in range(18)]
    text = feedback_markdown(HEAD, record("ann", lesson("softmax", check("softmax.a", "failed"), *skipped), GOOD[1]))

    assert text.count("Not run before") == 1
    assert f"- · **skipped** 18 checks (0/36 points): {reason}\n" in text


def test_nothing_of_a_submission_becomes_markup():
    """Text of a submission makes no heading, link, image, HTML, list or table, and does not end its block."""
    flawed = lesson(
        "softmax", check("softmax.a", "raised", message=HOSTILE, output=HOSTILE), weaknesses=[HOSTILE],
        output=HOSTILE, notes=[HOSTILE],
        counterexamples=[{"function": "f", "call": HOSTILE, "yours": HOSTILE, "expected": "1"}],
    )  # fmt: skip
    made = record(HOSTILE, flawed, name=HOSTILE, problem=HOSTILE, notes=[HOSTILE])
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(feedback_markdown(HEAD, made))
    every = [*tokens, *(child for token in tokens for child in token.children or ())]
    kinds = {token.type for token in every}
    headings = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]

    assert not kinds & {"link_open", "image", "html_inline", "html_block", "em_open", "hr", "code_block"}
    assert headings[1:] == [
        "Softmax: 1.0 of 10", "What to work on", "Checks", "Smallest failing inputs", "What it printed",
    ]  # fmt: skip
    assert sum(token.type == "table_open" for token in tokens) == 1
    # both lists are ours: one weakness, one check
    assert sum(token.type == "list_item_open" for token in tokens) == 2


@given(st.text(alphabet="`*_[]()<>#-+=.!|~&\\ \n1a/:@$\"'", max_size=30))
def test_any_sentence_is_one_paragraph(text):
    """Whatever its signs are, a sentence in a list and in a heading is text and code, as Markdown is read."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for before in ("- ", "## ", "> ", "1. ", ""):
        tokens = parser.parse(f"{before}{prose(text)}\n")
        inside = {child.type for token in tokens for child in token.children or ()}
        assert inside <= {"text", "code_inline"}, (before, prose(text))
        assert len([token for token in tokens if token.nesting == 1]) <= 3
        assert not {token.type for token in tokens} & {"fence", "code_block", "html_block", "hr", "table_open"}


@given(st.text(max_size=80))
def test_any_text_stays_in_its_place(text):
    """A sentence is one line, a code span has no sign that ends it, and a block ends where it should."""
    span, lines = code(text), block(text)
    fence = re.match(r"`+", span)[0]

    assert "\n" not in prose(text) + span
    assert span.endswith(fence) and fence not in span[len(fence) : -len(fence)]
    assert lines[-1] == lines[0].removesuffix("text")
    assert not any(line.startswith(lines[-1]) for line in lines[1:-1])


# --- Gradescope -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lessons, score", [(GOOD, 50.0), (HALF, 39.0), (MISSING, 50.0), (NOTHING, None), (BROKEN, None)]
)
def test_gradescope_gets_what_it_documents(lessons, score):
    """score x out_of / 10; none at all where the grader failed or nothing was handed in."""
    result = to_gradescope(HEAD, record("ann", *lessons), out_of=50)

    assert_is_gradescope(result)
    assert result.get("score") == score
    if score is None:
        assert not any("score" in test for test in result["tests"])


def test_gradescope_is_told_that_the_grader_failed():
    """Without a score, a text says whose fault it is; a check that we spoiled has neither points nor a status."""
    spoiled = lesson("attention", check("attention.a"), check("attention.b", "grader-error"), state="grader-error")
    result = to_gradescope(HEAD, record("ann", GOOD[0], spoiled))

    assert "not your fault" in result["output"] and "no zero" in result["output"]
    assert "status" not in next(test for test in result["tests"] if "attention.b" in test["name"])


def test_a_lesson_not_handed_in_can_count_as_zero_on_gradescope():
    """There a learner can hand in again, and one lesson of two is half."""
    assert to_gradescope(HEAD, record("ann", *MISSING), missing_as_zero=True)["score"] == 50.0
    assert to_gradescope(HEAD, record("ann", *NOTHING), missing_as_zero=True)["score"] == 0.0
    assert "score" not in to_gradescope(HEAD, record("ann", *BROKEN), missing_as_zero=True)


# --- JUnit ------------------------------------------------------------------------------------------------------------

# The children that junit-10.xsd (Jenkins) and the older one of Ant allow, in the order that the latter asks for.
SUITE_CHILDREN = ["properties", "testcase", "system-out", "system-err"]
SUITE = {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "package", "id"}


def test_junit_is_what_both_schemas_allow():
    """Every suite counts its cases, elements stand in order, and times and numbers are such."""
    outcomes = ("passed", "failed", "raised", "timed-out", "forbidden", "skipped", "grader-error", "crashed")
    every = lesson("softmax", *(check(f"softmax.{name}", name) for name in outcomes), output="a <b> \x00\x1b[1m ]]>")
    records = [record("ann", every, GOOD[1]), record("bob", *MISSING), record("\x07<&\"'\ufffe", *BROKEN)]
    root = ElementTree.fromstring("".join(junit_lines(HEAD, iter(records))).encode())

    assert root.tag == "testsuites" and len(root) == 6
    assert len({suite.get("id") for suite in root}) == 6
    for suite in root:
        order = [SUITE_CHILDREN.index(child.tag) for child in suite]
        assert set(suite.attrib) == SUITE and order == sorted(order)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp"))
        cases = suite.findall("testcase")
        assert len(cases) == int(suite.get("tests")) > 0
        for kind, counted in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert len(suite.findall(f"testcase/{kind}")) == int(suite.get(counted))
        for case in cases:
            assert case.get("classname") and case.get("name") and float(case.get("time")) >= 0
            assert len(case) <= 1
    first = root[0]
    assert (first.get("failures"), first.get("errors"), first.get("skipped")) == ("2", "4", "1")
    assert root[3].find("testcase/skipped") is not None
    assert root[5].find("testcase/error").get("type") == "grader-error"


@given(st.text(max_size=60), st.text(max_size=60))
def test_junit_holds_any_text(name, message):
    """Whatever a name or a message holds, what comes out is XML."""
    made = record(name, lesson("softmax", check("softmax.a", "failed", message=message, says=name), output=message))

    assert ElementTree.fromstring("".join(junit_lines(HEAD, [made])).encode()).tag == "testsuites"


# --- the gradebook ----------------------------------------------------------------------------------------------------


def test_the_gradebook_has_a_line_for_each_submission():
    """Who, which attempt, score, points, then the lessons; a name cannot be a formula; an empty cell is no zero."""
    records = [record("ann@2", *HALF, learner="ann", name="=Ann", attempt=2, late=True), record("bob", *BROKEN)]
    text = "".join([gradebook_head(HEAD["lessons"]), *(gradebook_line(HEAD["lessons"], one) for one in records)])
    lines = list(csv.DictReader(io.StringIO(text)))

    names = ["id", "name", "attempt", "late", "status", "score", "points", "possible", "complete", "missing"]
    assert list(lines[0])[:10] == names
    assert list(lines[0].values())[:10] == ["ann@2", "'=Ann", "2", "yes", "scored", "7.8", "4", "6", "yes", "0"]
    assert (lines[1]["status"], lines[1]["score"]) == ("our fault", "")
    assert (lines[1]["softmax"], lines[1]["attention"], lines[1]["attention state"]) == ("10.0", "", "grader-error")


# --- CSV files of others ----------------------------------------------------------------------------------------------

cells = st.text(alphabet='ab,;"\n\r é\t', max_size=6)


@given(
    st.lists(st.lists(cells, min_size=1, max_size=4), max_size=5), st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
)  # fmt: skip
def test_a_csv_file_is_read_as_python_reads_it_and_written_as_it_was(rows, delimiter, end, quoting, encoding):
    """Any file that Python's csv module writes is read alike; without changes the bytes are the same; a change changes
    its cell alone."""
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows([["x", "y", "z"], *rows])
    content = written.getvalue().encode(encoding)
    sheet = Sheet(content)
    read = list(csv.reader(io.StringIO(written.getvalue(), newline=""), delimiter=delimiter))

    assert [[cell.value for cell in row] for row in sheet.rows] == read
    assert sheet.with_values({}) == content
    changed = Sheet(sheet.with_values({(0, 1): "7,5"}))
    read[0][1] = "7,5"
    assert [[cell.value for cell in row] for row in changed.rows] == read


@pytest.mark.parametrize(
    "content, says",
    [
        (b"PK\x03\x04rest", "not CSV"),
        (b'Student,ID\n"Lee,1\n', "never closed"),
        (b"", "empty"),
        (b"a,b\n", "no gradebook"),
    ],
)
def test_what_is_no_gradebook_is_said(content, says):
    """A spreadsheet's own format, an open quote, an empty file and another CSV file are each refused in words."""
    with pytest.raises(UsageError, match=says):
        fill_canvas(Sheet(content, "g.csv"), [])


# --- who is who -------------------------------------------------------------------------------------------------------


def mark(learner: str, share: float | None = 1.0, name: str = "", **more: Any) -> Mark:
    """Make a mark of this learner."""
    given: dict[str, Any] = {"id": learner, "attempt": 1, "why": ""} | more
    return Mark(given["id"], learner, name, given["attempt"], share, given["why"])


PEOPLE = [
    Person(1, ("11", "S-1", "ada@uni.edu"), "Lovelace, Ada"),
    Person(2, ("12", "S-2", "grace@uni.edu"), "Hopper, Grace Brewster"),
    Person(3, ("13", "S-3", "smith1@uni.edu"), "Smith, John"),
    Person(4, ("14", "S-4", "smith2@uni.edu"), "Smith, John"),
    Person(5, ("15", "S-5", "müller@uni.edu"), "Müller, José"),
]


@pytest.mark.parametrize(
    "learner, name, row",
    [
        ("11", "", 1), ("S-1", "", 1), ("s-1", "", 1), ("ADA@uni.edu", "", 1), ("ada", "", 1),
        ("Ada Lovelace", "", 1), ("lovelaceada", "", 1), ("x9", "Ada Lovelace", 1), ("ada_lovelace", "", 1),
        ("hoppergracebrewster", "", 2), ("smith1", "", 3), ("14", "smithjohn", 4), ("jose muller", "", 5),
    ],
)  # fmt: skip
def test_people_are_found_by_what_both_know(learner, name, row):
    """By the platform's number, the school's, the login, the address or the part before its @, and by name."""
    assert match(PEOPLE, [mark(learner, name=name)]).pairs.keys() == {row}


@pytest.mark.parametrize("learner, name", [("John Smith", ""), ("smithjohn", ""), ("11", "Grace Hopper")])
def test_nobody_is_guessed(learner, name):
    """Two people of one name, and a number that is another's, are ambiguous: nothing is filled in."""
    joined = match(PEOPLE, [mark(learner, name=name)])

    assert not joined.pairs and len(joined.ambiguous) == 1 and not joined.unknown


def test_a_part_of_a_name_is_nobody():
    """A first name alone, or an id that is in another, finds nobody."""
    assert len(match(PEOPLE, [mark("John"), mark("1"), mark("Lovelace")]).unknown) == 3


def test_two_submissions_of_one_person_are_ambiguous():
    """Unless they are attempts of one learner, of which the last counts."""
    joined = match(
        PEOPLE, [mark("11"), mark("ada@uni.edu"), mark("12", id="12@1"), mark("12", 0.5, id="12@2", attempt=2)]
    )

    assert {row: found.id for row, found in joined.pairs.items()} == {2: "12@2"}
    assert [found.id for found, _ in joined.ambiguous] == ["11", "ada@uni.edu"]
    assert [found.id for found in joined.older] == ["12@1"]


# --- from records to shares -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lessons, rule, share, why",
    [
        (HALF, Rule(scale="score"), 0.78, ""),
        (HALF, Rule(), 0.75, ""),
        (HALF, Rule("softmax", "score"), 0.55, ""),
        (HALF, Rule("softmax", "points"), 0.5, ""),
        (HALF, Rule(scale="points"), 0.75, ""),
        (MISSING, Rule(), None, "without attention"),
        (MISSING, Rule("attention"), None, NOT_HANDED_IN),
        (MISSING, Rule(missing_as_zero=True), 0.5, ""),
        (MISSING, Rule("attention", missing_as_zero=True), 0.0, ""),
        (NOTHING, Rule(), None, NOT_HANDED_IN),
        (BROKEN, Rule(), None, GRADER_FAILED),
        (BROKEN, Rule("attention", missing_as_zero=True), None, GRADER_FAILED),
        (BROKEN, Rule(missing_as_zero=True, scale="points"), None, GRADER_FAILED),
        (BROKEN, Rule("softmax"), 1.0, ""),
    ],
)
def test_a_score_becomes_a_share_and_nothing_a_zero(lessons, rule, share, why):
    """score / 10, or points; what was not handed in is a zero on demand, what the grader spoiled never is."""
    (found,) = make_marks([record("ann", *lessons)], rule)

    assert (found.share, found.why) == (pytest.approx(share) if share is not None else None, why)


@pytest.mark.parametrize("rule", [Rule(), Rule("softmax"), Rule(missing_as_zero=True)])
def test_work_that_could_not_be_read_is_never_a_zero(rule):
    """It was handed in: the instructor is told why it could not be read, and it has no share, not even on demand."""
    unread = record("ann", *NOTHING, problem="The archive is damaged.")
    (found,) = make_marks([unread], rule)

    assert (found.share, found.why) == (None, f"{NOT_READ}: The archive is damaged.")
    assert to_gradescope(HEAD, unread, missing_as_zero=True)["score"] == 0  # there it can be handed in again at once


def test_a_humans_score_makes_no_zero_of_the_unread_rest():
    """Who gives one lesson of a damaged archive a score has not read the others: there is no mark, even as zero."""
    unread = replace(
        record("ann", *MISSING, problem="hw.zip is damaged"),
        overrides={"softmax": Override(10.0, "read it", "", "", "")},
    )

    assert make_marks([unread], Rule(missing_as_zero=True))[0].why == f"{NOT_READ}: hw.zip is damaged"
    assert make_marks([unread], Rule("softmax"))[0].share == 1.0


def test_what_counts_as_zero_is_told():
    """By its lessons, or as a person who handed nothing in; elsewhere nothing is said."""
    marks = make_marks([record("ann", *MISSING)], Rule(missing_as_zero=True), [{"id": "bob"}])

    assert [one.zeros for one in marks] == [("attention",), ("nothing handed in",)]
    filled = fill_canvas(canvas("Student,ID,Homework (7)\nAnn,ann,\nBob,bob,\n"), marks)
    assert filled.zeros == [("Ann", "attention"), ("Bob", "nothing handed in")]
    assert filled.to_object()["zeros"][0] == {"who": "Ann", "lessons": "attention"}
    assert make_marks([record("ann", *HALF)], Rule(missing_as_zero=True))[0].zeros == ()


def test_a_group_has_one_mark_each():
    """Those who handed in together get the mark, unless they have one of their own."""
    marks = make_marks([record("ann", *HALF, together=["bob", "cy"]), record("cy")], Rule(scale="score"))

    assert [(mark.learner, mark.share) for mark in marks] == [("ann", 0.78), ("cy", 1.0), ("bob", 0.78)]


def test_a_group_has_no_mark_for_whose_own_hand_in_may_wait():
    """Until a run is finished, a member without a result may have one of their own to come."""
    marks = make_marks([record("ann", *HALF, together=["bob"])], Rule(), finished=False)

    assert [mark.learner for mark in marks] == ["ann"]


def test_the_roster_says_who_handed_in_nothing():
    """Its entries without a hand-in have no share, and zero on demand."""
    missing = [{"id": "zoe", "name": "Zoe Z"}]

    assert make_marks([], Rule(), missing)[0].share is None
    assert make_marks([], Rule(missing_as_zero=True), missing)[0].share == 0.0


# --- Canvas -----------------------------------------------------------------------------------------------------------

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Softmax (101),Attention (102),HW Final Score,Final Score\r\n"
    ',,,,,Manual Posting,,,\r\n'
    '"    Points Possible",,,,,10.00,50.00,(read only),(read only)\r\n'
    '"Lovelace, Ada",11,S-1,ada,"CS 7, A",,40.00,80.0,80.0\r\n'
    '"Hopper, Grace",12,=1+1,grace,CS 7,"8.00",,,\r\n'
    '"Smith, John",13,S-3,smith1,CS 7,,,,\r\n'
    '"Smith, John",14,S-4,smith2,CS 7,,EX,,\r\n'
    '"Zuse, Konrad",15,S-5,zuse,CS 7,,N/A,,\r\n'
    '"Student, Test",99,,abc123,CS 7,,,,\r\n'
)  # fmt: skip


def canvas(text: str = CANVAS) -> Sheet:
    """Read the export as it comes."""
    return Sheet(text.encode(), "grades.csv")


def test_canvas_gets_its_file_back_with_one_column_changed():
    """By number, login or name, scaled to the points possible; every other byte is as it was."""
    marks = [mark("11", 0.5), mark("grace", 1.0), mark("15", 1.0), mark("14", 0.2), mark("nobody", 1.0)]
    filled = fill_canvas(canvas(), marks, assignment="attention")
    expected = CANVAS.replace('A",,40.00,', 'A",,25.00,').replace('"8.00",,', '"8.00",50.00,')

    assert filled.content == expected.encode()
    assert (filled.column, filled.out_of, filled.filled) == ("Attention (102)", [50.0], 1)
    assert filled.replaced == [("Lovelace, Ada", "40.00", "25.00")]
    assert filled.left == [("Smith, John", "excused"), ("Zuse, Konrad", "the assignment is not for them")]
    assert filled.not_in_file == ["nobody"] and filled.not_in_results == ["Smith, John"]


def test_a_quoted_cell_stays_quoted_and_an_equal_grade_as_it_is():
    """The style of a cell is kept; 8 and 8.00 are one grade, and --keep leaves any grade alone."""
    changed = fill_canvas(canvas(), [mark("grace", 0.5)], assignment="Softmax (101)")
    same = fill_canvas(canvas(), [mark("grace", 0.8)], assignment="101")
    kept = fill_canvas(canvas(), [mark("grace", 0.5), mark("11", 0.5)], assignment="Softmax", keep=True)

    assert changed.content == CANVAS.replace('"8.00"', '"5.00"').encode()
    assert same.content == CANVAS.encode() and same.unchanged == 1
    assert kept.left == [("Hopper, Grace", "there is a grade already: 8.00")] and kept.filled == 1


def test_canvas_without_a_named_column():
    """A column called as the lesson is taken; where nothing says which, they are listed."""
    assert fill_canvas(canvas(), [mark("11")], guesses=["softmax"]).column == "Softmax (101)"
    with pytest.raises(UsageError, match=r'several columns to fill in: "Softmax \(101\)", "Attention \(102\)"\n'):
        fill_canvas(canvas(), [mark("11")])
    with pytest.raises(UsageError, match='no column "Final Score" to fill in; there is: "Softmax'):
        fill_canvas(canvas(), [mark("11")], assignment="Final Score")


@pytest.mark.parametrize("worth", ["-10.00", "ten", "1 000", "1,000.00", "inf", "nan", "1000001", 20 * "9"])
def test_a_maximum_that_is_no_number_of_points_is_told(worth):
    """Marks out of -10 would be negative, and out of ten would be out of 100; `--out-of` says what is meant."""
    text = CANVAS.replace("10.00,50.00", f'"{worth}",50.00')
    with pytest.raises(UsageError, match=f'the maximum is "{worth}", which is no number of points') as error:
        fill_canvas(canvas(text), [mark("11")], assignment="Softmax")
    assert "--out-of" in str(error.value.next_step)
    assert fill_canvas(canvas(text), [mark("11")], assignment="Softmax", out_of=20).out_of == [20]


def test_canvas_in_another_country():
    """Semicolons, decimal commas and columns for last and first name."""
    text = "LastName;FirstName;ID;SIS Login ID;Section;HW (1)\n    Points Possible;;;;;20,00\nLovelace;Ada;11;ada;A;\n"
    filled = fill_canvas(canvas(text), [mark("x", 0.5, "Ada Lovelace")])

    assert filled.content == text.replace("ada;A;", "ada;A;10,00").encode()


def test_nobody_found_is_an_error_and_the_test_student_is_nobody():
    """Where no mark fits anybody, nothing is written; Canvas's test student is never filled in."""
    with pytest.raises(UsageError, match="nobody in this file has results") as error:
        fill_canvas(canvas(), [mark("99"), mark("Test Student")], assignment="Softmax")
    assert "--match-by" in error.value.next_step


def test_people_can_be_matched_by_one_column():
    """--match-by takes one column for the ids, whatever it is called."""
    text = CANVAS.replace("SIS User ID", "Tag")

    assert fill_canvas(canvas(text), [mark("S-1")], assignment="101", match_by="tag").filled == 1
    with pytest.raises(UsageError, match='no column "Badge"'):
        fill_canvas(canvas(text), [mark("S-1")], assignment="101", match_by="Badge")


# --- Moodle -----------------------------------------------------------------------------------------------------------

WORKSHEET = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 501","Ada Lovelace",ada@uni.edu,"Submitted for grading",,20.00,Yes,"Sunday, 1 March, 9:00 AM",-,\n'
    '"Participant 502","Grace Hopper",grace@uni.edu,"Submitted for grading",7.00,20.00,Yes,-,-,"<p>Good, ""so""</p>"\n'
    '"Participant 503","Konrad Zuse",zuse@uni.edu,"No submission",,20.00,No,-,-,\n'
)  # fmt: skip


def moodle(text: str) -> Sheet:
    """Read the file as it comes."""
    return Sheet(text.encode(), "worksheet.csv")


def test_moodle_gets_its_worksheet_back():
    """By participant's number (which is in the files' names), address or name, scaled to the maximum grade."""
    marks = [mark("501", 0.5, "Ada Lovelace"), mark("grace@uni.edu", 1.0), mark("Konrad Zuse", 1.0)]
    filled = fill_moodle(moodle(WORKSHEET), marks)
    expected = WORKSHEET.replace('grading",,20.00', 'grading",10.00,20.00').replace("7.00,20.00", "20.00,20.00")

    assert filled.content == expected.encode()
    assert filled.replaced == [("Grace Hopper", "7.00", "20.00")]
    assert filled.left == [("Konrad Zuse", "Moodle says that its grade cannot be changed")]


def test_moodles_learners_read_what_to_work_on():
    """The comment is made of what a learner may see, all of it as text; a human's own is left alone."""
    made = replace(record("501", *GOOD), problem="<script>alert(1)</script> =1+1 `x`", feedback="x")
    (own,) = make_marks([made], Rule())
    grace = replace(own, id="502", learner="502", name="")
    filled = fill_moodle(moodle(WORKSHEET), [own, grace])
    again = fill_moodle(moodle(filled.content.decode()), [own, grace])
    cell = next(csv.DictReader(io.StringIO(filled.content.decode())))["Feedback comments"]

    assert (filled.comments, filled.own_comments, again.comments) == (1, ["Grace Hopper"], 0)
    assert cell.startswith("<div") and "&lt;script&gt;" in cell and "<code>x</code>" in cell and "<script" not in cell
    assert "=1" not in cell[:5] and '"<p>Good, ""so""</p>"' in filled.content.decode()


def test_moodle_with_decimal_commas_and_other_languages():
    """Headings of another language: the number behind one word and the addresses are found, the column is named."""
    text = (
        'ID,"Vollständiger Name",E-Mail,Status,Bewertung,Bestwertung\n'
        '"Teilnehmer/in501","Ada Lovelace",ada@uni.edu,Abgegeben,,"20,00"\n'
        '"Teilnehmer/in502","Grace Hopper",grace@uni.edu,Abgegeben,"7,50","20,00"\n'
    )
    filled = fill_moodle(moodle(text), [mark("501", 0.5), mark("grace", 0.25)], assignment="Bewertung", out_of=20)
    lines = filled.content.decode().splitlines()

    assert lines[1].endswith('Abgegeben,"10,00","20,00"') and lines[2].endswith('Abgegeben,"5,00","20,00"')


@pytest.mark.parametrize("own, elsewhere, written", [
    ("10;", "7,50", "6,67"), ("10;8,5", "7.50", "6,67"), ("10;8.5", "7,50", "6.67"), ("10;", "7.50", "6.67"),
    ("10;", "", "6.67"),
])  # fmt: skip
def test_a_column_without_decimals_has_the_comma_of_its_file(own, elsewhere, written):
    """In a file of semicolons other columns tell how decimals are written, where the column itself has none."""
    head = "Student;ID;SIS Login ID;Section;HW (1);Other (2)\n"
    points, grade = own.split(";")
    text = f"{head}    Points Possible;;;;{points};10\nAda;11;ada;s;;\nBob;12;bob;s;{grade};{elsewhere}\n"
    filled = fill_canvas(canvas(text), [mark("11", 2 / 3)], assignment="HW")

    assert f"Ada;11;ada;s;{written};" in filled.content.decode()


def test_moodles_gradebook_export():
    """The activity's column is found by its name; "-" is no grade; feedback and percentages are not filled in."""
    text = (
        '"First name","Last name","ID number","Email address","Assignment: Masks (Real)",'
        '"Assignment: Masks (Feedback)","Assignment: Masks (Percentage)","Course total (Real)",'
        '"Last downloaded from this course"\r\n'
        "Ada,Lovelace,S-1,ada@uni.edu,-,,-,-,1772000000\r\n"
        "Grace,Hopper,S-2,grace@uni.edu,50.00,,50.00 %,50.00,1772000000\r\n"
    )
    filled = fill_moodle(moodle(text), [mark("S-1", 0.5), mark("Hopper Grace", 0.5)], assignment="masks")

    assert filled.content == text.replace("ada@uni.edu,-", "ada@uni.edu,50.00").encode()
    assert (filled.filled, filled.unchanged, filled.column) == (1, 1, "Assignment: Masks (Real)")


@pytest.mark.parametrize("kind", ["export", "worksheet"])
def test_only_a_participant_has_the_number_of_one(kind):
    """A user name that ends in another's number gives nobody that one's mark, whatever their names have in common."""
    text = {
        "export": "Username,First name,Last name,Assignment: Masks (Real)\nx1003,Mallory,Leeson,-\nann,Ann,Lee,-\n",
        "worksheet": "Identifier,Full name,Username,Grade,Maximum grade\n"
        "Participant 1009,Mallory Leeson,x1003,-,100\nParticipant 1003,Ann Lee,ann,-,100\n",
    }[kind]
    filled = fill_moodle(moodle(text), [mark("1003", 0.5, "Ann Lee")], assignment="masks" if kind == "export" else "")

    assert (filled.filled, filled.content.decode()) == (1, re.sub(r"(Lee,.*?)-", r"\g<1>50.00", text))


def test_part_of_a_word_is_no_name_in_common():
    """Lee is not Leeson; Canvas's `lovelaceada` is Ada Lovelace, and one name may have words that another lacks."""
    one = [Person(1, ("7",), "Mallory Leeson"), Person(2, ("8",), "Ada King Lovelace"), Person(3, ("9",), "Ann Lee")]
    found = match(one, [mark("7", name="Ann Lee"), mark("8", name="lovelaceada"), mark("9", name="Ann")])

    assert set(found.pairs) == {2, 3} and [each.id for each, _ in found.ambiguous] == ["7"]


def test_a_scale_takes_no_points():
    """An assignment that Moodle grades on a scale is refused in words."""
    text = "Identifier,Full name,Status,Grade,Scale\nParticipant 1,Ada,x,,Good\n"

    with pytest.raises(UsageError, match="scale"):
        fill_moodle(moodle(text), [mark("1")])


# --- the command ------------------------------------------------------------------------------------------------------


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """`grader ARGUMENTS` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from grader.cli.grader.group import main; main()", *map(str, arguments)],
        capture_output=True, text=True, timeout=60, check=False, **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A small class, graded for real: ada all right, grace wrong in one lesson, konrad with one lesson only."""
    folder = tmp_path_factory.mktemp("class")
    whole = {f"ada/{name}.py": text for name, text in ANSWERS.items()}
    wrong = {"grace/moving_average.py": SUMS, "grace/argmax_2d.py": ANSWERS["argmax_2d"]}
    write(folder / "in", {**whole, **wrong, "zuse/argmax_2d.py": ANSWERS["argmax_2d"]})
    done = run("run", folder / "in", "--out", folder / "out", "--seed", 7, "--jobs", 1, "--course", TINY)
    assert done.returncode == 0, done.stderr
    return folder / "out"


def test_the_whole_way_into_canvas(results, tmp_path):
    """`grader export` fills in the file, says what it did and what to do next, and keeps what was exported."""
    (tmp_path / "grades.csv").write_bytes(CANVAS.encode())
    done = run(
        "export", results, "--canvas", "grades.csv", "--assignment", "Attention", "--out", "up.csv", cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    assert "under Attention (102), a 10.0 being worth 50 points" in done.stdout
    assert "Lovelace, Ada: 40.00, now 50.00" in done.stdout and "without moving_average" in done.stdout
    assert "in Canvas: Grades, Import" in done.stdout
    assert b'"CS 7, A",,50.00,' in (tmp_path / "up.csv").read_bytes()
    assert (tmp_path / "grades.csv").read_bytes() == CANVAS.encode()


def test_export_prints_one_object(results, tmp_path):
    """--json says the same; --lesson takes one lesson, for which nobody lacks anything."""
    (tmp_path / "w.csv").write_bytes(WORKSHEET.replace(",No,", ",Yes,").encode())
    done = run(
        "export", results, "--moodle", "w.csv", "--lesson", "argmax_2d", "--out", "up.csv", "--json", cwd=tmp_path
    )
    told = json.loads(done.stdout)

    assert (told["column"], told["filled"], told["left"], told["not_in_file"]) == ("Grade", 2, [], [])
    assert told["replaced"] == [{"who": "Grace Hopper", "before": "7.00", "now": "20.00"}]


def test_what_cannot_be_read_is_told_to_all(tmp_path):
    """A learner whose file is no UTF-8 learns why and what to do; a damaged archive is not exported as not handed in;
    and the next lesson that is suggested is one of those that are graded."""
    (tmp_path / "in/ada").mkdir(parents=True)
    (tmp_path / "in/ada/moving_average.py").write_bytes(b"# caf\xe9\n")
    (tmp_path / "in/grace.zip").write_bytes(b"PK\x03\x04 damaged")
    write(tmp_path / "in", {"zuse/moving_average.py": ANSWERS["moving_average"]})
    words = ("--out", tmp_path / "out", "--jobs", 1, *ON_TRUST, "--lessons", "moving_average")
    done = run("run", tmp_path / "in", *words, "--course", TINY)
    assert done.returncode == 0, done.stderr

    text = (tmp_path / "out/feedback/ada.md").read_text()
    assert "Your file cannot be read: the file is not UTF-8 text: byte 0xe9 at offset 5, line 1." in text
    assert "1. Save the file as UTF-8 in your editor." in text
    assert "Python cannot read the file" not in (tmp_path / "out/report.html").read_text()
    assert "argmax_2d" not in (tmp_path / "out/feedback/zuse.md").read_text()
    _, records = read_results(tmp_path / "out")
    why = {mark.id: (mark.share, mark.why) for mark in make_marks(records, Rule(missing_as_zero=True))}
    assert why["grace"][0] is None and why["grace"][1].startswith(NOT_READ)


@pytest.mark.parametrize("rule, says", [
    ("weights = {attenton = 3}", '"attenton" has a weight and is none of the lessons'), ("best = 90", '"best" is 90'),
])  # fmt: skip
def test_a_rule_that_fits_no_lesson_is_refused(rule, says, results, tmp_path):
    """A misspelt weight changes a whole class's marks: it is refused without the key `lessons`, too."""
    (tmp_path / "grades.csv").write_bytes(CANVAS.encode())
    (tmp_path / "hw.toml").write_text(f'out = "{results}"\n{rule}\n')
    done = run("export", "hw.toml", "--canvas", "grades.csv", "--out", "up.csv", cwd=tmp_path)

    assert done.returncode == 2 and says in done.stderr and not (tmp_path / "up.csv").exists()


def test_an_unfinished_run_is_said_to_be_one(results, tmp_path):
    """What was not graded yet is told of, and never made a zero: --missing-as-zero is refused with the way to go on."""
    out = tmp_path / "out"
    shutil.copytree(results, out)
    store = ClassStore(next(out.glob("*.sqlite")))
    store.keep_facts(expected=[*store.facts()["expected"], "late"])
    store.close()
    (tmp_path / "grades.csv").write_bytes(CANVAS.encode())
    words = ("export", out, "--canvas", "grades.csv", "--assignment", "Attention", "--out", "up.csv")
    refused = run(*words, "--missing-as-zero", cwd=tmp_path)
    assert refused.returncode == 2 and "--resume" in refused.stderr and not (tmp_path / "up.csv").exists()

    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0 and "not finished" in done.stderr
    assert json.loads(run(*words, "--force", "--json", cwd=tmp_path).stdout)["unfinished"] != 0

    returned = run("return", out, "--folder", "--out", tmp_path / "pages")
    assert returned.returncode == 0 and "feedback is not in it" in returned.stderr.replace("\n", " ")
    again = run("return", out, "--folder", "--out", tmp_path / "pages", "--force", "--json")
    assert json.loads(again.stdout)["unfinished"] == 1


@pytest.mark.parametrize(
    "arguments, says",
    [
        ((), "name one gradebook file"),
        (("--canvas", "none.csv"), "cannot be read"),
        (("--canvas", "grades.csv", "--lesson", "softmax"), 'no lesson "softmax"'),
        (("--canvas", "up.csv"), "kept as it is"),
    ],
)
def test_wrong_usage_is_said_before_anything_is_written(arguments, says, results, tmp_path):
    """Exit status 2, one sentence, what to do, and no file."""
    (tmp_path / "grades.csv").write_bytes(CANVAS.encode())
    done = run("export", results, *arguments, "--out", "up.csv", cwd=tmp_path)

    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "up.csv").exists()
