"""An assignment's file: its options, what counts, and what is deducted for late work."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.batch.assignment.assignment_file import read_assignment
from grader.errors import UsageError
from grader.intake.discover import discover
from grader.intake.name_patterns import NamePattern
from grader.model import CheckResult, LessonResult
from grader.record import Record
from grader.reports.gradebook.csv_sheet import Sheet
from grader.reports.gradebook.late import DAY, NOT_KNOWN, TIME_UNKNOWN, LateRule
from grader.reports.gradebook.marks import Mark, Rule, make_marks
from grader.reports.gradebook.moodle import fill_moodle
from grader.reports.gradebook.read_time import read_time

WHOLE = """names = "canvas"
lessons = ["softmax", "attention"]
seed = 0
out = "results"
weights = {attention = 3}
best = 1
missing = "exclude"
scale = "points"
out_of = 20

[late]
due = 2026-11-20T23:59:00+01:00
grace = "15m"
per_day = 0.1
at_most = 0.5
extensions = "more-time.csv"

[export]
canvas = "Grades.csv"
assignment = "Homework 1"
"""  # test_what_is_wrong_is_said_with_its_line counts its lines


def written(folder: Path, text: str = WHOLE) -> Path:
    (folder / "more-time.csv").write_text("id,due\nAnn,2026-11-25\n")
    path = folder / "hw1.toml"
    path.write_text(text)
    return path


def test_all_of_it_is_read(tmp_path):
    """Options are those of the commands, paths begin at the file's folder, times are times."""
    found = read_assignment(written(tmp_path))

    assert found.run == {"names": "canvas", "lessons": "softmax,attention", "seed": 0, "out": tmp_path / "results"}
    assert found.course is None
    assert found.export == {"canvas": tmp_path / "Grades.csv", "assignment": "Homework 1"}
    assert found.rule["weights"] == {"attention": 3.0} and found.rule["best"] == 1
    assert (
        found.late.due == 1795215540.0
        and found.late.grace == 900
        and [one.who for one in found.late.extensions] == ["Ann"]
    )
    other = read_assignment(written(tmp_path, 'names = "moodle"\ncourse = "ours/nn"'))
    assert other.late is None and other.course == tmp_path / "ours/nn"


@pytest.mark.parametrize("was, now, says, line", [
    ('names = "canvas"', 'nmaes = "canvas"', 'did you mean "names"', 1),
    ("seed = 0", "seed = true", "whole number", 3),
    ("{attention = 3}", "{block = 3}", "none of the lessons", 5),
    ("{attention = 3}", "{attention = -1}", "from 0.000001 to", 5),
    ("{attention = 3}", "{attention = 5e-324}", "from 0.000001 to", 5),
    ("[export]", '[export]\nout = "~/.bashrc"', "name of a CSV file", 19),
    ("best = 1", "best = 3", "there are 2 lessons", 6),
    ('"exclude"', '"ignore"', "zero or exclude", 7),
    ("due = 2026-11-20T23:59:00+01:00", 'due = "soon"', "must be a time", 12),
    ("due = 2026-11-20T23:59:00+01:00", "", "must be a time", 11),
    ('"15m"', '"15 parsecs"', "must be a time such as", 13),
    ("per_day", "perday", 'did you mean "per_day"', 14),
    ("0.1", "10", "share of the points", 14),
    ("[export]", "[exports]", 'did you mean "export"', 18),
    ("out_of = 20", "out_of = ", "not valid TOML", 9),
    ("out_of = 20", "out_of = 1e308", "at most 1000000", 9),
    ('"results"', '"a\\u0000b"', "is no path", 4),
])  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path, was, now, says, line):
    """The file, the line, and the key that was meant."""
    with pytest.raises(UsageError, match=says) as error:
        read_assignment(written(tmp_path, WHOLE.replace(was, now)))
    assert error.value.where == f"{tmp_path / 'hw1.toml'}:{line}"


@pytest.mark.parametrize("value", ["9" * 9000, "[" * 9000], ids=["digits", "lists"])
def test_what_no_parser_takes_is_said(tmp_path, value):
    """A number of thousands of digits and lists in lists are the file's fault, and not ours."""
    with pytest.raises(UsageError, match=r"nested too deeply|not valid TOML") as error:
        read_assignment(written(tmp_path, f"out_of = {value}"))
    assert error.value.where.startswith(str(tmp_path / "hw1.toml"))


@pytest.mark.parametrize(("content", "says"), [(None, "is missing"), ("folder", "cannot be read"), (b"\xff", "UTF-8")])
def test_a_file_that_cannot_be_read_is_no_fault_of_the_course(tmp_path, content, says):
    """A wrong path, a folder and another encoding are said of the assignment's file; no audit of a course helps."""
    path = tmp_path / "hw1.toml"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=f"the assignment's file .*{says}") as error:
        read_assignment(path)
    assert error.value.where.startswith(str(path)) and "audit" not in error.value.next_step


def test_a_folder_of_nobody_is_a_name(tmp_path):
    """~nobody-knows is a folder beside the file, as a shell takes it."""
    found = read_assignment(written(tmp_path, 'out = "~nobody-knows/results"'))
    assert found.run["out"] == tmp_path / "~nobody-knows/results"


def test_an_extension_that_is_no_time_is_said_with_its_line(tmp_path):
    """Each line of the extensions has an id and a time."""
    path = written(tmp_path)
    for text, says in (
        ("id,due\n\nAnn,soon\n", "soon is no time"),
        ("id,due\nAnn,2611211900\n", "2611211900 is no time"),
        ("id,when\n", "no columns"),
    ):
        (tmp_path / "more-time.csv").write_text(text)
        with pytest.raises(UsageError, match=says) as error:
            read_assignment(path)
        assert error.value.where.startswith(str(tmp_path / "more-time.csv"))


