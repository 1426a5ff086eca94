"""A cell of any width in a gradebook costs a moment, and makes nobody somebody else."""

from __future__ import annotations

import pytest

from grader.errors import UsageError
from grader.judge.own_limits import end_after
from grader.reports.gradebook.canvas import fill_canvas
from grader.reports.gradebook.csv_sheet import Sheet
from grader.reports.gradebook.marks import COMMENT_BEGINS, Mark
from grader.reports.gradebook.moodle import fill_moodle

WIDE = 100_000
SECONDS = 20  # minutes, where the time grows with the square of the width
TEXTS = {
    "blanks": "a" + " " * WIDE + "b",
    "digits": "1" * WIDE + "x",
    "digits behind blanks": "a" + " " * WIDE + "1x",
    "brackets": "a" + " (" * WIDE + "1)",
    "addresses": "a@" * WIDE,
    "numbers": "-1," * WIDE,
    "points": "a. " * WIDE,
}
WORKSHEET = 'Identifier,Full name,Email address,Grade,"W"\nParticipant 1,Ann Lee,ann@x.edu,-,"W"\n'
GRADES = 'First name,Last name,ID number,Email address,Quiz: Masks (Real),"W"\nAnn,Lee,1,ann@x.edu,-,"W"\n'
CANVAS = 'Student,ID,SIS Login ID,Masks (7),"W"\n,,,,"W"\nPoints Possible,,,10.00,\n"Lee, Ann",1,ann,-,"W"\n'
CANVAS_HEADINGS, CANVAS_LINE = "Student,ID,SIS Login ID,Section,Masks (7)\n", '"Lee, Ann",1,ann,S,\n'


def wide_mark(comment: str = "") -> Mark:
    return Mark("1", "1", "Ann Lee", 1, 0.5, "", comment=comment)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("fill, form", [(fill_moodle, GRADES), (fill_moodle, WORKSHEET), (fill_canvas, CANVAS)])
def test_a_wide_cell_costs_a_moment_and_stays_as_it_was(fill, form, text):
    """A heading, a note and a line of any width are passed over, and not a byte of them is changed."""
    form = form.replace("W", TEXTS[text])
    points = "5.00" if fill is fill_canvas else "50.00"
    with end_after(SECONDS, "filling in"):
        filled = fill(Sheet(form.encode(), "g.csv"), [wide_mark()], assignment="Grade" if ",Grade" in form else "masks")

    assert filled.content in (form.replace(",-,", f",{each},").encode() for each in (points, points.replace(".", ",")))


@pytest.mark.parametrize("text", [*TEXTS.values(), "1" * WIDE], ids=[*TEXTS, "digits alone"])
@pytest.mark.parametrize("line", ['Participant 2,"W",a@x.edu,-', 'Participant 2,Ann Lee,"W",-'])
def test_a_wide_id_or_name_of_moodle_is_refused_with_its_line(line, text):
    """Compared by its beginning, it could be another's: its file and line are told."""
    form = f"Identifier,Full name,Email address,Grade\nParticipant 1,Ann Lee,ann@x.edu,-\n{line}\n"
    sheet = Sheet(form.replace("W", text).encode(), "grades.csv")
    with end_after(SECONDS, "filling in"), pytest.raises(UsageError, match="at most 300 characters") as refused:
        fill_moodle(sheet, [wide_mark()])

    assert refused.value.where == "grades.csv:3"


def test_a_wide_number_of_a_participant_is_refused():
    """Digits that no platform gives are not cut to another's number."""
    form = f"Identifier,Full name,Grade\nParticipant 1,Ann Lee,-\nParticipant {'1' * WIDE},Bob Poe,-\n"
    with pytest.raises(UsageError, match="at most 300 characters"):
        fill_moodle(Sheet(form.encode()), [wide_mark()])


@pytest.mark.parametrize("line", ['"W",2,bob,S,', 'Bob,"W",bob,S,', 'Bob,2,"W",S,'])
def test_a_wide_id_or_name_of_canvas_is_refused_with_its_line(line):
    """Two that differ behind the width that is compared are never one person."""
    first, second = (CANVAS_HEADINGS + CANVAS_LINE + 2 * f"{line}\n").split("W", 1)
    sheet = Sheet((first + "a" * 999 + "b" + second.replace("W", "a" * 999 + "c")).encode(), "grades.csv")
    with pytest.raises(UsageError, match="at most 300 characters") as refused:
        fill_canvas(sheet, [wide_mark()])

    assert refused.value.where == "grades.csv:3"


def test_a_long_comment_is_compared_whole():
    """One of ours that differs at its end alone is written anew, and the same one stays."""
    ours = COMMENT_BEGINS + "a" * 5_000
    form = f"Identifier,Full name,Grade,Feedback comments\nParticipant 1,Ann Lee,-,{ours}b\n"
    same, other = (fill_moodle(Sheet(form.encode()), [wide_mark(ours + end)]) for end in "bc")

    assert same.comments == 0 and other.comments == 1
    assert other.content.endswith(b'ac"\n')


@pytest.mark.slow
def test_many_columns_and_many_lines_cost_their_sum():
    """Lines that are shorter than the headings are not looked through for each of these."""
    headings = ",".join(f"note {number} (x)" for number in range(20_000))
    lines = "".join(f"Participant {number},Ann {number},-\n" for number in range(20_000))
    sheet = Sheet(f"Identifier,Full name,Grade,{headings}\n{lines}".encode(), "grades.csv")
    with end_after(SECONDS, "filling in"):
        filled = fill_moodle(sheet, [wide_mark()], match_by="Identifier")

    assert filled.filled == 1
