"""grader.intake: whose a hand-in is, by the names that platforms give, and which attempt is graded."""

from __future__ import annotations

import os
import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hand_ins import SUMS, make_zip, write

from grader.errors import SubmissionError, UsageError
from grader.intake.discover import discover
from grader.intake.formats.gradescope_metadata import read_metadata
from grader.intake.hand_in import read_hand_in
from grader.intake.learner import Learner
from grader.intake.name_patterns import NamePattern, original_names
from grader.intake.platform_names import (
    MAX_NAME_LENGTH,
    PLATFORMS,
    blackboard,
    brightspace,
    canvas,
    gradescope,
    moodle,
    parse_time,
)

CANVAS, MOODLE, GRADESCOPE = map(NamePattern.parse, ("canvas", "moodle", "gradescope"))
METADATA = """\
---
submission_11:
  :submitters:
  - :name: Ann Lee
    :sid: '0301'
    :email: ann@example.edu
  :created_at: 2026-03-01 10:00:00.000000000 Z
  :score: 5.0
  :results:
    :tests:
    - :name: not a person
      :email: nobody@example.edu
submission_12:
  :submitters:
  - :name: "Zo\\u00eb O'Hara"
    :email: zoe@example.edu
    :sid:
  - :sid: '0303'
    :name: 'D''Arcy'
    :email: darcy@example.edu
  :created_at: 2026-03-02 10:00:00.000000000 Z
submission_13:
  :submitters:
  - :name: Ann Lee
    :sid: '0301'
    :email: ann@example.edu
  :created_at: 2026-03-03 10:00:00.123456789 Z
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def rows(found) -> list[tuple[str, str, int, bool, str]]:
    return [(one.id, one.name, one.attempt, one.late, one.kind) for one in found.learners]


# --- what one name says -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, expected", [
    ("leeann_1234_5678_softmax.py", ("1234", "leeann", False, "softmax.py")),
    ("leeann_LATE_1234_5678_softmax-2.py", ("1234", "leeann", True, "softmax-2.py")),
    ("leeann_late_1234_5678_my_file_2024_01.py", ("1234", "leeann", True, "my_file_2024_01.py")),
    ("müllerjörg_1_2_.py", ("1", "müllerjörg", False, ".py")),
    ("group_a_12_34_work.tar.gz", ("12", "group_a", False, "work.tar.gz")),
    ("anon_x7Kq2_5678_softmax.py", ("anon_x7Kq2", "", False, "softmax.py")),
    ("LATE_anon_x7Kq2_5678_softmax.py", ("anon_x7Kq2", "", True, "softmax.py")),
    ("leeann_1234_text.html", ("1234", "leeann", False, "text.html")),
    ("leeann_LATE_1234_link.html", ("1234", "leeann", True, "link.html")),
])  # fmt: skip
def test_names_as_canvas_makes_them(name, expected):
    """Name, lateness, Canvas's number of the person and the file's own name, whatever underscores are in them."""
    entry = canvas(name)
    assert (entry.owner, entry.owner_name, entry.late, entry.file) == expected


@pytest.mark.parametrize("name", ["softmax.py", "leeann", "leeann_1234_softmax.py", "_", "1_2", "anon__3_x.py", ""])
def test_names_that_canvas_does_not_make(name):
    """A name of another form has no owner."""
    assert canvas(name) is None


@pytest.mark.parametrize("name, expected", [
    ("Ann Lee_1234_assignsubmission_file_", ("1234", "Ann Lee", "")),
    ("Ann Lee_1234_assignsubmission_file", ("1234", "Ann Lee", "")),
    ("Ann Lee_1234_assignsubmission_file_my_softmax.py", ("1234", "Ann Lee", "my_softmax.py")),
    ("Ann Lee_1234_assignsubmission_onlinetext_onlinetext.html", ("1234", "Ann Lee", "onlinetext.html")),
    ("BAE,WOOJIN-2018_6130510_assignsubmission_file_", ("6130510", "BAE,WOOJIN-2018", "")),
    ("Default group_assignsubmission_file_", ("Default group", "Default group", "")),
])  # fmt: skip
def test_names_as_moodle_makes_them(name, expected):
    """The participant's or group's number, the full name, and the file's own name if the download has no folders."""
    entry = moodle(name)
    assert (entry.owner, entry.owner_name, entry.file) == expected
    assert moodle("Ann Lee_1234_softmax.py") is None


