"""A student's number that is another's, however it is written, takes nobody's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import SubmissionError
from grader.intake.discover import discover
from grader.intake.formats.gradescope_metadata import GradescopeSubmission, Submitter, drop_shared_numbers
from grader.intake.group_attempts import group_entries, match_roster
from grader.intake.learner import Entry, Learner
from grader.intake.name_patterns import NamePattern
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


@pytest.mark.parametrize(
    "roster, names, ids",
    [
        ("id,name,email\n1003,Ada Lovelace,ada@a.edu\n", ["Eve"], ["a0@home.net"]),
        ("id,name,email\n1003,Ada Lovelace,ada@a.edu\n", ["Lovelace, Ada"], ["1003"]),
        ("id,name\n1003,Ada Lovelace\n", ["Eve"], ["a0@home.net"]),
        ("id,name\n1003,Ada Lovelace\n", ["Ada L."], ["1003"]),
        ("id,name\n1003,Ada Lovelace\n", ["Eve Lovelace", "Ada Lovelace"], ["a0@home.net", "1003"]),
        ("id\n1003\n", ["Eve"], ["1003"]),
    ],
)
def test_a_number_leads_to_nobody_whose_address_or_name_are_others(tmp_path: Path, roster, names, ids) -> None:
    """Who is absent, or has written no number, gets nobody's mark; where nothing contradicts the number, it counts."""
    numbers = ["1003", "a1@home.net"]
    entries = [
        Entry(f"s{at}", owner=numbers[at], address=f"a{at}@home.net", owner_name=name) for at, name in enumerate(names)
    ]
    (tmp_path / "roster.csv").write_text(roster)

    assert [one.id for one in match_roster(group_entries(entries), Roster.read(tmp_path / "roster.csv"))] == ids


def test_whoever_is_in_a_group_is_who_handed_in(tmp_path: Path) -> None:
    """A number that was refused for its account is not believed in the group of its partner either."""
    (tmp_path / "download/submission_1").mkdir(parents=True)
    (tmp_path / "download/submission_1/softmax.py").write_text("x = 1\n")
    people = [("Mallory", "1001", "mal@a.edu"), ("Sock Puppet", "1003", "sock@mail.net"), ("Bob", "", "bob@a.edu")]
    told = "".join(f"  - :name: {name}\n    :sid: '{sid}'\n    :email: {email}\n" for name, sid, email in people)
    metadata = f"submission_1:\n  :submitters:\n{told}  :created_at: 2026-03-01 10:00:00.000000000 Z\n"
    (tmp_path / "download/submission_metadata.yml").write_text(metadata)
    roster = "id,name,email\n1001,Mallory,mal@a.edu\n1002,Bob,bob@a.edu\n1003,Ada,ada@a.edu\n"
    (tmp_path / "roster.csv").write_text(roster)
    names = NamePattern.parse("gradescope")

    def groups(given: Roster | None) -> dict[str, set[str]]:
        found = discover(tmp_path / "download", names=names, roster=given)
        return {one.id: set(one.together) for one in found.learners}

    told_apart = groups(Roster.read(tmp_path / "roster.csv"))
    assert told_apart == {
        "1001": {"sock@mail.net", "1002"}, "1002": {"sock@mail.net", "1001"}, "sock@mail.net": {"1001", "1002"},
    }  # fmt: skip
    assert groups(None)["1001"] == {"1003", "bob@a.edu"}


def test_a_number_that_is_an_address_of_another_is_dropped() -> None:
    """Whatever its case; one's own stays."""
    both = [hand_in("Grace", "grace@a.edu", "grace@a.edu"), hand_in("Eve", "GRACE@A.EDU", "eve@a.edu")]
    alone = [hand_in("Ada", "S1", "ada@a.edu")]

    assert drop_shared_numbers(both) and not both[1].submitters[0].sid
    assert drop_shared_numbers(alone) == [] and alone[0].submitters[0].sid == "S1"


@pytest.mark.parametrize(
    "platform, name",
    [("moodle", "Grace Hopper_1003_assignsubmission_file_/softmax.py"), ("canvas", "hoppergrace_1003_5_softmax.py")],
)
@pytest.mark.parametrize(
    "roster",
    [
        "id,name\n1003,Alan Turing\n2200,Grace Hopper\n",
        'name,email\n"Mallory, Max",1003@x.edu\n"Hopper, Grace",2200@x.edu\n',
    ],
)
def test_a_platforms_number_leads_to_nobody_of_another_name(
    tmp_path: Path, platform: str, name: str, roster: str
) -> None:
    """A class list has the school's numbers: one of them may be a platform's number of somebody else there."""
    path = tmp_path / "in" / name
    path.parent.mkdir(parents=True)
    path.write_text("x = 1")
    (tmp_path / "class.csv").write_text(roster)
    (found,) = discover(
        tmp_path / "in", names=NamePattern.parse(platform), roster=Roster.read(tmp_path / "class.csv")
    ).learners

    assert found.id.partition("@")[0] == "2200" and "somebody else's in the roster" in found.notes[0]


def test_a_number_of_nobody_known_that_is_another_s_leaves_a_name(tmp_path: Path) -> None:
    """Of a hand-in that has neither an address nor a name the number itself is left, as one that leads to nobody."""
    (tmp_path / "roster.csv").write_text("id,name,email\n1002,Bob,bob@a.edu\n")
    entries = [Entry("s0", owner="1002"), Entry("s1", owner="bob", address="bob@a.edu")]
    matched = match_roster(group_entries(entries), Roster.read(tmp_path / "roster.csv"))

    assert [one.id for one in matched] == ["1002 ?", "1002"]


@pytest.mark.parametrize("entries", [[], [Entry("")]])
def test_a_hand_in_that_is_nobody_s_is_told(entries: list[Entry]) -> None:
    """Whatever form it came in, it has an owner or a name, and holds something."""
    with pytest.raises(SubmissionError, match="says whose it is"):
        Learner("", tuple(entries))
