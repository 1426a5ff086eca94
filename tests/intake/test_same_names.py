"""Archives with several members of one name."""

from __future__ import annotations

import tarfile
import zipfile

import pytest
from support.hand_ins import add_member, learner_of

from grader.intake.discover import discover
from grader.intake.formats import tar
from grader.intake.hand_in import read_hand_in
from grader.intake.name_patterns import NamePattern


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", ["zip", "tar", "class"])
def test_of_members_of_one_name_the_last_is_read_and_told(tmp_path, kind):
    """As unpacking leaves it, in every kind of archive; what is there once is told nothing of."""
    name = "leeann_1001_5001_a.py" if kind == "class" else "hw/a.py"
    members = [(name, b"first"), (name if kind == "class" else f"./{name}", b"last")]
    path = tmp_path / f"ada.{'tar' if kind == 'tar' else 'zip'}"
    if kind == "tar":
        with tarfile.open(path, "w") as archive:
            for member, content in members:
                add_member(archive, member, content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in members:
                archive.writestr(member, content)
    learner = (
        discover(path, names=NamePattern.parse("canvas")).learners[0] if kind == "class" else learner_of(path, kind)
    )
    hand_in = read_hand_in(learner)

    assert set(hand_in.files.values()) == {b"last"}
    assert hand_in.notes == [f"{name} is in the archive more than once: the last one was read, as unpacking leaves it."]


def test_what_a_later_member_replaces_takes_no_room(tmp_path, monkeypatch):
    """A tar to which one name is appended again and again: the last one is read, as is told."""
    monkeypatch.setattr(tar, "MAX_HAND_IN_BYTES", 1000)
    with tarfile.open(tmp_path / "ada.tar", "w") as archive:
        for number in range(9):
            add_member(archive, "a.py", b"%d" % number * 400)
    hand_in = read_hand_in(learner_of(tmp_path / "ada.tar", "tar"))

    assert hand_in.files == {"a.py": b"8" * 400}
    assert not [note for note in hand_in.notes if "too large" in note]