def test_names_as_gradescope_makes_them():
    """The number of the submission, and nothing else."""
    assert gradescope("submission_123").owner == "123"
    assert gradescope("submission_x") is None and gradescope("123") is None


@pytest.mark.parametrize("name, expected", [
    ("Homework 1_jsmith_attempt_2026-11-20-10-00-00_soft_max.py", ("Homework 1_jsmith", "", "soft_max.py")),
    ("HW_1_jsmith_attempt_2026-11-20-10-00-00.txt", ("HW_1_jsmith", "", "2026-11-20-10-00-00.txt")),
    ("HW_jsmith_attempt_1_softmax.py", None),
    ("HW_eve_attempt_2026-11-20-10-00-00_x_ann_attempt_2027-01-01-00-00-00_a.py",
     ("HW_eve", "", "x_ann_attempt_2027-01-01-00-00-00_a.py")),
    ("1234-567 - Ann-Marie Lee - Nov 20, 2026 1015 AM - soft - max.py", ("1234", "Ann-Marie Lee", "soft - max.py")),
    ("1234-567 - Ann Lee - 20 November, 2026 10:15 - softmax.py", ("1234", "Ann Lee", "softmax.py")),
    ("1234-567 - Ann Lee - 2026 - Nov 20, 2026 1015 AM - x.py", ("1234", "Ann Lee - 2026", "x.py")),
    ("1-2 - Mal - Nov 1, 2026 900 AM - Nov 20, 2026 1000 AM - x.py", ("1", "Mal - Nov 1, 2026 900 AM", "x.py")),
    ("1234 - Ann Lee - softmax.py", None),
    ("1234-567 - Ann Lee - Nov 20, 2026 1015 AM", ("1234", "Ann Lee", "")),
    ("1-2 - Mal - Nov 1, 2026 900 AM - Nov 20, 2026 1000 AM", ("1", "Mal - Nov 1, 2026 900 AM", "")),
    ("1234-567 - Ann Lee - hw 2", None),
])  # fmt: skip
def test_names_as_blackboard_and_brightspace_make_them(name, expected):
    """Who it was, the file's own name, and when it was handed in: 20 November 2026 at ten, or a quarter past."""
    entry = brightspace(name) if name[0].isdigit() else blackboard(name)

    assert (entry and (entry.owner, entry.owner_name, entry.file)) == expected
    assert entry is None or abs(entry.submitted - parse_time("2026-11-20T10:00")) <= 900


def test_a_time_in_another_language_is_none():
    """The name is read, and the time is not guessed; a bare number is one from 2001 on."""
    entry = brightspace("1234-567 - Ann Lee - 20 nov. 2026 10 h 15 - softmax.py")

    assert (entry.owner, entry.file, entry.submitted) == ("1234", "softmax.py", None)
    entry = brightspace("1234-567 - Ann Lee - 20 nov. 2026 10 h 15")  # a folder
    assert (entry.owner, entry.file, entry.submitted) == ("1234", "", None)
    assert parse_time("30112026") is None and parse_time("1795000000") == 1795000000.0


BY_TEXT = {"HW_1_lee": "Name: Ann Lee (lee)\r\nAssignment: HW_1", "HW_1_x_lee": "Name: Eve (lee) X (x_lee)\r\n"}


