"""What `grader export` says of late work: whose an extension is, and of whom no time is known."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from support.hand_ins import ANSWERS, TINY, write

from grader.batch.assignment.assignment_file import read_assignment
from grader.errors import UsageError
from grader.reports.gradebook.canvas import fill_canvas
from grader.reports.gradebook.csv_sheet import Sheet
from grader.reports.gradebook.fill_column import Filled
from grader.reports.gradebook.late import DAY, LateRule
from grader.reports.gradebook.marks import Mark
from grader.reports.gradebook.moodle import fill_moodle
from grader.reports.gradebook.read_time import MONTHS, read_time

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


@pytest.mark.parametrize("day", ["2026-12-01", "2026/12/1", "20261201", "2026. 12. 1.", "2026-W49-2"])
def test_a_day_is_meant_to_its_end_however_it_is_written(tmp_path, day):
    """An extension to a day lasts until midnight, with anything between; 14 is no day, nor is a zone's hour."""
    rule, midnight = read_rule(tmp_path, f'id,due\n12,"{day}"\n'), datetime(2026, 12, 2).timestamp()

    assert not export(rule, mark("12", midnight - 0.3)).late and export(rule, mark("12", midnight)).late
    for none in ("14", "2026-12-01+01:00", "2026-W49"):
        with pytest.raises(UsageError, match=f"{re.escape(none)} is no time"):
            read_rule(tmp_path, f"id,due\n12,{none}\n")


def test_a_due_date_that_is_a_day_lasts_until_midnight(tmp_path):
    """What came in the last second of the day is in time, and at midnight late; a time is meant to the second."""
    path, midnight = tmp_path / "hw.toml", datetime(2026, 11, 21).timestamp()
    for due, in_time in (("2026-11-20", True), ('"2026-11-20"', True), ("2026-11-20T23:59:59", False)):
        path.write_text(f"[late]\ndue = {due}\nper_day = 0.1\n")
        rule = read_assignment(path).late
        assert rule and (not export(rule, mark("12", midnight - 0.3)).late) is in_time
        assert export(rule, mark("12", midnight)).late


# --- when work came ---------------------------------------------------------------------------------------------------

HEADINGS = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments"
)
GERMAN = (
    "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Bewertung kann geändert werden,"
    "Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung),Feedback-Kommentare"
)


def worksheet(*times: str, headings: str = HEADINGS) -> Sheet:
    """Moodle's worksheet of participants 1, 2 ...; the comment of the first has two lines."""
    rows = [f'Participant {n},P {n},p{n}@x.org,S,,100.00,Yes,"{when}",-,' for n, when in enumerate(times, 1)]
    rows[0] += '"two\nlines"'
    return Sheet("\n".join([headings, *rows, ""]).encode(), "Grades.csv")


@pytest.mark.parametrize(
    "text",
    [
        "Wednesday, 25 November 2026, 10:00 PM", "Wednesday, November 25, 2026, 10:00 PM",
        "Nov 25, 2026, 10:00\u202fPM",
        "Mittwoch, 25. November 2026, 22:00", "mercredi 25 novembre 2026 à 22h00", "25.11.2026 22:00",
        "2026-11-25 22:00",
        "miércoles, 25 de noviembre de 2026, 22:00", "Mi., 25.11.2026, 22:00", "2026-11-25T22:00:00",
        "\u6c34\u66dc\u65e5, 25.11.2026 22:00",
    ],
)  # fmt: skip
def test_times_are_read_in_the_forms_of_many_sites(text):
    """In words of several languages, in figures that mean one day, with either clock; any day's name is left aside."""
    assert read_time(text) == datetime(2026, 11, 25, 22, 0).timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "25/11/2026 22:00", "05/11/2026 22:00", "11/25/26, 10:00 PM", "25.11.26 22:00", "2026-11-25",
        "25 November 2026",
        "Wednesday, 25 November 2026, 13:00 PM", "31 November 2026, 22:00", "25 listopad 2026, 22:00", "-", "", "soon",
        "25 November 2026, 22:00 or so", "1.1.0001 00:00", "25.11.99999 22:00", "25 November 2026, 24:00",
    ],
)  # fmt: skip
def test_what_may_mean_two_times_is_none(text):
    """No month is guessed against a day, no century, no language, and a day without a clock is no time."""
    assert read_time(text) is None


