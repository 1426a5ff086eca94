"""A student's number that is another's, however it is written, takes nobody's place."""

from __future__ import annotations

import pytest

from grader.intake.formats.gradescope_metadata import GradescopeSubmission, Submitter, drop_shared_numbers


def hand_in(name: str, sid: str, email: str) -> GradescopeSubmission:
    """Return what one person has handed in."""
    return GradescopeSubmission([Submitter(name, sid, email)])


@pytest.mark.parametrize("sid", ["3031", " 3031", "03031", "３０３１", "0003031 "])
def test_a_number_in_another_form_is_the_same_number(sid: str) -> None:
    """With zeros in front or in wide digits it would be one person's newer attempt from there on."""
    both = [hand_in("Grace", "3031", "grace@a.edu"), hand_in("Eve", sid, "eve@a.edu")]

    assert drop_shared_numbers(both) == ["3031"]
    assert [each.submitters[0].sid for each in both] == ["", ""]


def test_a_number_that_is_an_address_of_another_is_dropped() -> None:
    """Whatever its case; one's own stays."""
    both = [hand_in("Grace", "grace@a.edu", "grace@a.edu"), hand_in("Eve", "GRACE@A.EDU", "eve@a.edu")]
    alone = [hand_in("Ada", "S1", "ada@a.edu")]

    assert drop_shared_numbers(both) and not both[1].submitters[0].sid
    assert drop_shared_numbers(alone) == [] and alone[0].submitters[0].sid == "S1"