@pytest.mark.parametrize("beginnings, texts, users, notes", [
    (["HW 1_lee", "HW 1_x_lee"], {}, ["lee", "x_lee"], []),
    (["HW_1_lee", "HW_1_x_lee"], {}, ["lee", "x_lee"], ["Taken for the assignment's title"]),
    (["HW_1_lee", "HW_1_x_lee"], BY_TEXT, ["lee", "x_lee"], []),
    (["HW_1_a_lee", "HW_1_x_lee"], {"HW_1_x_lee": "Nom : Eve (x_lee)"}, ["a_lee", "x_lee"], []),
    (["HW 1_lee", "HW 2_lee"], {}, ["lee", "lee"], []),
    (["HW 1_lee", "HW_2_x_lee"], {}, ["lee", "HW_2_x_lee"], ["is not certain"]),
    (["A_b_lee", "C_d_lee"], {}, ["A_b_lee", "C_d_lee"], ["is not certain"]),
    (["HW 1_lee", "HW 1_x_lee"], {"HW 1_x_lee": "Name: Eve (lee)"}, ["lee", "HW 1_x_lee"], ["is not certain"]),
    (["HW 1_lee", "HW 1_lea"], {"HW 1_lea": "Name: Lea (lee)"}, ["lee", "HW 1_lea"], ["Another user", "not certain"]),
    (["HW 1_lee"], {"HW 1_lee": "no name at all\n(eve)"}, ["lee"], []),
])  # fmt: skip
def test_users_of_blackboard_may_have_a_dash_below(folder, beginnings, texts, users, notes):
    """A title and a user are told apart by the texts beside and by all names; in doubt nothing is joined."""
    write(folder, {f"{one}_attempt_2026-11-20-10-00-0{n}_a.py": "" for n, one in enumerate(beginnings)})
    write(folder, {f"{one}_attempt_2026-11-20-10-00-00.txt": text for one, text in texts.items()})
    found = discover(folder, names=NamePattern.parse("blackboard"), attempts="all")

    assert {(one.learner, one.first.name.partition("_attempt_")[0]) for one in found.learners if one.kind} == set(
        zip(users, beginnings, strict=True)
    )
    said = [note for note in found.notes if not note.startswith("Left out")]
    assert len(said) == len(notes) and all(map(str.__contains__, said, notes)), said


def test_a_download_without_a_name_of_blackboard_is_told(folder):
    """Where no name is one of Blackboard's there is no title to look for, and it is said how such names look."""
    write(folder, {"notes.txt": ""})
    with pytest.raises(SubmissionError, match="none of the 1 names here is as Blackboard names them"):
        discover(folder, names=NamePattern.parse("blackboard"), attempts="all")


@pytest.mark.parametrize("expression, names, newest", [
    (r".+_(?P<id>[a-z]+)_attempt_(?P<attempt>[\d-]+)_(?P<file>.+)",
     ["H_ann_attempt_2026-11-20-10-00-00_a.py", "H_ann_attempt_2026-11-19-12-00-00_a.py"], 0),
    (r"(?P<id>[a-z]+)-(?P<attempt>[^_]+)_(?P<file>.+)", ["ann-draft 9_a.py", "ann-draft 10_a.py"], 1),
    (r"(?P<id>[a-z]+)-(?P<attempt>\d+)_(?P<file>.+)", ["ann-10_a.py", "ann-9_a.py"], 0),
    (r"(?P<id>[a-z]+) (?P<when>[^_]+)_(?P<file>.+)", ["ann 20 Nov 2026 2200_a.py", "ann 20 Nov 2026 0900_a.py"], 0),
    ("blackboard", ["H_ann_attempt_2026-11-20-10-00-00_a.py", "H_ann_attempt_2026-11-19-12-00-00_a.py"], 0),
    ("brightspace", ["1-2 - Ann - Nov 9, 2026 1000 AM - a.py", "1-2 - Ann - Nov 10, 2026 100 AM - a.py"], 1),
    ("brightspace", ["1-2 - Ann - Nov 9, 2026 1000 AM/a.py", "1-2 - Ann - Nov 10, 2026 100 AM/a.py"], 1),
])  # fmt: skip
def test_attempts_are_told_apart_by_number_time_or_text(folder, expression, names, newest):
    """Two attempts never become one hand-in, and the newer one is graded."""
    write(folder, {name: f"x = {number}" for number, name in enumerate(names)})
    pattern = NamePattern.parse(expression)
    (found,) = discover(folder, names=pattern, attempts="last").learners

    assert read_hand_in(found).files == {"a.py": f"x = {newest}".encode()}
    every = discover(folder, names=pattern, attempts="all").learners
    assert sorted(one.attempt for one in every) in ([1, 2], [9, 10])


def test_a_time_that_cannot_be_read_is_an_error(folder):
    """The message shows the text that the group matched."""
    write(folder, {"ann yesterday_a.py": ""})
    with pytest.raises(UsageError, match="no time in 'yesterday'"):
        discover(folder, names=NamePattern.parse(r"(?P<id>\w+) (?P<when>\w+)_(?P<file>.+)"))


def test_one_name_without_a_time_stops_no_class(folder):
    """Whoever has no time in a name is graded as all others are, and named in a note."""
    write(folder, {"ann 2026-11-20_a.py": "", "eve yesterday_a.py": ""})
    found = discover(folder, names=NamePattern.parse(r"(?P<id>\w+) (?P<when>[^_]+)_(?P<file>.+)"))

    assert [one.id for one in found.learners] == ["ann", "eve"]
    assert found.notes == ("No time was found for eve yesterday_a.py: it counts as older than any with one.",)


