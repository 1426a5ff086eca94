"""grader.reports.pages.feedback_page: one learner's page."""

from __future__ import annotations

import re
from random import Random

import pytest
from support.class_results import LESSONS, hostile_class, made_before, made_head, made_record
from support.read_page import Page

from grader.record import Record
from grader.reports.formats.to_markdown import feedback_markdown
from grader.reports.pages.feedback_page import feedback_page
from grader.reports.redact_record import redact


def as_record(record) -> Record:
    """Return a record that is given as such or as JSON."""
    return record if isinstance(record, Record) else Record.from_json(record)


def page(record, **more) -> Page:
    """Make the page of a record and read it."""
    return Page(feedback_page(made_head(**more), as_record(record)))


@pytest.fixture
def record():
    """Make a learner with one mistake that has a name, one weakness that has none, and a lesson not handed in."""
    made = made_record(Random(3), "ada", "Ada Kim")
    for lesson in made["lessons"].values():
        lesson |= {"state": "graded", "score": 10.0, "passed": True, "mistakes": [], "weaknesses": [], "output": ""}
        for check in lesson["checks"]:
            check |= {"outcome": "passed", "earned": check["points"], "message": ""}
    softmax, attention = made["lessons"]["softmax"], made["lessons"]["attention"]
    softmax |= {
        "score": 6.4, "passed": False, "output": "my print\n",
        "mistakes": [{"id": "sm-no-max", "function": "softmax", "says": "You take `exp` as is.", "suggests": "No."}],
        "weaknesses": ["You take `exp` as is.", "`softmax`: Wrong on one row.\nValueError: no\n  ada/softmax.py:7"],
        "counterexamples": [{"function": "softmax", "call": "softmax(1e9)", "yours": "nan", "expected": "1.0"}],
        "suggestions": [{"says": "Take the next hint.", "command": "learn hint softmax"}],
    }  # fmt: skip
    for check, outcome in zip(softmax["checks"][-4:], ("failed", "raised", "timed-out", "skipped"), strict=True):
        check |= {"outcome": outcome, "earned": 0.0, "message": f"Got 1.\nAsked: softmax({outcome})"}
    attention |= {"state": "missing", "score": None, "passed": False, "checks": [], "strengths": []}
    return made | {"score": 9.4, "complete": False, "notes": ["torch.py beside your file is ignored."]}


def test_the_page_is_safe_and_whole(record):
    """One file with our style and nothing else: no script at all, no address but its own sections."""
    found = page(record)

    assert not found.all("script") and all(link.startswith("#") for link in found.values("href"))
    assert found.unbalanced == [] and len(found.raw["style"]) == 1
    assert len(found.values("id")) == len(set(found.values("id")))
    assert "Feedback for Ada Kim (ada)" in found.text


def test_hostile_records_stay_text():
    """Every field a learner can fill comes out as text; nothing opens, loads or runs."""
    head, records = hostile_class()
    for record in records:
        found = Page(feedback_page(head, Record.from_json(record)))
        names = {name for _, attributes in found.tags for name in attributes}
        assert not {tag for tag, _ in found.tags} & {"script", "img", "iframe"}
        assert not {name for name in names if name.startswith("on")}
        assert found.unbalanced == [] and found.source.encode()
        assert all(re.fullmatch(r"#[\w-]+", link) for link in found.values("href"))


def test_the_head_says_how_far_the_work_is(record):
    """The score, how many lessons pass, and what was not handed in."""
    assert "9.4 of 10. 5 of 7 lessons pass every check; 1 was not handed in." in page(record).text
    assert "torch.py beside your file is ignored." in page(record).text


def test_of_one_lesson_the_head_says_that_it_does_not_pass(record):
    """The verb is that of one lesson."""
    one = record | {"lessons": {"softmax": record["lessons"]["softmax"] | {"passed": False}}}
    assert "0 of 1 lesson passes every check." in page(one).text


def test_the_formula_of_a_score_is_said(record):
    """Above the scores stands how one is made: an untouched stub has 1.0, and none of the points."""
    assert "A score is 1 + 9 × the share of the points earned" in page(record).text


