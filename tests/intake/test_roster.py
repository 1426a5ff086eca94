"""grader.intake: a class list matches hand-ins with people, and shows who is missing."""

from __future__ import annotations

import os
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hand_ins import SUMS, write

from grader.errors import UsageError
from grader.intake.discover import discover
from grader.intake.name_patterns import NamePattern
from grader.intake.roster import Roster
from grader.model.person_id import fold_id

CANVAS_EXPORT = """\
Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (99)
,,,,,Manual Posting
    Points Possible,,,,,10
"Lee, Ann",1234,U001,alee,"CS 101-1 and CS 101-2",
"Poe, Bob",77,U002,bpoe@example.edu,CS 101-1,
"Student, Test",999,,5f3c,CS 101-1,
"""
MOODLE_WORKSHEET = """\
\ufeffIdentifier;"Full name";"Email address";Status;Grade
"Participant 12";"Ann Lee";ann@example.edu;Submitted;
"Participant 13";"Bob Poe";bob@example.edu;"No submission";
"""
MOODLE_GRADES = """\
First name,Last name,ID number,Institution,Department,Email address,Assignment: HW1 (Real)
Ann,Lee,0042,,,ann@example.edu,-
Bob,Poe,0043,,,bob@example.edu,-
"""
GRADESCOPE_ROSTER = "First Name,Last Name,SID,Email,Role\nAnn,Lee,0301,ann@example.edu,Student\nIda,Ta,9,ta@x.edu,TA\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.fixture
def roster(tmp_path):
    def read(text: str | bytes) -> Roster:
        path = tmp_path / "class.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return Roster.read(path)

    return read


# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, people", [
    (CANVAS_EXPORT, [("1234", "Lee, Ann", "CS 101-1 and CS 101-2"), ("77", "Poe, Bob", "CS 101-1")]),
    (MOODLE_WORKSHEET, [("12", "Ann Lee", ""), ("13", "Bob Poe", "")]),
    (MOODLE_GRADES, [("0042", "Ann Lee", ""), ("0043", "Bob Poe", "")]),
    (GRADESCOPE_ROSTER, [("0301", "Ann Lee", "")]),
    ("E-Mail\tName\nann@x.edu\tAnn\n", [("ann@x.edu", "Ann", "")]),
    ("login|section\nann|1\n", [("ann", "", "1")]),
    ("sep=;\nid;name;section\n1;Lee, Ann, Dr;A\n", [("1", "Lee, Ann, Dr", "A")]),
])  # fmt: skip
def test_exports_of_platforms_are_rosters(roster, text, people):
    """Columns are found by their headings, whatever stands between them; lines without a person are skipped."""
    found = roster(text)

    assert [(one.id, one.name, one.section) for one in found.people] == people
    assert not found.notes


@pytest.mark.parametrize("raw", [
    "id,name\n1,Zoë\n".encode("utf-16"), "id,name\r\n1,Zoë\r\n".encode("utf-8-sig"), "id,name\r1,Zoë\r".encode(),
])  # fmt: skip
def test_however_a_spreadsheet_saves_it(roster, raw):
    """Marks at the beginning, UTF-16 and the line ends of all systems are read."""
    assert roster(raw).people[0].name == "Zoë"


def test_a_class_of_more_people_than_are_graded_together_is_told(tmp_path, monkeypatch):
    """What is stored of it could not be read again."""
    monkeypatch.setattr("grader.intake.discover.MAX_PEOPLE", 2)
    for name in "abc":
        (tmp_path / "in" / name).mkdir(parents=True)
    with pytest.raises(UsageError, match="more than 2 people"):
        discover(tmp_path / "in")


def test_what_is_wrong_with_it_is_said_by_line(roster):
    """Empty lines, lines without an id, repeated ids and shared addresses: each is told with the line it stands in."""
    found = roster("id,name,email\n1,Ann,a@x\n\n,Nobody,\n01,Ann again,\n2,Bob,b@x\n3,Bea,b@x\n")

    assert [one.id for one in found.people] == ["1", "2", "3"]
    assert len(found.notes) == 4
    assert "Line 3 of the roster: empty" in found.notes[0]
    assert "Line 5" in found.notes[1] and "line 2 already" in found.notes[1]
    assert "Line 4 of the roster: no id" in found.notes[2]
    assert "Lines 6, 7" in found.notes[3] and found.find(["b@x"]) is None
    western = roster("id,name\n1,Zoë O’Neill\n".encode("cp1252"))
    assert "Windows-1252" in western.notes[0] and western.people[0].name == "Zoë O’Neill"


@pytest.mark.parametrize("text, says", [
    ("", "empty"), ("name,mark\nAnn,1\n", "its columns are: name, mark"), ("id,name\n", "names nobody"),
    (b"PK\x03\x04 a spreadsheet", "no CSV"), ("id\n" + "x" * 200_000, "no CSV"),
    ("id,name\n1,Zoë\n".encode("utf-16")[:-1], "cannot be read as text"),
])  # fmt: skip
def test_a_file_that_is_no_roster_is_an_error(roster, text, says):
    """The message says what is missing; nothing is guessed."""
    with pytest.raises(UsageError, match=says):
        roster(text)


