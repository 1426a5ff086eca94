"""What `grader export` says of late work: whose an extension is, and of whom no time is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch.assignment import read_assignment
from grader.errors import UsageError
from grader.reports.gradebook.canvas import fill_canvas
from grader.reports.gradebook.csv_sheet import Sheet
from grader.reports.gradebook.fill_column import Filled
from grader.reports.gradebook.late import DAY, LateRule
from grader.reports.gradebook.marks import Mark

DUE = 1_795_219_140.0  # of LATE_RULE
LATE_RULE = "[late]\ndue = 2026-11-20T23:59:00Z\nper_day = 0.1\n"
ROSTER = "id,name,email\n12,Ada Lovelace,ada@x.org\n13,Bob B,bob@x.org\n14,Cy C,cy@x.org\n"
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,HW (7)\n    Points Possible,,,,,10\n"
    '"Lovelace, Ada",12,0501,ada,s,\n"B, Bob",13,0502,bob@x.org,s,\n"C, Cy",14,0503,cy,s,\n'
)


def mark(learner: str, when: float | None = DUE + DAY) -> Mark:
    return Mark(learner, learner, "", 1, 1.0, when=when)


def read_rule(folder: Path, extensions: str, roster: str = "") -> LateRule:
    """Read [late] from files as an instructor has them."""
    head = 'roster = "roster.csv"\n' if roster else ""
    (folder / "roster.csv").write_text(roster)
    (folder / "ext.csv").write_text(extensions)
    (folder / "hw.toml").write_text(f'{head}{LATE_RULE}extensions = "ext.csv"\n')
    rule = read_assignment(folder / "hw.toml").late
    assert rule
    return rule


def export(rule: LateRule, *marks: Mark) -> Filled:
    return fill_canvas(Sheet(CANVAS.encode(), "g.csv"), marks or [mark("12"), mark("13"), mark("14")], late=rule)


# --- extensions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("roster", [ROSTER, ""], ids=["roster", "gradebook"])
@pytest.mark.parametrize(
    "who, line",
    [
        ("12", "12"), ("0012", "12"), (" 12 ", "12"), ("ada", "12"), ("bob@x.org", "13"), ("BOB@X.org", "13"),
        ("bob", "13"),
    ],
)  # fmt: skip
def test_an_extension_finds_its_person_as_a_roster_does(tmp_path, roster, who, line):
    """By an id without its zeros, by an address and the part before its @, of the roster or else of the gradebook."""
    filled = export(read_rule(tmp_path, f"id,due\n{who},2026-12-20\n", roster))
    late = {"12": "Lovelace, Ada", "13": "B, Bob", "14": "C, Cy"}

    assert {one.who for one in filled.late} == set(late.values()) - {late[line]}
    assert not filled.extends_nobody


def test_an_id_that_only_the_gradebook_knows_finds_its_row(tmp_path):
    """The school's number of Canvas's file is an id, too, though the results know people by Canvas's own."""
    filled = export(read_rule(tmp_path, "id,due\n501,2026-12-20\n"))

    assert {one.who for one in filled.late} == {"B, Bob", "C, Cy"}


def test_extensions_that_are_nobodys_are_listed(tmp_path):
    """Lines that fit nobody are named with their line; who is there and handed in nothing is somebody."""
    filled = export(read_rule(tmp_path, "id,due\n\nnobdy,2026-12-20\n13,2026-12-20\n,2026-12-20\n"), mark("12"))

    assert [(who, Path(at).name) for who, at, _ in filled.extends_nobody] == [("nobdy", "ext.csv:3"), ("", "ext.csv:5")]
    assert filled.to_object()["extends_nobody"][0]["why"] == "no one in the results or in the file has this id"


def test_one_person_has_one_due_date(tmp_path):
    """Two lines that are one person's and differ are refused with both places; the same date twice does no harm."""
    rule = read_rule(tmp_path, "id,due\n12,2026-12-20\n0501,2026-12-21\n")
    with pytest.raises(UsageError, match="12 and 0501 are one person, with two due dates") as error:
        export(rule)

    assert str(error.value.where).endswith("ext.csv:3") and "ext.csv:2" in str(error.value.next_step)
    assert not export(read_rule(tmp_path, "id,due\n12,2026-12-20\n0012,2026-12-20\n"), mark("12")).late


@pytest.mark.parametrize("day", ["2026-12-01", "2026/12/1", "20261201"])
def test_a_day_is_meant_to_its_end_however_it_is_written(tmp_path, day):
    """An extension to a day is one to its last second, with dashes, slashes or nothing between; 14 is no day."""
    (plain,) = read_rule(tmp_path, "id,due\n12,2026-12-01 23:59:59\n").extensions

    assert [one.due for one in read_rule(tmp_path, f"id,due\n12,{day}\n").extensions] == [plain.due]
    with pytest.raises(UsageError, match="14 is no time"):
        read_rule(tmp_path, "id,due\n12,14\n")
