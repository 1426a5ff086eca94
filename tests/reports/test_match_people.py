"""Whose row of a gradebook a mark belongs to, where several could claim it."""

from __future__ import annotations

import pytest

from grader.record import Record
from grader.reports.gradebook.canvas import fill_canvas
from grader.reports.gradebook.csv_sheet import Sheet
from grader.reports.gradebook.marks import Mark, Rule, make_marks
from grader.reports.gradebook.match_people import Matches, Person, match

PEOPLE = [
    Person(1, ("1001", "ada@uni.edu"), "Lovelace, Ada"),
    Person(2, ("1003", "grace@uni.edu"), "Hopper, Grace"),
    Person(3, ("1004", "s4@uni.edu"), "Smith, John"),
    Person(4, ("1005", "s5@uni.edu"), "Smith, John"),
]


def mark(learner: str, name: str = "") -> Mark:
    return Mark(learner, learner, name, 1, 1.0)


def paired(matches: Matches) -> dict[int, str]:
    return {row: one.id for row, one in matches.pairs.items()}


@pytest.mark.parametrize("name", ["lovelaceada", "Ada Lovelace"])
def test_a_namesake_takes_nothing_from_whom_an_identifier_finds(name):
    """Ada's own number leads to her row; an account of her name that is not in the file is nobody, whoever is first."""
    for marks in ([mark("1001", name), mark("1999", name)], [mark("1999", name), mark("1001", name)]):
        found = match(PEOPLE, marks)

        assert paired(found) == {1: "1001"} and not found.ambiguous
        assert [one.id for one in found.unknown] == ["1999"]


def test_a_name_finds_whom_no_identifier_has_found():
    """Who is known by name alone has their row, and two of one name without any number are listed, as before."""
    found = match(PEOPLE, [mark("x9", "Ada Lovelace"), mark("1003"), mark("y1", "Grace Hopper")])
    both = match(PEOPLE, [mark("x9", "Ada Lovelace"), mark("y1", "lovelaceada")])

    assert paired(found) == {1: "x9", 2: "1003"} and [one.id for one in found.unknown] == ["y1"]
    assert not both.pairs and len(both.ambiguous) == 2


def test_nobody_is_the_other_john_smith_by_elimination():
    """Where one of two namesakes in the file has a mark, a third account of that name may be neither: it is listed."""
    found = match(PEOPLE, [mark("1004", "John Smith"), mark("1999", "John Smith")])
    all_found = match(PEOPLE, [mark("1004"), mark("1005"), mark("1999", "John Smith")])

    assert paired(found) == {3: "1004"} and [one.id for one, _ in found.ambiguous] == ["1999"]
    assert paired(all_found) == {3: "1004", 4: "1005"} and [one.id for one in all_found.unknown] == ["1999"]


def test_a_row_that_two_identifiers_claim_goes_to_nobody_by_name():
    """Two hand-ins of one person by number and by address stay unclear, and a namesake does not get the row instead."""
    found = match(PEOPLE, [mark("1001"), mark("ada@uni.edu"), mark("1999", "Ada Lovelace")])

    assert not found.pairs and [one.id for one, _ in found.ambiguous] == ["1001", "ada@uni.edu"]
    assert [one.id for one in found.unknown] == ["1999"]


def test_who_is_missing_may_have_handed_in_under_another_id():
    """An entry of the roster without a hand-in, and a hand-in of that name, are listed: neither a zero nor a grade."""
    missing = Mark("1001", "1001", "Ada Lovelace", 0, 0.0)
    found = match(PEOPLE, [missing, mark("x9", "Ada Lovelace"), mark("1003")])

    assert paired(found) == {2: "1003"} and {one.id for one, _ in found.ambiguous} == {"1001", "x9"}


def test_a_namesake_of_another_section_costs_no_mark():
    """Canvas's file gets Ada's grade though a dropped account calls itself as she does; that one is listed."""
    text = "Student,ID,SIS User ID,SIS Login ID,Section,HW (7)\n    Points Possible,,,,,10\n"
    sheet = Sheet(f'{text}"Lovelace, Ada",1001,,ada,s,\n'.encode())
    filled = fill_canvas(sheet, [mark("1001", "lovelaceada"), mark("1999", "lovelaceada")])

    assert b"1001,,ada,s,10.00" in filled.content
    assert filled.not_in_file == ["lovelaceada (1999)"] and not filled.ambiguous