@pytest.mark.parametrize("files, expected", [
    (["softmax-2.py"], ["softmax.py"]),
    (["softmax-2.tar.gz", "b.py"], ["softmax.tar.gz", "b.py"]),
    (["softmax-6f1ed002-ab5c-4d3e-9f00-0123456789ab.py"], ["softmax.py"]),
    (["softmax.py", "softmax-1.py"], ["", "softmax.py"]),
    (["softmax-2.py", "softmax.py", "softmax-10.py", "b.py"], ["", "", "softmax.py", "b.py"]),
    (["part-1.py", "part-2.py"], ["part-1.py", "part-2.py"]),
    (["lab-2026.py", "-1.py", "multi-head.py"], ["lab-2026.py", "-1.py", "multi-head.py"]),
])  # fmt: skip
def test_of_uploads_that_canvas_numbered_the_newest_has_the_name(files, expected):
    """A file that was handed in again has its name back, so that other files can import it; older ones have none."""
    assert original_names(files) == expected


WORD = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters="/\0"), max_size=12)


@given(WORD.filter(lambda name: "_" not in name), st.booleans(), st.integers(1, 10**12), st.integers(1, 10**12), WORD)
@settings(deadline=None)
def test_a_canvas_name_is_read_back(name, late, user, attachment, file):
    """What Canvas puts together comes apart again, for every name that it can make."""
    entry = canvas("_".join([name, *(["LATE"] if late else []), str(user), str(attachment), file]))

    assert (entry.owner, entry.owner_name, entry.late, entry.file) == (str(user), name, late, file)


@given(WORD.filter(lambda name: name.strip() and "_" not in name), st.integers(1, 10**12), WORD, st.booleans())
@settings(deadline=None)
def test_a_moodle_name_is_read_back(name, number, file, in_folder):
    """What Moodle puts together comes apart again."""
    entry = moodle(f"{name}_{number}_assignsubmission_file{'' if in_folder else '_' + file}")

    assert (entry.owner, entry.owner_name, entry.file) == (str(number), name.strip(), "" if in_folder else file)


@given(st.text(max_size=300), st.sampled_from(list(map(NamePattern.parse, PLATFORMS))))
@settings(deadline=None)
def test_any_name_is_read_without_harm(name, pattern):
    """Any file name has an owner with an id, or no owner."""
    (entry,) = pattern.read([name])

    assert entry is None or entry.owner
    assert entry is None or len(name) <= MAX_NAME_LENGTH


# --- expressions ------------------------------------------------------------------------------------------------------


def test_a_regular_expression_says_id_name_attempt_lateness_and_file():
    """Its groups are read where it matches the whole name; other names have no owner."""
    pattern = NamePattern.parse(r"(?P<id>\w+?)-(?P<name>\w+)(?P<late>!?)@(?P<attempt>\d+)_(?P<file>.+)")
    first, second, none = pattern.read(["ann-Ann!@3_a.py", "bob-Bob@10_b.py", "xann-Ann@3"])

    assert (first.owner, first.owner_name, first.late, first.attempt, first.file) == ("ann", "Ann", True, 3, "a.py")
    assert (second.late, second.attempt, none) == (False, 10, None)


@pytest.mark.parametrize("text, says", [
    ("(?P<id>", "no regular expression"), ("(.+)", "no group"), ("cnavas", "did you mean canvas"),
    ("pupils", "none of the platforms"),
    ("(?P<id>.)(?P<pupil>.)", "group pupil"), ("(?P<id>a{1,99999999999})", "no regular expression"),
])  # fmt: skip
def test_an_expression_that_cannot_be_used_is_explained(text, says):
    """The instructor learns what is wrong with it and how one is written."""
    with pytest.raises(UsageError, match=says) as error:
        NamePattern.parse(text)
    assert "(?P<id>[^_]+)_(?P<file>.+)" in error.value.next_step


def test_nobody_is_called_by_blanks(folder):
    """An id of blanks is none, as an empty one is, and a folder's name of blanks is shown as a question mark."""
    write(folder, {"  _1/moving_average.py": SUMS, "ann_1/moving_average.py": SUMS, "  /moving_average.py": SUMS})
    found = discover(folder, names=NamePattern.parse(r"(?P<id>[^_]*)_(?P<attempt>\d+)"))

    assert [one.id for one in found.learners] == ["ann"] and sorted(found.ignored) == ["  _1", "?"]
    assert [one.id for one in discover(folder).learners] == ["?", "  _1", "ann_1"]