def test_a_roster_that_is_not_there_is_an_error(tmp_path):
    """Neither a missing file nor a folder is a roster."""
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(UsageError, match="cannot be read"):
            Roster.read(path)


@given(st.binary(max_size=400))
@settings(deadline=None, max_examples=100)
def test_any_bytes_are_a_roster_or_an_error(tmp_path_factory, raw):
    """Whatever the file holds, nothing but our own error comes out."""
    path = tmp_path_factory.mktemp("roster") / "class.csv"
    path.write_bytes(b"id,name,email\n" + raw)
    try:
        assert Roster.read(path).people
    except UsageError as error:
        assert error.where


@given(st.text(max_size=20))
@settings(deadline=None)
def test_ids_are_compared_without_meaningless_differences(text):
    """Comparing is stable, and capitals make no difference."""
    assert fold_id(fold_id(text)) == fold_id(text)
    assert (
        fold_id("  Ann ") == fold_id("ANN") and fold_id("007") == fold_id("7") != fold_id("70") and fold_id("0") == "0"
    )
    assert fold_id("e\u0301") == fold_id("\u00e9")


# --- joining ----------------------------------------------------------------------------------------------------------


def test_hand_ins_are_joined_by_any_id(folder, roster):
    """A login, an address, what stands before its @, a number: all find their person, whose id and name are used."""
    write(folder, {"ALEE/a.py": "", "bob@example.edu.py": "", "cy/a.py": "", "0044.py": "", "eve.py": ""})
    found = discover(folder, roster=roster(
        "id,name,login,email\n41,Ann Lee,alee,\n42,Bob Poe,,bob@example.edu\n43,Cy Kim,,cy@example.edu\n"
        "44,Dan Doe,dan,\n45,Fay Ray,fay,fay@example.edu\n46,Gus,gus,\n"))  # fmt: skip

    assert [(one.id, one.name) for one in found.learners] == [
        ("44", "Dan Doe"), ("41", "Ann Lee"), ("42", "Bob Poe"), ("43", "Cy Kim"), ("eve", "")]  # fmt: skip
    assert found.missing == ({"id": "45", "name": "Fay Ray"}, {"id": "46", "name": "Gus"})
    assert found.unlisted == ("eve",)
    assert not found.notes


MOODLE_FILES = ["Ann Lee_12_assignsubmission_file_/a.py", "Bob Poe_13_assignsubmission_file_/a.py"]


@pytest.mark.parametrize("names, files, text, ids", [
    ("canvas", ["leeann_1234_5_a.py", "poebob_LATE_77_6_a.py"], CANVAS_EXPORT, ["1234", "77"]),
    ("moodle", MOODLE_FILES, MOODLE_WORKSHEET, ["12", "13"]),
    ("moodle", MOODLE_FILES, MOODLE_GRADES, ["0042", "0043"]),  # it has no participants' numbers, only names
    ("canvas", ["leeann_91_5_a.py", "poebob_LATE_92_6_a.py"], CANVAS_EXPORT, ["1234", "77"]),
])  # fmt: skip
def test_a_platforms_gradebook_names_the_people_of_its_download(folder, roster, names, files, text, ids):
    """A download and a gradebook of one platform fit together as they are."""
    write(folder, dict.fromkeys(files, SUMS))
    found = discover(folder, names=NamePattern.parse(names), roster=roster(text))

    assert [one.id for one in found.learners] == ids
    assert not found.missing and not found.unlisted and not found.notes


def test_a_name_that_two_people_have_matches_neither(folder, roster):
    """By a name alone a hand-in is joined only where one person and one hand-in have it."""
    pattern = NamePattern.parse("moodle")
    names = ("Ann Lee_12", "Ann Lee_13", "Bob Poe_14", "Cy Moe_15")
    write(folder, {f"{name}_assignsubmission_file_/a.py": "" for name in names})
    people = "email,name\n14,Ann Lee\nb@x,Bob Poe\nc@x,Bob Poe\nd@x,Cy Moe\n"
    found = discover(folder, names=pattern, roster=roster(people))

    assert [one.id for one in found.learners] == ["12", "13", "Bob Poe", "d@x"]
    assert len(found.unlisted) == len(found.missing) == 3


@pytest.mark.parametrize(
    "names, of_1003, ids",
    [
        (["Ann Lee_1003"], "Bob Lee", ["2000"]),
        (["Ann Lee_41", "Zoe Quick_1003"], "Ann Lee", ["1003", "Zoe Quick"]),
        (["Ann Lee_41", "Zoe Lee_1003"], "Ann Lee", ["1003", "Zoe Lee"]),
        (["Cy Moe_41", "Group A_1003"], "Ann Lee", ["2001", "Group A"]),
    ],
)
def test_a_number_does_not_lead_to_somebody_of_another_name(folder, roster, names, of_1003, ids):
    """A platform's number may be somebody else's in the roster: a stranger's, a group's or that of a namesake."""
    write(folder, {f"{name}_assignsubmission_file_/a.py": "" for name in names})
    other = "Ann Lee" if of_1003 == "Bob Lee" else "Bob Lee"
    people = f"id,name\n1003,{of_1003}\n2000,{other}\n2001,Cy Moe\n"
    found = discover(folder, names=NamePattern.parse("moodle"), roster=roster(people))

    assert [one.id for one in found.learners] == ids
    assert "The number 1003 is somebody else's in the roster" in found.learners[-1].notes[-1]


