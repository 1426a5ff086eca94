"""A student's number that is another's, however it is written, takes nobody's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.intake.formats.gradescope_metadata import GradescopeSubmission, Submitter, drop_shared_numbers
from grader.intake.group_attempts import group_entries, match_roster
from grader.intake.learner import Entry
from grader.intake.roster import Roster


def hand_in(name: str, sid: str, email: str) -> GradescopeSubmission:
    """Return what one person has handed in."""
    return GradescopeSubmission([Submitter(name, sid, email)])


@pytest.mark.parametrize("sid", ["3031", " 3031", "03031", "３０３１", "0003031 "])
def test_a_number_in_another_form_is_the_same_number(sid: str) -> None:
    """With zeros in front or in wide digits it would be one person's newer attempt from there on."""
    both = [hand_in("Grace", "3031", "grace@a.edu"), hand_in("Eve", sid, "eve@a.edu")]

    assert drop_shared_numbers(both) == ["3031"]
    assert [each.submitters[0].sid for each in both] == ["", ""]


def test_a_number_leads_to_nobody_whose_own_address_handed_in(tmp_path: Path) -> None:
    """Whether the address of who wrote it is in the roster or not; the owner, who wrote no number, keeps the place."""
    (tmp_path / "roster.csv").write_text("id,name,email\n1001,Eve,eve@a.edu\n1002,Bob,bob@a.edu\n1003,Ada,ada@a.edu\n")
    roster = Roster.read(tmp_path / "roster.csv")

    def match(*owners: tuple[str, ...]) -> list[tuple[str, int]]:
        entries = [
            Entry(f"s{at}", owner=owner, address=address, owner_name=" ".join(name))
            for at, (owner, address, *name) in enumerate(owners)
        ]
        return [(one.id, len(one.notes)) for one in match_roster(group_entries(entries), roster)]

    bob = ("bob@a.edu", "bob@a.edu")
    assert match(bob, ("1002", "eve@a.edu")) == [("1002", 0), ("1001", 1)]
    assert match(bob, ("1002", "eve@home.net")) == [("1002", 0), ("eve@home.net", 1)]
    assert match(("1002", "bob@home.net", "Bob"), ("1003", "")) == [("1002", 0), ("1003", 0)]


def test_a_number_leads_to_nobody_whose_address_and_name_are_others(tmp_path: Path) -> None:
    """Who is absent gets nobody's mark; without addresses in the roster the number is all that there is."""
    entry = Entry("s1", owner="1003", address="eve@home.net", owner_name="Eve")

    def match(text: str) -> list[str]:
        (tmp_path / "roster.csv").write_text(text)
        found = match_roster(group_entries([entry]), Roster.read(tmp_path / "roster.csv"))
        return [one.id for one in found]

    assert match("id,name,email\n1003,Ada,ada@a.edu\n") == ["eve@home.net"]
    assert match("id,name\n1003,Ada\n") == ["1003"]


def test_a_number_that_is_an_address_of_another_is_dropped() -> None:
    """Whatever its case; one's own stays."""
    both = [hand_in("Grace", "grace@a.edu", "grace@a.edu"), hand_in("Eve", "GRACE@A.EDU", "eve@a.edu")]
    alone = [hand_in("Ada", "S1", "ada@a.edu")]

    assert drop_shared_numbers(both) and not both[1].submitters[0].sid
    assert drop_shared_numbers(alone) == [] and alone[0].submitters[0].sid == "S1"