def test_an_expression_that_takes_for_ever_is_given_up(monkeypatch):
    """A name made to keep an expression busy costs a limited time, and the message says which it is."""
    monkeypatch.setattr("grader.intake.name_patterns.MATCH_SECONDS", 2.0)
    with pytest.raises(UsageError, match="too long on the name 'aaaa"):
        NamePattern.parse("(?P<id>(a+)+)b").read(["b", "aab", "a" * 60])


# --- downloads --------------------------------------------------------------------------------------------------------

DOWNLOAD = {
    "leeann_1234_11_moving_average-1.py": SUMS, "leeann_1234_12_helper.py": "x = 1",
    "poebob_LATE_77_13_hw.zip": None, "kimcy_78_14_work.ipynb": "{}", "doedan_79_text.html": "<p>hello",
    "notes.txt": "mine",
}  # fmt: skip


@pytest.fixture(params=["folder", "zip", "zip with a folder in it"])
def download(request, tmp_path):
    """A download from Canvas: unpacked, as it came, and packed again by hand."""
    make_zip(tmp_path / "bob.zip", {"moving_average.py": SUMS})
    files = {name: text or (tmp_path / "bob.zip").read_bytes() for name, text in DOWNLOAD.items()}
    if request.param == "folder":
        return write(tmp_path / "in", files)
    inner = "submissions/" if request.param.endswith("in it") else ""
    return make_zip(tmp_path / "submissions.zip", {f"{inner}{name}": text for name, text in files.items()})


def test_the_files_of_one_learner_are_one_hand_in(download):
    """From a folder or from the .zip itself: files of one person together, lateness, and what there is to read."""
    found = discover(download, names=CANVAS)

    assert rows(found) == [("79", "doedan", 1, False, "files"), ("78", "kimcy", 1, False, "notebook"),
                           ("1234", "leeann", 1, False, "files"), ("77", "poebob", 1, True, "zip")]  # fmt: skip
    assert found.ignored == ["notes.txt"]
    dan, cy, ann, bob = map(read_hand_in, found.learners)
    assert ann.files == {"moving_average.py": SUMS.encode(), "helper.py": b"x = 1"}
    assert bob.files == {"moving_average.py": SUMS.encode()}
    assert list(cy.files) == ["work.ipynb"] and "no Python file" in dan.problem


def test_a_newer_upload_is_read_and_an_older_one_named(folder):
    """Of softmax.py and softmax-1.py the second is the newer upload; what is no code is told of, and nothing else."""
    write(folder, {"leeann_1_11_argmax_2d.py": "old", "leeann_1_12_argmax_2d-1.py": "new", "leeann_1_13_talk.pdf": "",
                   "leeann_1_14_talk-1.pdf": ""})  # fmt: skip
    found = discover(folder, names=CANVAS)
    (ann,) = found.learners

    assert read_hand_in(ann).files == {"argmax_2d.py": b"new"}
    assert ann.notes == ("argmax_2d-1.py was judged; argmax_2d.py was not.",)
    assert "notebook or archive: leeann_1_13_talk.pdf, leeann_1_14_talk-1.pdf" in found.notes[0]


def test_a_learner_can_be_sent_to_another_process(download):
    """All that is known of a hand-in survives JSON."""
    for learner in discover(download, names=CANVAS).learners:
        copy = Learner.from_dict(learner.to_dict())
        assert copy == learner and read_hand_in(copy).digest == read_hand_in(learner).digest


def test_a_download_without_a_name_pattern_is_noticed(download):
    """Without --names each file is a learner; a note says that the names look like a platform's."""
    found = discover(download)

    assert len(found.learners) == 4
    assert "--names canvas" in found.notes[0]


def test_the_folders_of_moodle_are_one_hand_in(folder):
    """What was handed in as files and what was typed in lie in two folders of one participant."""
    write(folder, {"Ann Lee_12_assignsubmission_file_/hw/moving_average.py": SUMS,
                   "Ann Lee_12_assignsubmission_onlinetext_/onlinetext.html": "<p>",
                   "Bob Poe_13_assignsubmission_onlinetext_/onlinetext.html": "<p>"})  # fmt: skip
    found = discover(folder, names=MOODLE)

    assert [(one.id, one.name) for one in found.learners] == [("12", "Ann Lee"), ("13", "Bob Poe")]
    assert list(read_hand_in(found.learners[0]).files) == ["hw/moving_average.py"]