def test_no_name_means_two_months():
    """The languages of the table do not contradict each other."""
    names = [name for names in MONTHS for name in names.split()]

    assert len(names) == len(set(names))


def test_a_time_that_is_not_read_is_refused_with_its_cell_and_line():
    """Nobody is in time because nobody can read when they came: the cell, the file, the line, and how to write it."""
    sheet = worksheet("2026-11-20 10:00", "25/11/2026 22:00")
    with pytest.raises(UsageError, match='"25/11/2026 22:00" under "Last modified') as error:
        fill_moodle(sheet, [mark("1", None), mark("2", None)], late=LateRule(DUE, 0.1))

    assert error.value.where == "Grades.csv:4" and '"2026-11-25 22:00", "25.11.2026 22:00"' in error.value.next_step
    assert fill_moodle(sheet, [mark("1", None), mark("2", None)]).filled == 2  # without [late] nobody needs it
    assert fill_moodle(sheet, [mark("1", None), mark("2")], late=LateRule(DUE, 0.1)).filled == 2  # a time of its own


def test_whoever_has_no_time_is_listed():
    """An empty cell, and none at all, are neither late nor in time; a mark of 0 has nothing that could be deducted."""
    zero = Mark("3", "3", "", 0, 0.0)
    filled = fill_moodle(
        worksheet("Friday, 20 November 2026, 10:00 AM", "-", "-"),
        [mark("1", None), mark("2", None), zero],
        late=LateRule(DUE, 0.1),
    )

    assert filled.time_unknown == ["P 2"] and not filled.late and filled.filled == 3
    assert filled.to_object()["time_unknown"] == [{"who": "P 2", "why": "time unknown, nothing deducted"}]
    assert not fill_moodle(worksheet("-"), [mark("1", None)]).time_unknown


def test_the_time_is_found_under_a_heading_in_another_language():
    """Of two headings of the same words that say in brackets what was changed, the first is of the hand-in."""
    sheet = worksheet("Mittwoch, 25. November 2026, 22:00", "-", headings=GERMAN)
    rule = LateRule(datetime(2026, 11, 23, 23, 59).timestamp(), 0.1)
    filled = fill_moodle(sheet, [mark("1", None), mark("2", None)], assignment="Bewertung", late=rule)

    assert [(one.who, one.why) for one in filled.late] == [("Participant 1", "2 days late")]
    assert filled.time_unknown == ["Participant 2"]
    alone = worksheet("25. November 2026, 22:00", headings=GERMAN.replace("geändert (Abgabe)", "online"))
    assert fill_moodle(alone, [mark("1", None)], assignment="Bewertung", late=rule).time_unknown == ["Participant 1"]


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`grader ARGUMENTS` in a process of its own."""
    command = [sys.executable, "-c", "from grader.cli.grader.group import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=folder)


def test_export_says_of_whom_no_time_is_known(tmp_path):
    """A class in plain folders has no times: with [late] all are listed in words and as JSON, and a time of Moodle's
    that is not read ends the command with exit status 2 and no file."""
    write(tmp_path / "in", {"1/argmax_2d.py": ANSWERS["argmax_2d"]})
    (tmp_path / "hw.toml").write_text(f'lessons = ["argmax_2d"]\nout = "results"\n{LATE_RULE}')
    done = run(tmp_path, "run", "hw.toml", "in", "--seed", 7, "--jobs", 1, "--course", TINY)
    assert done.returncode == 0, done.stderr
    (tmp_path / "known.csv").write_bytes(worksheet("-").with_values({}))
    (tmp_path / "unread.csv").write_bytes(worksheet("11/25/2026").with_values({}))
    words = (tmp_path, "export", "hw.toml", "--out", "up.csv", "--moodle")
    unread = run(*words, "unread.csv")
    assert unread.returncode == 2 and "unread.csv:2" in unread.stderr and "11/25/2026" in unread.stderr
    assert not (tmp_path / "up.csv").exists()

    said = run(*words, "known.csv").stdout
    assert "Time unknown, nothing deducted (1):\n  P 1" in said
    told = json.loads(run(*words, "known.csv", "--force", "--json").stdout)
    assert told["time_unknown"][0]["why"] == "time unknown, nothing deducted" and told["late"] == []