def test_the_roster_of_another_class_is_an_error(folder, roster):
    """Where not one hand-in is of anybody in it, nothing is graded: ids of both are shown, and what to do."""
    write(folder, {"ann.py": "", "bob.py": ""})
    with pytest.raises(UsageError, match="there ids are such as 'x1', here such as 'ann'") as caught:
        discover(folder, roster=roster("id,name\nx1,Eve\n"))
    assert "--roster" in caught.value.next_step


def test_what_people_share_is_told_in_one_order(roster):
    """However Python hashes text, the notes on a roster come in the order of their lines."""
    text = "id,login,email\n" + "".join(f"{n},login{n // 2},mail{n // 2}@x\n" for n in range(4))
    assert [re.search(r"'(.+)'", note)[1] for note in roster(text).notes] == ["login0", "mail0@x", "login1", "mail1@x"]


def test_a_roster_that_is_there_twice_is_no_wall_of_notes(roster):
    """Of what holds for thousands of lines the first are told, and how many more there are."""
    found = roster("id,login\n" + "".join(f"{n % 500},login{n % 400}\n" for n in range(1000)))

    assert len(found.people) == 500 and len(found.notes) == 12
    assert [note for note in found.notes if "more lines" in note] == [
        f"The same holds for {more} more lines of the roster." for more in (495, 95)
    ]


def test_two_hand_ins_of_one_person_are_attempts(folder, roster):
    """Where the roster says that two hand-ins are of one person, the newer one counts."""
    write(folder, {"alee/a.py": "old", "Ann@example.edu.py": "new"})
    for name, when in {"alee/a.py": 100, "alee": 100, "Ann@example.edu.py": 200}.items():
        os.utime(folder / name, (when, when))
    people = roster("id,login,email\n41,alee,ann@example.edu\n")
    newest, every = discover(folder, roster=people), discover(folder, roster=people, attempts="all")

    assert [(one.id, one.source) for one in newest.learners] == [("41", "Ann@example.edu.py")]
    assert newest.older == ("41@1 (alee)",)
    assert sorted(one.id for one in every.learners) == ["41@1", "41@2"]
    assert {one.learner for one in every.learners} == {"41"} and not every.unlisted


WIDE = 100_000
WIDE_CELLS = ["1" * WIDE + "x", "1" * WIDE, "a" + " " * WIDE + "b", "\ufdfa" * WIDE, "a@" * (WIDE // 2)]


@pytest.mark.parametrize("cell", WIDE_CELLS, ids=lambda cell: ascii(cell[:3]))
def test_a_wide_cell_of_a_roster_costs_a_moment(roster, cell):
    """What says nothing of a person may have any width; a section is kept as far as it is shown."""
    start = time.process_time()
    found = roster(f"id,name,section,{cell}\nann,Ann Lee,{cell},{cell}\n")

    assert found.find_by_name("lee ann").id == "ann" and len(found.people[0].section) == 300
    assert time.process_time() - start < 1


@pytest.mark.parametrize("cell", WIDE_CELLS, ids=lambda cell: ascii(cell[:3]))
@pytest.mark.parametrize("heading", ["Identifier", "Login", "Email", "Full name", "First name", "Last name"])
def test_a_wide_id_or_name_of_a_roster_is_refused_with_its_line(roster, heading, cell):
    """Compared by its beginning, it could be another's: its file and line are told, in a moment."""
    start = time.process_time()
    with pytest.raises(UsageError, match="at most 300 characters") as refused:
        roster(f"SID,{heading}\n1,Ann\n2,{cell}\n")

    assert refused.value.where.endswith(".csv:3")
    assert time.process_time() - start < 1


def test_a_long_remark_of_a_platform_is_passed_over(roster):
    """A paragraph in the first column, where nothing else says who it is, costs nobody the list."""
    remark = "This report contains confidential student information. " * 9
    found = roster(f'Student ID,Student Name,Email\nann,Ann,a@x.edu\n"{remark}"\nbob,Bob,b@x.edu\n,"{remark}",\n')

    assert [person.id for person in found.people] == ["ann", "bob"]
    assert found.notes == ("Lines 3, 5 of the roster: no id, passed over.",)


def test_letters_that_are_unfolded_cost_no_more_than_others(roster):
    """One that becomes eighteen, as often in a cell as an id or a name may be long, is read in a moment."""
    text = "\ufdfa" * 140
    rows = "".join(f"{number},{text} {text} a b c d e f\n{text}{number},x\n" for number in range(5))
    start = time.process_time()
    found = roster("id,name\nann,Ann Lee\n" + rows)

    assert found.find_by_name("lee ann").id == "ann" and found.find([text]) is not None
    assert all(len(key) <= 300 for person in found.people for key in person.keys)
    assert time.process_time() - start < 1