@pytest.mark.parametrize("packed", [False, True])
def test_gradescope_says_who_handed_in_what(tmp_path, packed):
    """Ids, names and groups come from the metadata of the export; of two submissions of one person the newer counts."""
    files = {f"assignment_1_export/submission_{n}/moving_average.py": f"n = {n}" for n in (11, 12, 13)}
    files["assignment_1_export/submission_metadata.yml"] = METADATA
    source = make_zip(tmp_path / "export.zip", files) if packed else write(tmp_path / "in", files)
    found = discover(source, names=GRADESCOPE)

    assert [(one.id, one.name, one.attempt) for one in found.learners] == [
        ("zoe@example.edu", "Zoë O'Hara", 1), ("0303", "D'Arcy", 1), ("0301", "Ann Lee", 2)]  # fmt: skip
    assert found.learners[0].together == ("0303",) and found.learners[1].together == ("zoe@example.edu",)
    assert found.older == ("0301@1 (submission_11)",) and not found.ignored
    assert read_hand_in(found.learners[2]).files["moving_average.py"] == b"n = 13"


@given(
    st.lists(
        st.sampled_from([*METADATA.split("\n"), "  :submitters: []", "x" * 99 + ":", "  - :name:" + " " * 50_000 + "x"])
    )
)
@settings(deadline=None, max_examples=60)
def test_any_lines_of_metadata_are_read_without_harm(lines):
    """Lines in any order, or far too long ones, give submissions or none."""
    for submission in read_metadata("\n".join(lines)).values():
        assert len(submission.submitters) <= 50


def test_what_a_learner_has_printed_names_no_person():
    """Autograder output in the metadata cannot name somebody, whatever ends of lines it holds."""
    printed = "\u2028submission_11:\u2028  :submitters:\u2028  - :name: Eve\u2028    :sid: '666'"
    found = read_metadata(METADATA + f"  :results:\n    :output: |\n      submission_12:\n      {printed}\n")

    assert [one.sid for submission in found.values() for one in submission.submitters] == ["0301", "", "0303", "0301"]


@pytest.mark.parametrize("mark", ["|-", ">"])
def test_a_name_in_several_lines_names_nobody_else(mark):
    """Lines of a person's name that look like another submitter are no submitter."""
    named = METADATA.replace("- :name: Ann Lee\n", f"- :name: {mark}\n      - :sid: '666'\n      - :name: Eve\n", 1)
    people = read_metadata(named)["submission_11"].submitters

    assert [(one.name, one.sid) for one in people] == [("", "0301")]


@pytest.mark.parametrize("number", ["0301", "0301 ", "ann@example.edu"])
def test_nobody_hands_in_for_another_by_their_number(tmp_path, number):
    """A student's number that is another's, as people may write their own, makes no attempt of that person."""
    person = "submission_{}:\n  :submitters:\n  - :name: {}\n    :sid: '{}'\n    :email: {}@example.edu\n"
    people = [(11, "Ann", "0301", "ann"), (12, "Ann", "0301", "Ann"), (13, "Eve", number, "eve")]
    files = {f"submission_{n}/moving_average.py": "" for n, *_ in people}
    files["submission_metadata.yml"] = "".join(person.format(*each) for each in people)
    found = discover(write(tmp_path / "in", files), names=GRADESCOPE)

    assert {one.id.lower(): one.attempt for one in found.learners} in (
        {"ann@example.edu": 2, "eve@example.edu": 1}, {"0301": 2, "eve@example.edu": 1})  # fmt: skip
    assert [number.strip() in note for note in found.notes if "address" in note] == [True]


def test_a_name_of_megabytes_is_cut():
    """What a learner calls themselves on Gradescope is not copied into every file at any length."""
    (found,) = read_metadata(f"submission_1:\n  :submitters:\n  - :name: {'x' * 3_000_000}\n").values()

    assert len(found.submitters[0].name) == 300


def test_gradescope_without_its_metadata_is_graded_by_number(folder):
    """Without the file that says who is who, the numbers of the submissions are the ids, and a note says so."""
    write(folder, {"submission_11/a.py": "x", "submission_12/a.py": "y"})
    found = discover(folder, names=GRADESCOPE)

    assert [one.id for one in found.learners] == ["11", "12"]
    assert "no submission_metadata.yml" in found.notes[0]