@pytest.mark.parametrize("learner", ["007", "7", "\uff17", "ADA@UNI.EDU"])
def test_ids_are_compared_as_rosters_compare_them(learner):
    """A number without its zeros, as spreadsheets leave it, with full-width digits, and another case are one id."""
    people = [Person(1, ("0007", "ada@uni.edu"), "Lovelace, Ada"), Person(2, ("70",), "Hopper, Grace")]

    assert paired(match(people, [mark(learner)])) == {1: learner}


def test_an_id_as_it_is_written_comes_first():
    """Where one person is 12 and another 0012, each is found by their own, and 012 by neither."""
    people = [Person(1, ("12", "S-1"), "Lovelace, Ada"), Person(2, ("13", "0012"), "Hopper, Grace")]

    assert paired(match(people, [mark("0012"), mark("12")])) == {1: "12", 2: "0012"}
    assert len(match(people, [mark("012")]).ambiguous) == 1


def test_a_members_own_hand_in_counts_however_the_id_is_written():
    """Whoever a group names as 0012 and who handed in alone as 12 has one mark, their own; nobody is missing who is in
    a group."""
    records = [Record("ann", "ann", together=("0012", "0013")), Record("12", "12")]
    marks = make_marks(records, Rule("softmax"), [{"id": "13", "name": "Cy"}])

    assert [(one.id, one.attempt) for one in marks] == [("ann", 1), ("12", 1), ("0013", 1)]


@pytest.mark.parametrize("address", ["1003@mail.com", "1003@uni.edu"])
def test_a_number_before_the_at_of_an_address_is_not_a_person_of_another_name(address):
    """Who shares a word with the name that a number goes with takes no mark by an address that begins with it."""
    others = [Person(5, (address,), "Miller, Grace"), Person(6, ("hopper@uni.edu",), "Hopper, Grace")]
    found = match([*PEOPLE[:1], *others], [mark("1003", "Grace Hopper")])

    assert paired(found) == {6: "1003"} and not found.ambiguous


@pytest.mark.parametrize("address, expected", [("ada@uni.edu", {1: "ada"}), ("ada@mail.com", {})])
def test_a_login_is_before_the_at_of_an_address_of_the_school(address, expected):
    """Without a name it leads to the address at most people's domain; what somebody chose elsewhere is no login."""
    people = [Person(1, (address,), "A"), Person(2, ("b@uni.edu",), "B"), Person(3, ("c@uni.edu",), "C")]

    assert paired(match(people, [mark("ada")])) == expected


def test_an_identifier_of_one_with_the_name_of_another_is_told():
    """A number that is somebody's, with the whole name of another row, is nobody's for certain."""
    people = [Person(1, ("1003",), "Miller, Grace"), Person(2, ("2200",), "Hopper, Grace")]
    found = match(people, [mark("1003", "Grace Hopper")])

    assert not found.pairs and "its identifier is that of Miller, Grace" in found.ambiguous[0][1]


@pytest.mark.parametrize(
    "claim, spared",
    [(mark("John Smith", "John Smith"), {3, 4}), (mark("1003", "Ada Lovelace"), {1}), (mark("zoe", "Zoe"), set())],
)
def test_who_may_have_handed_in_gets_no_zero(claim, spared):
    """Those whom an unclear hand-in fits may be its author: none of them gets a zero, as is said."""
    ids = {1: "1001", 2: "1003", 3: "1004", 4: "1005"}
    missing = [Mark(own, own, "", 0, 0.0) for own in ids.values() if own != claim.id]
    found = match(PEOPLE, [*missing, claim])

    assert {row for row, one in found.pairs.items() if one.share is None} == spared
    assert all(claim.label in found.pairs[row].why for row in spared)
    assert len(found.pairs) == len(missing) and [one.id for one, _ in found.ambiguous] == ([claim.id] if spared else [])