# --- what counts ------------------------------------------------------------------------------------------------------


def record(**shares: float | None) -> Record:
    """A record with the share of the points of each lesson; None was not handed in."""
    lessons = {}
    for name, share in shares.items():
        check = CheckResult("c", "f", "says", "values", "passed", 10.0, 10.0 * (share or 0.0))
        state = "missing" if share is None else "graded"
        lessons[name] = LessonResult(name, state, share and 1 + 9 * share, False, "cpu", 1, 0.1, checks=(check,))
    return Record("ann", "ann", lessons=lessons, states={lesson.state: 1 for lesson in lessons.values()})


@pytest.mark.parametrize("shares, rule, share", [
    ({"a": 1.0, "b": 0.5}, Rule(weights={"b": 3.0}), 0.625),
    ({"a": 1.0, "b": 0.5, "c": 0.0}, Rule(best=2), 0.75),
    ({"a": 1.0, "b": None, "c": 0.5}, Rule(best=2), 0.75),
    ({"a": 1.0, "b": None, "c": None}, Rule(best=2), None),
    ({"a": 1.0, "b": None, "c": None}, Rule(best=2, missing_as_zero=True), 0.5),
    ({"a": 1.0, "b": None}, Rule(exclude_missing=True), 1.0),
    ({"a": None, "b": None}, Rule(exclude_missing=True), None),
    ({"a": 0.5, "b": None}, Rule(missing_as_zero=True, weights={"b": 4.0}), 0.1),
    ({"a": 1.0, "b": None}, Rule("b", best=1), None),
])  # fmt: skip
def test_weights_and_the_best_of_them(shares, rule, share):
    """Lessons weigh what the file says; the best n count; what is missing is left out, a zero, or excluded."""
    assert make_marks([record(**shares)], rule)[0].share == share


# --- late work --------------------------------------------------------------------------------------------------------

RULE = LateRule(due=1000 * DAY, per_day=0.1, grace=900, at_most=0.5)
LATER = 1003 * DAY  # somebody's own due date


def mark(name: str = "ann", when: float | None = None, *, is_late: bool = False) -> Mark:
    return Mark(name, name, "", 1, 1.0, when=when, is_late=is_late)


@given(st.floats(-5, 20), st.floats(0, 5))
def test_later_is_never_cheaper(days, more):
    """What is deducted grows with the days begun, is nothing within the grace time, and never more than the limit."""
    first, later = (RULE.deduct(mark(when=RULE.due + each * DAY), None)[0] for each in (days, days + more))
    assert 0 <= first <= later <= 0.5
    assert (first == 0) == (days * DAY <= 900)


def test_what_is_not_known_is_said():
    """A time decides, the gradebook's if there is no other; the platform's mark is a day; an extension is own time."""
    assert RULE.deduct(mark(when=RULE.due + 2.5 * DAY), None) == (pytest.approx(0.3), "3 days late")
    assert RULE.deduct(mark(), RULE.due + DAY)[0] == pytest.approx(0.1)
    assert RULE.deduct(mark(is_late=True), None)[0] == pytest.approx(0.1)
    assert RULE.deduct(mark(), None) == (0.0, TIME_UNKNOWN)
    assert RULE.deduct(mark(), None, LATER) == (0.0, TIME_UNKNOWN)
    assert RULE.deduct(mark(), RULE.due) == (0.0, "")
    assert RULE.deduct(mark("bob", RULE.due + 3 * DAY), None, LATER) == (0.0, "")
    assert RULE.deduct(mark("bob", RULE.due + 4 * DAY), None, LATER) == (0.1, "1 day late, after an extension")
    assert RULE.deduct(mark("bob", is_late=True), None, LATER) == (0.0, NOT_KNOWN)


def test_the_gradebook_gets_what_is_left_and_the_rest_is_listed():
    """Moodle's worksheet says when work came; raw points and deduction are both reported."""
    when = '"Friday, 20 November 2026, 11:30 PM"'
    text = f'Identifier,Grade,"Maximum Grade","Last modified (submission)"\nP 1,,20.00,{when}\n'
    due = read_time("Wednesday, 18 November 2026, 23:59")
    filled = fill_moodle(Sheet(text.encode()), [mark("1")], late=LateRule(due, 0.25))
    assert b"P 1,10.00,20.00" in filled.content
    assert filled.to_object()["late"] == [{"who": "P 1", "raw": 20.0, "deduction": 10.0, "why": "2 days late"}]
    assert b"P 1,0.00,20.00" in fill_moodle(Sheet(text.encode()), [mark("1")], late=LateRule(due, 0.75)).content


def test_a_time_is_told_from_a_platforms_number(tmp_path):
    """Canvas's number of a file orders attempts and is no time; Blackboard's name and one's own `when` are."""
    times = {}
    for form, name in (
        ("canvas", "leeann_1001_1795215540_softmax.py"),
        ("blackboard", "Homework 1_ann_attempt_2026-11-20-10-00-00_softmax.py"),
        ("(?P<id>.+)@(?P<when>.+)@(?P<file>.+)", "ann@2026-11-20T10:00@softmax.py"),
    ):
        folder = tmp_path / str(len(times))
        folder.mkdir()
        (folder / name).write_text("x = 1")
        (found,) = discover(folder, names=NamePattern.parse(form)).learners
        assert found.submitted
        times[form] = found.when
    first, *others = times.values()
    assert first is None and others[0] == others[1] > 1e9