def test_names_of_another_form_are_an_error_that_shows_both(folder):
    """If no name is of the form that was asked for, the message shows one that is there and one as it should be."""
    write(folder, {"ann/a.py": "", "bob/a.py": ""})
    with pytest.raises(SubmissionError, match=re.escape("none of the 2 names here is as Canvas names them")) as error:
        discover(folder, names=CANVAS)
    assert "leeann_LATE_1234_5678_softmax.py" in error.value.what and "ann" in error.value.what


# --- attempts ---------------------------------------------------------------------------------------------------------

NUMBERED = NamePattern.parse(r"(?P<id>[a-z]+)(@(?P<attempt>\d+))?(?P<late>-late)?(\.\w+)?")


def test_the_newest_attempt_counts(folder):
    """By number where the names give one, ten after nine; the others are told of and not graded."""
    write(folder, {"ann@9/a.py": "9", "ann@10-late/a.py": "10", "ann@1.py": "1", "bob.py": "1"})
    found = discover(folder, names=NUMBERED)

    assert rows(found) == [("ann", "", 10, True, "folder"), ("bob", "", 1, False, "python")]
    assert sorted(found.older) == ["ann@1 (ann@1.py)", "ann@9 (ann@9)"]


@pytest.mark.parametrize("attempts", ["merge", "best", "last"])
def test_earlier_attempts_are_read_with_the_newest(folder, attempts):
    """Their files lie in a folder of their own, newest first; the last alone is read if that is asked for."""
    write(folder, {"ann@9/a.py": "9", "ann@10/b.py": "10", "ann@1.py": "1", "bob.py": "1"})
    ann, bob = discover(folder, names=NUMBERED, attempts=attempts).learners
    files = read_hand_in(Learner.from_dict(ann.to_dict())).files

    earlier = {"attempt 9/a.py": b"9", "attempt 1/ann@1.py": b"1"} if attempts != "last" else {}
    assert files == {"b.py": b"10", **earlier} and not bob.earlier
    assert list(files)[1:] == list(earlier)


def test_an_unreadable_attempt_does_not_hide_the_one_before_it(folder):
    """What could be read is, and the reader is told that something newer is there."""
    write(folder, {"ann@1.py": SUMS, "ann@2.zip": "no archive"})
    (ann,) = discover(folder, names=NUMBERED).learners
    hand_in = read_hand_in(ann)

    assert list(hand_in.files) == ["attempt 1/ann@1.py"] and not hand_in.problem
    assert "Attempt 1 was judged; a newer one was not: The archive is damaged" in hand_in.notes[-1]


def test_all_attempts_can_be_graded(folder):
    """With "all" each attempt has its id, and its learner stays known."""
    write(folder, {"ann@9/a.py": "9", "ann@10/a.py": "10", "bob.py": "1"})
    found = discover(folder, names=NUMBERED, attempts="all")

    assert [(one.id, one.learner, one.feedback) for one in found.learners] == [
        ("ann@10", "ann", "ann@10"), ("ann@9", "ann", "ann@9"), ("bob@1", "bob", "bob@1")]  # fmt: skip
    assert not found.older


def test_attempts_without_a_number_are_ordered_by_time(folder):
    """The newest file counts where names do not say which attempt it is."""
    pattern = NamePattern.parse(r"(?P<id>[a-z]+)-.*")
    write(folder, {"ann-late/a.py": "1", "ann-early/a.py": "2", "ann-mid.py": "3"})
    for name, when in {
        "ann-late/a.py": 300,
        "ann-late": 10,
        "ann-early": 20,
        "ann-early/a.py": 20,
        "ann-mid.py": 100,
    }.items():
        os.utime(folder / name, (when, when))
    found = discover(folder, names=pattern)

    assert [(one.source, one.attempt) for one in found.learners] == [("ann-late", 3)]
    assert sorted(found.older) == ["ann@1 (ann-early)", "ann@2 (ann-mid.py)"]