def test_work_that_could_not_be_read_is_not_called_missing(record):
    """The page and the Markdown say that it was not read, and what to hand in; not that nothing was handed in."""
    for lesson in record["lessons"].values():
        lesson |= {"state": "missing", "score": None, "checks": []}
    record |= {"score": None, "problem": "The archive is damaged.", "states": {"missing": len(record["lessons"])}}
    text = page(record).text
    assert "No score. What you handed in could not be read. Hand it in again" in text and "not handed in" not in text
    written = feedback_markdown(made_head(), Record.from_json(record))
    assert "| no score | not read |" in written and "Hand it in again" in written
    assert "missing" not in written and "not handed in" not in written.lower()


def test_the_named_mistake_comes_first_and_once(record):
    """In the lesson: the mistake with what helps, then the weakness with its error, each once."""
    found = page(record)
    lesson = found.text[found.text.index("softmax 6.4 of 10") :]

    assert lesson.index("You take exp as is. [sm-no-max] No.") < lesson.index("softmax: Wrong on one row.")
    assert lesson.count("You take exp as is.") == 1
    assert "ValueError: no ada/softmax.py:7" in lesson


def test_checks_that_failed_stand_with_their_message(record):
    """Outcome in words, sentence and message; what passed and what was not run is folded away, and counted."""
    found = page(record)

    assert "failed: Works for other sizes" in found.text and "timed out: " in found.text
    assert "Got 1. Asked: softmax(failed)" in found.text
    assert re.search(r"\d+ checks passed, 1 not run", found.text)
    assert "call softmax(1e9) yours nan expected 1.0" in found.text
    assert "my print" in found.text and "Take the next hint. learn hint softmax" in found.text


def test_lessons_that_pass_take_a_line(record):
    """What is right has its row and no section, and neither has what is missing."""
    found = page(record)

    assert [section["id"] for section in found.all("section") if "id" in section] == ["softmax"]
    assert found.text.count("All right.") == 5 and "not handed in" in found.text


def test_ids_of_checks_show_no_input(record):
    """What a hidden check asks stands in its id: learners get a number in its place, another for each input."""
    checks = record["lessons"]["softmax"]["checks"]
    for check, id in zip(checks, ("scale[48]", "scale[1000.0]", "shape"), strict=False):
        check["id"] = f"softmax.{id}"
    given = redact(Record.from_json(record)).lessons["softmax"].checks

    assert [check.id for check in given[:3]] == ["softmax.scale[1]", "softmax.scale[2]", "softmax.shape"]


def test_what_is_concealed_is_not_there(record):
    """Of a concealed record nothing that shows an input comes through: no message, print, counterexample or seed."""
    found = page(redact(Record.from_json(record)))

    for text in ("Asked:", "my print", "softmax(1e9)", "seed 20261", "ValueError"):
        assert text not in found.text
    assert "You take exp as is." in found.text and "seed 20261" in page(record).text


def test_a_regrade_shows_the_score_before(record):
    """The old score beside the new one, of the whole and of the lesson."""
    found = page(record | {"previous": made_before(record)})

    assert "(before: " in found.text and "6.4 of 10 before: 1.0" in found.text


def test_states_are_said_in_words_and_nothing_is_a_zero():
    """Not loaded, missing, or the grader's own fault: a sentence, and no score where there is none."""
    record = made_record(Random(3), "ada", "Ada")
    states = ("would-not-import", "missing", "timed-out", "out-of-memory", "crashed", "grader-error", "graded")
    for lesson, state in zip(record["lessons"].values(), states, strict=True):
        scoreless = state in ("missing", "grader-error")
        lesson |= {"state": state, "passed": False, "score": None if scoreless else 1.0}
    found = page(record)

    assert "could not be loaded" in found.text and "That is not your fault and costs no points." in found.text
    assert found.text.count("no score") == 1
    assert len(found.all("section")) == len(LESSONS)


def test_much_output_is_cut_and_said_so(record):
    """A message of a thousand lines shows its first, and how many more there are."""
    record["lessons"]["softmax"]["checks"][-4]["message"] = "\n".join(f"line {number}" for number in range(1000))
    record["lessons"]["softmax"]["output"] = "x" * 50_000
    found = page(record)

    assert "line 11 ... 988 more lines" in found.text
    assert len(found.source) < 60_000


def test_all_right_is_said_so():
    """A learner whose every check passes is told that, and gets no section to mend."""
    record = made_record(Random(3), "ada", "Ada")
    for lesson in record["lessons"].values():
        lesson |= {"state": "graded", "score": 10.0, "passed": True, "mistakes": [], "weaknesses": []}
    found = page(record | {"score": 10.0})

    assert "10.0 of 10. Every check of every lesson passes. Well done!" in found.text
    assert len(found.all("section")) == 1
