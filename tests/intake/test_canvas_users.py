"""Where a name of Canvas can be read in two ways, nobody's work becomes another's."""

from __future__ import annotations

import pytest

from grader.intake.discover import Discovery, discover
from grader.intake.name_patterns import NamePattern
from grader.intake.roster import Roster

CANVAS = NamePattern.parse("canvas")
ADA, BOB = "lovelaceada_1001_50001_softmax.py", "boolebob_1003_50003_softmax.py"
MALLORY = "aaamallory_late_1001_1002_50002_x.py"  # whose name ends in Ada's number
PEOPLE = "Student,ID\n'Lovelace, Ada',1001\n'aaamallory_late_1001',1002\n'Boole, Bob',1003\n".replace("'", '"')


@pytest.fixture
def found(tmp_path):
    """What is found in a download of these names; with the roster if `people` is given."""

    def of(*names: str, people: str = "") -> Discovery:
        folder = tmp_path / "download"
        folder.mkdir()
        for name in names:
            (folder / name).write_text("x = 1\n")
        (tmp_path / "people.csv").write_text(people)
        roster = Roster.read(tmp_path / "people.csv") if people else None
        return discover(folder, names=CANVAS, roster=roster)

    return of


def owners(found: Discovery) -> dict[str, tuple[str, ...]]:
    return {one.id: tuple(entry.file for entry in one.entries) for one in found.learners}


@pytest.mark.parametrize("people", ["", PEOPLE], ids=["alone", "with a roster"])
def test_a_name_that_ends_in_anothers_number_takes_nothing_from_them(found, people):
    """Mallory's work is Mallory's, and Ada is not late; so it is where Ada has handed in nothing."""
    seen = found(ADA, BOB, MALLORY, people=people)

    assert owners(seen) == {"1001": ("softmax.py",), "1002": ("x.py",), "1003": ("softmax.py",)}
    assert not any(one.late for one in seen.learners)


def test_nor_does_a_name_that_is_theirs_with_their_number(found):
    """Whoever calls themselves "Lovelace, Ada_1001", and is another in the roster, is not Ada."""
    seen = found(BOB, "lovelaceada_1001_1002_50002_x.py", people=PEOPLE)

    assert owners(seen) == {"1002": ("x.py",), "1003": ("softmax.py",)}


def test_nor_does_it_where_the_other_has_handed_in_nothing(found):
    """Whoever is absent gets nobody's work."""
    assert owners(found(BOB, MALLORY)) == {"1002": ("x.py",), "1003": ("softmax.py",)}


@pytest.mark.parametrize("file", ["01_softmax.py", "2026_11_28_softmax.py", "7_softmax.py"])
@pytest.mark.parametrize("others", [(BOB,), ()], ids=["among others", "alone"])
def test_a_file_may_begin_with_a_number(found, file, others):
    """The name of a learner's own file takes nobody their number."""
    assert owners(found(f"lovelaceada_1001_50001_{file}", *others))["1001"] == (file,)


def test_what_cannot_be_told_is_by_itself(found):
    """Numbers that may be either leave it open: the hand-in joins nobody, and the way to tell is named."""
    seen = found(BOB, "mallory_1001_40001_50002_x.py", ADA)

    assert owners(seen)["1001"] == ("softmax.py",) and "mallory_1001_40001_50002_x" in owners(seen)
    assert any("three numbers" in note and "--roster" in note for note in seen.notes)
    (told,) = [one for one in seen.learners if one.id.startswith("mallory")]
    assert not told.known


def test_the_same_person_has_one_name(found):
    """A reading that would be somebody's who has another name in other names joins them never."""
    seen = found(ADA, "mallory_1001_50002_3_x.py", BOB)

    assert owners(seen)["1001"] == ("softmax.py",) and "mallory_1001_50002_3_x" in owners(seen)


def test_a_text_that_was_typed_in_is_whose_name_ends_in_a_number(found):
    """Without an attachment's number it is the last number that is the person's."""
    assert "1002" in owners(found(ADA, BOB, "mallory_1001_1002_text.html", "mallory_1001_1002_50002_x.py"))