def test_an_id_is_one_person_whatever_its_capitals(folder):
    """Ann and ann are attempts of one person where names say who it is."""
    pattern = NamePattern.parse(r"(?P<id>[A-Za-z]+)_(?P<attempt>\d)\.py")
    write(folder, {"Ann_1.py": "1", "ann_2.py": "2"})
    found = discover(folder, names=pattern, attempts="all")

    assert [(one.id, one.learner) for one in found.learners] == [("Ann@1", "Ann"), ("Ann@2", "Ann")]


def test_unknown_ways_to_choose_attempts_are_refused(folder):
    """The message names those that are known."""
    write(folder, {"ann.py": ""})
    with pytest.raises(UsageError, match="oldest"):
        discover(folder, attempts="oldest")


# --- the archive of a class -------------------------------------------------------------------------------------------


def test_names_in_the_archive_of_a_class_lead_nowhere(tmp_path):
    """Members that lead out are ignored; within a learner's folder, leftovers and libraries are not read."""
    path = make_zip(tmp_path / "all.zip", {
        "../eve/a.py": "x", "/bob/a.py": "x", "ann/a.py": "x", "ann/venv/b.py": "x", "ann/../../c.py": "x",
        "__MACOSX/ann/._a.py": "x", "ann/.git/config": "x", "cy.py": "x",
    })  # fmt: skip
    found = discover(path)

    assert [(one.id, one.kind) for one in found.learners] == [("ann", "folder"), ("cy", "python")]
    assert list(read_hand_in(found.learners[0]).files) == ["a.py"]
    why = "its name leads out of the archive"
    left_out = ", ".join(f"{name} ({why})" for name in ("../eve/a.py", "/bob/a.py", "ann/../../c.py"))
    assert found.notes == (f"Left out of the archive: {left_out}.",)


def test_names_that_are_no_ascii_are_read_whether_or_not_the_archive_says_how(tmp_path):
    """UTF-8 that is not marked as such, as many programs write it, is still UTF-8."""
    path = make_zip(tmp_path / "all.zip", {"löpez_1_2_a.py": "x"})
    raw = path.read_bytes()
    for mark, offset in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        place = raw.index(mark) + offset
        raw = raw[:place] + bytes([raw[place] & ~0x08]) + raw[place + 1 :]
    path.write_bytes(raw)

    assert discover(path, names=CANVAS).learners[0].name == "löpez"


@pytest.mark.parametrize(
    "name, says", [("all.zip", "no .zip"), ("all.rar", "this is a file"), ("all.tar.gz", "this is a file")]
)
def test_a_file_that_is_no_download_is_an_error(tmp_path, name, says):
    """What cannot be read as a class's archive is said, with what to do."""
    (tmp_path / name).write_bytes(b"hello")
    with pytest.raises(SubmissionError, match=says) as error:
        discover(tmp_path / name)
    assert error.value.next_step


@given(
    st.lists(st.text(string.printable.replace("/", ""), min_size=1, max_size=8), min_size=1, max_size=6, unique=True)
)
@settings(deadline=None, max_examples=40)
def test_a_class_in_an_archive_is_the_class_in_a_folder(tmp_path_factory, names):
    """The learners, their ids and what they handed in are the same, packed and unpacked."""
    root = tmp_path_factory.mktemp("both")
    names = [name for name in names if name not in (".", "..") and not set(name) & set("\\:\r\n")]
    if not names or len({name.casefold() for name in names}) < len(names):
        return
    files = {f"{name}/a.py": f"x = {number}" for number, name in enumerate(names)} | {"zz/a.py": "1", "zy/b.py": "2"}
    packed = discover(make_zip(root / "all.zip", files))
    unpacked = discover(write(root / "in", files))

    assert [one.id for one in packed.learners] == [one.id for one in unpacked.learners]
    assert [read_hand_in(one).files for one in packed.learners] == [
        read_hand_in(one).files for one in unpacked.learners
    ]


@pytest.mark.parametrize("count", [21, 22])
def test_who_has_more_attempts_than_are_looked_at_is_told(folder, count):
    """The newest and twenty earlier ones are looked at; the hand-in's notes say that there were more."""
    write(folder, {f"ann-{number}_a.py": f"x = {number}" for number in range(1, count + 1)})
    pattern = NamePattern.parse(r"(?P<id>[a-z]+)-(?P<attempt>\d+)_(?P<file>.+)")
    (found,) = discover(folder, names=pattern, attempts="merge").learners

    told = "Of 22 attempts the newest 21 were looked at; the others were left out."
    assert (told in read_hand_in(found).notes) == (count == 22)
    assert len(found.earlier) == 20
