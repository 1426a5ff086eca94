"""grader.intake: who handed in what, read without trusting any of it."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import stat
import tarfile
import zipfile
import zlib
from pathlib import PureWindowsPath
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hand_ins import ANSWERS, SUMS, TINY, add_member, learner_of, make_notebook, make_tar, make_zip, write

from grader.course import load
from grader.errors import SubmissionError
from grader.files import file_name
from grader.intake import limits
from grader.intake.answers.last_bindings import last_bindings
from grader.intake.discover import discover
from grader.intake.formats import zip_member
from grader.intake.hand_in import HandIn, _read_archive, read_hand_in
from grader.intake.learner import printable
from grader.intake.match_lessons import LessonMatcher
from grader.intake.name_patterns import NamePattern
from grader.intake.unique_ids import suggest_ids, unique


@pytest.fixture(scope="module")
def course():
    return load(TINY)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


# --- discover ---------------------------------------------------------------------------------------------------------


def test_each_direct_child_is_one_learner(folder):
    """Folders, archives, notebooks and Python files are learners; hidden entries, leftovers and other files are not."""
    write(folder, {"ann/a.py": "", "bob.zip": "", "cy.ipynb": "", "dan.PY": "", ".git/x.py": "", "__pycache__/x.py": "",
                   "__MACOSX/._a": "", "readme.txt": "", "out/results.json": ""})  # fmt: skip
    found = discover(folder, leave_out=folder / "out")

    assert [(learner.id, learner.kind) for learner in found.learners] == [
        ("ann", "folder"), ("bob", "zip"), ("cy", "notebook"), ("dan", "python")]  # fmt: skip
    assert found.ignored == ["readme.txt"]


@pytest.mark.parametrize("zipped", [False, True])
def test_a_hidden_folder_is_told(folder, zipped):
    """Whose folder has a name that hides it is graded by nobody, but not passed over in silence."""
    write(folder, {"ann/a.py": "", "..bob/a.py": "", ".cy/a.py": "", ".git/x.py": "", ".ipynb_checkpoints/x.py": "",
                   ".hidden": ""})  # fmt: skip
    if zipped:
        shutil.make_archive(str(folder.parent / "class"), "zip", folder.parent, folder.name)
    found = discover(folder.parent / "class.zip" if zipped else folder)

    assert [learner.id for learner in found.learners] == ["ann"]
    assert found.ignored == ["..bob", ".cy"]


@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_that_its_name_hides_is_told_where_nothing_else_is_there(folder, zipped):
    """Who handed in nothing but `.a.py` reads why it was not read; what a system left behind is named to nobody."""
    write(folder, {"ann/.a.py": "x = 1", "ann/._b.py": "of a Mac's disk"})
    if zipped:
        shutil.make_archive(str(folder / "ann"), "zip", folder / "ann")
        shutil.rmtree(folder / "ann")
    (learner,) = discover(folder).learners
    problem = read_hand_in(learner).problem

    assert "What there is: .a.py. A file whose name begins with a dot is not read." in problem and "_b" not in problem


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", [".. .._1003_assignsubmission_file_/a.py", ".Bo_1003_assignsubmission_file_a.py"])
def test_a_hidden_name_that_a_platform_made_is_a_hand_in(folder, zipped, name):
    """A person's name may begin with a dot: with --names the folder, or the file, is read as any other."""
    junk = "._Ed_1004_assignsubmission_file_a.py"
    write(folder, {"Ann Lee_1002_assignsubmission_file_/a.py": "x = 1", name: "x = 2", junk: "of a Mac's disk"})
    if zipped:
        shutil.make_archive(str(folder.parent / "class"), "zip", folder.parent, folder.name)
    found = discover(folder.parent / "class.zip" if zipped else folder, names=NamePattern.parse("moodle"))
    hand_in = {learner.id: read_hand_in(learner) for learner in found.learners}

    assert hand_in.keys() == {"1002", "1003"} and not hand_in["1003"].problem
    assert list(hand_in["1003"].files.values()) == [b"x = 2"]


def test_one_persons_files_side_by_side_are_noticed(folder):
    """In a flat folder one person's files are hand-ins by themselves; the expression that joins them is told."""
    write(folder, {"ada_lovelace_moving_average.py": "", "ada_lovelace_argmax_2d.py": "", "alan-argmax_2d.py": ""})
    found = discover(folder, lessons=["argmax_2d", "moving_average"])
    (hint,) = found.notes
    _, expression, _ = hint.split("'")
    joined = discover(folder, names=NamePattern.parse(expression), lessons=["argmax_2d", "moving_average"])

    assert len(found.learners) == 3 and "--names" in hint
    assert [(one.id, len(one.entries)) for one in joined.learners] == [("ada_lovelace", 2), ("alan", 1)]
    assert not joined.notes
    assert not discover(folder, lessons=["argmax_2d"]).notes


def test_two_hand_ins_of_one_name_have_two_ids(folder):
    """Where a folder and an archive have the same name, the whole file names are the ids."""
    write(folder, {"ann/a.py": "", "ann.zip": "", "Ann.py": ""})
    found = discover(folder)

    assert [learner.id for learner in found.learners] == ["Ann", "ann", "ann.zip"]
    assert "differ in the suffix alone" in found.notes[0] and "Ann.py, ann, ann.zip" in found.notes[0]
    assert len({learner.feedback.casefold() for learner in found.learners}) == 3


@pytest.mark.parametrize("name", ["über Straße", "=1+1", "a\nb", "\u202etxt", "a:b*?", "--help", "x" * 250])
def test_a_name_becomes_a_file_name_that_leads_nowhere(folder, name):
    """Whatever a learner's folder is called, their feedback file lies in the feedback folder."""
    (folder / name).mkdir()
    (learner,) = discover(folder).learners

    assert (
        learner.feedback
        and not set(learner.feedback) & set("/\\\n\0 :*?")
        and not learner.feedback.startswith((".", "-"))
    )
    assert len(learner.feedback.encode()) <= 200
    assert learner.id.isprintable()


NAMES = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1, max_size=20)


@given(st.lists(NAMES, min_size=1, max_size=12, unique=True))
@settings(deadline=None, max_examples=60)
def test_ids_and_feedback_files_are_never_shared(names):
    """No two learners have one id, nor one feedback file on a system that does not tell capitals from small letters."""
    shown = [printable(name) for name in names]
    ids = unique(shown, shown)
    files = [file_name(name) for name in ids]

    assert len(set(ids)) == len(names)
    assert len({name.casefold() for name in unique(files, files, fold=True)}) == len(names)


def test_a_folder_without_submissions_is_an_error(folder):
    """Neither an empty folder nor one that is not there can be graded."""
    for path in (folder, folder / "nowhere"):
        with pytest.raises(SubmissionError) as error:
            discover(path)
        assert str(path) in str(error.value)


@pytest.mark.parametrize("wanted", ["1001 ", "01001", "１００１"])
def test_an_id_that_is_written_otherwise_leads_to_itself(wanted):
    """Blanks, zeros before a number and wide digits do not lead to a neighbour with a similar number."""
    assert suggest_ids(wanted, {"1000": "", "1001": "Ann", "1002": "1003", "1003": "1001 x"}) == ["1001"]


# --- what is read -----------------------------------------------------------------------------------------------------


def test_links_in_a_hand_in_are_not_followed(folder):
    """A link to somebody else's answer is left out, and said so."""
    write(folder, {"bob/argmax_2d.py": ANSWERS["argmax_2d"], "eve/moving_average.py": SUMS})
    (folder / "eve" / "argmax_2d.py").symlink_to(folder / "bob" / "argmax_2d.py")
    (folder / "eve" / "more").symlink_to(folder / "bob")
    hand_in = read_hand_in(learner_of(folder / "eve", "folder"))

    assert list(hand_in.files) == ["moving_average.py"]
    assert hand_in.notes == ["argmax_2d.py was left out: it is a link."]


def test_a_pipe_in_a_hand_in_does_not_stop_the_grader(folder):
    """What is no ordinary file is left out without being opened for long."""
    write(folder, {"eve/moving_average.py": SUMS})
    os.mkfifo(folder / "eve" / "argmax_2d.py")
    hand_in = read_hand_in(learner_of(folder / "eve", "folder"))

    assert list(hand_in.files) == ["moving_average.py"]
    assert "no ordinary file" in hand_in.notes[0]


def test_what_is_read_of_a_hand_in_is_bounded(folder, monkeypatch):
    """Too many files or too large ones are left out, those nearest the top last."""
    monkeypatch.setattr("grader.intake.hand_in.MAX_FILES", 3)
    write(folder / "eve", {"moving_average.py": SUMS, **{f"deep/er/{n}.py": "" for n in range(5)}, "venv/lib/x.py": ""})
    hand_in = read_hand_in(learner_of(folder / "eve", "folder"))

    assert list(hand_in.files) == ["moving_average.py", "deep/er/0.py", "deep/er/1.py"]
    assert "too large" in hand_in.notes[0]


def test_names_in_an_archive_lead_nowhere(folder):
    """Members with names that lead out of the archive, and links, are left out with a note; the rest is read."""
    names = ["../up.py", "/root.py", "a/../../b.py", "C:/c.py", "d\\e.py", "ok.py", "__MACOSX/._ok.py", "notes.txt"]
    path = make_zip(folder / "eve.zip", dict.fromkeys(names, "x = 1"))
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo("link.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    hand_in = read_hand_in(learner_of(path, "zip"))

    assert hand_in.files == {"ok.py": b"x = 1", "d/e.py": b"x = 1"}  # some programs write backslashes
    assert len(hand_in.notes) == 5
    assert not hand_in.problem


@pytest.mark.parametrize("made", ["zip", "tar", "class"])
@pytest.mark.parametrize("name", ["HW1: attention", "2026-11-20 12:30:05", "A: sums"])
def test_a_folder_with_a_colon_in_its_name_is_read(folder, made, name):
    """Other systems than Windows allow it; what leads out is a drive, of which the name is one letter."""
    files = {f"{name}/ann/moving_average.py": SUMS, "C:/moving_average.py": "x = 1", "C:": "x = 1"}
    if made == "class":
        found = discover(make_zip(folder / "class.zip", {f"ann/{one}": text for one, text in files.items()} | files))
        assert f"{name}/ann/moving_average.py" in read_hand_in(found.learners[-1]).files
        assert "C:/moving_average.py (its name leads out" in found.notes[0]
        return
    path = (make_tar if made == "tar" else make_zip)(folder / f"eve.{made}", files)
    hand_in = read_hand_in(learner_of(path, made))

    assert list(hand_in.files) == [f"{name}/ann/moving_average.py"]
    assert hand_in.notes == ["C:/moving_average.py was left out: its name leads out of the archive."]


@pytest.mark.parametrize("first", ["C:", "C:hw", "A: sums"])
def test_on_windows_whatever_begins_as_a_drive_leads_out(monkeypatch, first):
    """There a folder joined with such a name is another drive's; below a folder it is none."""
    monkeypatch.setattr(zip_member, "ON_WINDOWS", True)

    assert PureWindowsPath("here", f"{first}/x.py").parts[0] != "here"
    assert zip_member.why_refused(f"{first}/x.py") and not zip_member.why_refused(f"a/{first}/x.py")
    assert not zip_member.why_refused("HW1: attention/x.py")


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "inside another"])
@pytest.mark.parametrize("name", ["eve.zip", "eve.tar", "eve.tar.gz", "eve.tgz"])
def test_an_archive_is_read_as_what_it_is(folder, name, inside):
    """Whoever writes another suffix behind it has handed in the same; of other kinds it is told which it is."""
    made = [make_zip(folder / "a.zip", {"a.py": SUMS}), make_tar(folder / "a.tar", {"BZh91AY&SY/a.py": SUMS})]
    made.append(make_tar(folder / "a.tar.gz", {"a.py": SUMS}))
    for content in [one.read_bytes() for one in made]:
        path = write(folder, {name: content}) / name
        path = make_zip(folder / "outer.zip", {name: content}) if inside else path
        hand_in = read_hand_in(learner_of(path, "zip" if path.suffix == ".zip" else "tar"))
        assert list(hand_in.files.values()) == [SUMS.encode()] and not (hand_in.notes or hand_in.problem)

    for sign, kind in ((b"7z\xbc\xaf\x27\x1c", ".7z"), (b"Rar!\x1a\x07\x01\0", ".rar"), (b"\xfd7zXZ\0", ".xz")):
        path = write(folder, {name: sign + bytes(900)}) / name
        problem = read_hand_in(learner_of(path, "zip" if path.suffix == ".zip" else "tar")).problem
        assert problem == f"The archive is a {kind}: hand in a .zip or a .tar.gz."


@pytest.mark.parametrize("made", ["zip", "tar", "class"])
def test_an_empty_part_of_a_name_is_none(folder, made):
    """Some programs join names with one slash too many; a letter of a Japanese folder may end in a backslash's byte."""
    names = [
        "subs//ann///hw1//.//moving_average.py",
        "subs//bob/x.py",
        "subs//./cy/./" + "表".encode("cp932").decode("cp437") + "/y.py",
    ]
    refused = ["//root.py", "/./b.py", "subs//..//up.py", "./..//up.py", ".//C:/c.py", "C://d.py"]
    files = dict.fromkeys([*names, *refused], "x = 1")
    if made == "class":
        found = discover(make_zip(folder / "class.zip", files))
        assert [list(read_hand_in(one).files) for one in found.learners] == [
            ["hw1/moving_average.py"], ["x.py"], ["ò/y.py"]]  # fmt: skip
        assert f"{refused[-1]} (its name leads out" in found.notes[0]
        return
    path = (make_tar if made == "tar" else make_zip)(folder / f"eve.{made}", files)
    hand_in = read_hand_in(learner_of(path, made))

    read = {"subs/ann/hw1/moving_average.py", "subs/bob/x.py"}
    assert read < set(hand_in.files) and len(hand_in.files) == 3 and not hand_in.problem
    assert len(hand_in.notes) == len(refused)


def test_a_bomb_does_not_go_off(folder):
    """Of a member that unpacks to a gigabyte, no more is read than a Python file may have."""
    path = folder / "eve.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("moving_average.py", "w") as member:
        for _ in range(64):
            member.write(b" " * (1 << 20))
    hand_in = read_hand_in(learner_of(path, "zip"))

    assert len(hand_in.files["moving_average.py"]) == limits.limit_for("moving_average.py")


def test_an_encrypted_archive_is_refused(folder):
    """An archive with a password is not guessed at: the problem is said."""
    path = make_zip(folder / "eve.zip", {"moving_average.py": SUMS})
    raw = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + offset] |= 1
    path.write_bytes(raw)

    assert "encrypted" in read_hand_in(learner_of(path, "zip")).problem


@given(st.binary(max_size=300), st.integers(0, 400))
@settings(deadline=None, max_examples=60)
def test_a_damaged_archive_is_a_problem_and_no_accident(tmp_path_factory, junk, place):
    """Whatever bytes stand in an archive, reading it ends with files, notes or a problem."""
    path = make_zip(tmp_path_factory.mktemp("zip") / "eve.zip", {"moving_average.py": SUMS, "b.py": "x = 1"})
    raw = path.read_bytes()
    path.write_bytes(raw[:place] + junk + raw[place + len(junk) :])
    hand_in = read_hand_in(learner_of(path, "zip"))

    assert hand_in.files or hand_in.problem


# --- tar --------------------------------------------------------------------------------------------------------------

CLASS = {"moving_average.py": SUMS, "deep/argmax_2d.py": ANSWERS["argmax_2d"], "notes.txt": "hello"}


@pytest.mark.parametrize("name", ["eve.tar", "eve.tar.gz", "eve.tgz"])
@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_is_read_as_a_zip_is(folder, name, form):
    """Python files at any depth, with long names and names that are no ASCII, in every form that programs write."""
    long = f"{'a' * 90}/{'ü' * 40}.py"
    path = make_tar(folder / name, {f"./{one}": text for one, text in {**CLASS, long: "x = 1"}.items()}, form)
    hand_in = read_hand_in(learner_of(path, "tar"))

    assert hand_in.files == {
        "moving_average.py": SUMS.encode(),
        "deep/argmax_2d.py": ANSWERS["argmax_2d"].encode(),
        long: b"x = 1",
    }
    assert not hand_in.notes and not hand_in.problem


def test_names_and_kinds_in_a_tar_lead_nowhere(folder):
    """Names that lead out, links of both kinds, pipes, devices and files with holes are left out with a note."""
    path = folder / "eve.tar"
    with tarfile.open(path, "w") as archive:
        for name in ("../up.py", "/root.py", "a/../../b.py", "ok.py"):
            add_member(archive, name, b"x = 1")
        kinds = {"sym.py": tarfile.SYMTYPE, "hard.py": tarfile.LNKTYPE, "pipe.py": tarfile.FIFOTYPE,
                 "disk.py": tarfile.BLKTYPE, "tty.py": tarfile.CHRTYPE}  # fmt: skip
        for name, kind in kinds.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        holes = tarfile.TarInfo("holes.py")
        holes.type = tarfile.GNUTYPE_SPARSE
        archive.addfile(holes)
    hand_in = read_hand_in(learner_of(path, "tar"))

    assert hand_in.files == {"ok.py": b"x = 1"}
    assert len(hand_in.notes) == 9


def test_a_tar_bomb_does_not_go_off(folder, monkeypatch):
    """What a .tar.gz unpacks to is bounded, and so is what is kept of one file."""
    monkeypatch.setattr("grader.intake.formats.tar.MAX_ARCHIVE_BYTES", 8 << 20)
    small = make_tar(folder / "ann.tar.gz", {"moving_average.py": b" " * (4 << 20)})
    large = make_tar(folder / "eve.tar.gz", {"rest.bin": b" " * (9 << 20), "moving_average.py": SUMS})

    kept = read_hand_in(learner_of(small, "tar")).files["moving_average.py"]
    assert len(kept) == limits.limit_for("moving_average.py")
    assert "unpacks to more than 8 MB" in read_hand_in(learner_of(large, "tar")).problem


def test_a_gz_of_many_members_is_read_as_far_as_one_of_many_files(folder):
    """Packers may begin anew at any byte and fill up with zeros; members that hold nothing are spent all the same."""
    whole = gzip.decompress(make_tar(folder / "ann.tar.gz", {"moving_average.py": SUMS}).read_bytes())
    parts = [whole[start : start + 100] for start in range(0, len(whole), 100)]
    (folder / "ann.tar.gz").write_bytes(b"".join(map(gzip.compress, [b"", *parts])) + bytes(20_000))
    (folder / "eve.tar.gz").write_bytes(gzip.compress(b"") * (limits.MAX_UNPACKED_BYTES // 1000))

    assert read_hand_in(learner_of(folder / "ann.tar.gz", "tar")).files == {"moving_average.py": SUMS.encode()}
    assert "hold more than 256 MB" in read_hand_in(learner_of(folder / "eve.tar.gz", "tar")).problem


@pytest.mark.slow
@pytest.mark.parametrize(
    "make, name, kind",
    [(make_zip, "eve.zip", "zip"), pytest.param(make_tar, "eve.tar.gz", "tar", marks=pytest.mark.slow)],
)
def test_a_hundred_thousand_members_are_too_many(folder, make, name, kind):
    """An archive of endlessly many files is refused, in a sentence; one with a virtual environment is not."""
    eve = make(folder / name, {f"{n}.py": b"" for n in range(limits.MAX_ENTRIES + 1)})
    ann = make(folder / f"ann-{name}", {f"venv/{n}.py": b"" for n in range(limits.MAX_ENTRIES + 1)} | {"a.py": SUMS})

    assert "more than 20000 files" in read_hand_in(learner_of(eve, kind)).problem
    assert list(read_hand_in(learner_of(ann, kind)).files) == ["a.py"]


@pytest.mark.parametrize("made", ["zip", "tar", "class", "folder"])
def test_pictures_that_are_never_read_leave_room_for_the_file_behind_them(folder, monkeypatch, made):
    """Thousands of files that a network is trained with count for less than what is read, but not for nothing."""
    monkeypatch.setattr(limits, "MAX_ENTRIES", 50)
    files = {f"ann/data/{n:03}.png": "x" for n in range(200)} | {"ann/zz/moving_average.py": SUMS}
    if made == "folder":
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        learner = learner_of(folder / "ann", "folder")
    elif made == "class":
        learner = discover(make_zip(folder / "all.zip", files | {"bob/x.py": "x = 1"})).learners[0]
    else:
        learner = learner_of((make_tar if made == "tar" else make_zip)(folder / f"ann.{made}", files), made)

    assert [path.rpartition("/")[2] for path in read_hand_in(learner).files] == ["moving_average.py"]
    monkeypatch.setattr(limits, "MAX_NAMES", 150)
    hand_in = read_hand_in(learner)
    assert not hand_in.files and "150 files of any kind" in hand_in.problem + "".join(hand_in.notes)


def test_a_list_of_members_is_not_read_whatever_its_length(folder):
    """An archive that claims a list of members of a gigabyte is refused before `zipfile` reads that."""
    path = make_zip(folder / "eve.zip", {"a.py": "x"})
    raw = bytearray(path.read_bytes())
    raw[-10:-6] = (1 << 30).to_bytes(4, "little")
    path.write_bytes(raw)

    assert "far too many entries" in read_hand_in(learner_of(path, "zip")).problem


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_a_damaged_tar_is_a_problem_and_no_accident(tmp_path_factory, data):
    """Whatever bytes stand in a .tar, reading it ends with files, notes or a problem."""
    path = make_tar(tmp_path_factory.mktemp("tar") / "eve.tar", {"moving_average.py": SUMS, "ü" * 80 + ".py": "x = 1"})
    raw = bytearray(path.read_bytes()[: data.draw(st.integers(0, 6000))])
    for _ in range(data.draw(st.integers(0, 6))):
        place = data.draw(st.integers(0, 3000))
        raw[place : place + 4] = data.draw(st.binary(min_size=4, max_size=4))
    for start in range(0, len(raw) - 512, 512):  # with right sums, or nothing behind the first header is looked at
        if data.draw(st.booleans()):
            header = raw[start : start + 148] + b" " * 8 + raw[start + 156 : start + 512]
            raw[start + 148 : start + 156] = b"%06o\0 " % sum(header)
    path.write_bytes(raw)
    hand_in = read_hand_in(learner_of(path, "tar"))

    assert hand_in.files or hand_in.problem


def test_archives_of_both_kinds_are_opened_in_a_folder_and_once_in_each_other(folder):
    """Archives are read as folders, one inside another too; what lies inside two is left out, and said so."""
    innermost = make_zip(folder / "innermost.zip", {"d.py": "x"}).read_bytes()
    inner = make_tar(folder / "inner.tgz", {"b.py": "x", "innermost.zip": innermost}).read_bytes()
    make_zip(folder / "eve" / "one.zip", {"a.py": "x", "inner.tgz": inner, "broken.zip": b"no archive"})
    make_tar(folder / "eve" / "two.tgz", {"c.py": "x", "inner.tgz": inner})
    write(folder, {"eve/three.zip": "no archive"})
    hand_in = read_hand_in(learner_of(folder / "eve", "folder"))

    assert sorted(hand_in.files) == ["one.zip/a.py", "one.zip/inner.tgz/b.py", "two.tgz/c.py", "two.tgz/inner.tgz/b.py"]
    notes = " ".join(hand_in.notes)
    assert "inner.tgz/innermost.zip was left out: it is an archive inside two others." in notes
    assert "one.zip/broken.zip: The archive is damaged" in notes and "three.zip: The archive is damaged" in notes


@pytest.mark.parametrize("form", ["folder", "zip", "tar", "class", "parts"])
def test_data_that_unpacks_to_too_much_costs_no_source(folder, form):
    """An archive beside the work, whose name comes first, is read after it, however the two are handed in."""
    data = make_tar(folder.parent / "data.tar.gz", {"rest.bin": bytes(4 << 20)}).read_bytes()
    files: dict[str, str | bytes] = {"data.tar.gz": data, "softmax.py": "x = 1\n"}
    if form == "folder":
        write(folder / "eve", files)
    elif form == "zip":
        make_zip(folder / "eve.zip", files)
    elif form == "tar":
        make_tar(folder / "eve.tar", files)
    elif form == "class":
        make_zip(folder / "class.zip", {f"{who}/{name}": files[name] for who in ("eve", "zoe") for name in files})
        folder /= "class.zip"
    else:
        write(
            folder,
            {
                f"{who}_{number}_{name}": files[name]
                for who in ("evelee_1001", "zoelee_1002")
                for number, name in enumerate(files, 50001)
            },
        )
    names = NamePattern.parse("canvas") if form == "parts" else None
    learner = discover(folder, names=names).learners[0]
    hand_in = read_hand_in(learner, HandIn(unpacked_left=2 << 20))

    assert list(hand_in.files.values()) == [b"x = 1\n"] and not hand_in.problem
    assert "its archives hold more than" in hand_in.notes[-1]


def test_what_inner_archives_unpack_to_is_bounded_together(folder):
    """Many archives in one count towards the limit of the hand-in, however small each of them is."""
    inner = make_zip(folder / "inner.zip", {f"{number}.py": b"#" * 500_000 for number in range(4)}).read_bytes()
    path = make_zip(folder / "eve.zip", {f"{number}.zip": inner for number in range(9)})
    hand_in = HandIn(unpacked_left=4 << 20)
    with hand_in.takes_the_blame("eve.zip"):
        _read_archive(path, "", "eve.zip", "", hand_in)

    assert 0 < len(hand_in.files) < 12
    assert any("hold more than" in note for note in hand_in.notes)


def test_what_a_quick_program_packs_to_more_than_it_was_is_read(folder, monkeypatch):
    """Random weights grow by a quarter in short blocks, as some programs write them at their quickest level."""

    class Quick:
        def __init__(self) -> None:
            self.packer = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)

        def compress(self, content: bytes) -> bytes:
            pieces = (content[start : start + 22] for start in range(0, len(content), 22))
            return b"".join(self.packer.compress(one) + self.packer.flush(zlib.Z_SYNC_FLUSH) for one in pieces)

        def flush(self) -> bytes:
            return self.packer.flush()

    monkeypatch.setattr(zipfile, "_get_compressor", lambda *_: Quick())
    weights = Random(0).randbytes(1 << 20)
    path = make_zip(folder / "eve.zip", {"model.safetensors": weights, "argmax_2d.py": "x = 1\n"})
    hand_in = read_hand_in(learner_of(path, "zip"))

    assert path.stat().st_size > 1.2 * len(weights)
    assert hand_in.files["model.safetensors"] == weights and not hand_in.notes


@pytest.mark.parametrize("name", ["argmax_2d.py.txt", "Argmax_2d.PY.TXT", "work.ipynb.txt"])
def test_a_name_with_txt_behind_it_is_read_as_what_it_was(folder, name):
    """Some forms and mail programs take no .py; in a folder, an archive or alone the file is read, with a note."""
    content = make_notebook(ANSWERS["argmax_2d"]) if "ipynb" in name else ANSWERS["argmax_2d"]
    write(folder, {f"ann/{name}": content, f"{name}": content})
    make_zip(folder / "bob.zip", {name: content})
    learners = [one for one in discover(folder).learners if one.kind in ("folder", "zip", "python", "notebook")]

    assert len(learners) == 3
    for hand_in in map(read_hand_in, learners):
        assert list(hand_in.files) == [name[:-4]] and hand_in.notes == [f"{name} was read as {name[:-4]}."]


def test_a_text_beside_the_file_of_its_name_is_kept(tmp_path):
    """Work that was saved as softmax.py.txt beside an empty softmax.py is not lost."""
    write(tmp_path / "in" / "ann", {"softmax.py": "stub", "softmax.py.txt": "work"})
    hand_in = read_hand_in(discover(tmp_path / "in").learners[0])

    assert hand_in.files == {"softmax.py": b"stub", "softmax (copy).py": b"work"}
    assert hand_in.notes == ["softmax.py.txt was read as softmax (copy).py."]


# --- which file is which lesson ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("files, expected", [
    (["moving_average.py"], "moving_average.py"),
    (["basics/moving_average.py", "moving_average.py"], "basics/moving_average.py"),
    (["moving_average.py", "old/moving_average.py"], "moving_average.py"),
    (["week 1/moving_average.py"], "week 1/moving_average.py"),
    (["hand-in/basics/moving_average.py", "hand-in/old/moving_average.py"], "hand-in/basics/moving_average.py"),
    (["Moving-Average.py"], "Moving-Average.py"),
    (["a/moving_average.py", "b/moving_average.py"], ""),
    (["a/moving_average.py", "b/c/moving_average.py"], "a/moving_average.py"),
    (["moving_average.ipynb", "other.py"], "moving_average.ipynb"),
    (["work.ipynb"], "work.ipynb"),
    (["argmax_2d.py"], ""),
    ([], ""),
])  # fmt: skip
def test_the_file_of_a_lesson_is_found_by_its_name(course, files, expected):
    """The track's folder goes first, then the top, then the one nearest to it; two that differ are no answer."""
    sources = {path: f"def moving_average(x, window): return {number}" for number, path in enumerate(files)}

    assert LessonMatcher(course, sources).match(course.lessons["moving_average"])[0] == expected


@pytest.mark.parametrize("files, expected", [
    ({"basics/moving_average.py": "stub", "work.ipynb": "work"}, "work.ipynb"),
    ({"basics/moving_average.py": "stub", "my_average.py": "work"}, "my_average.py"),
    ({"basics/moving_average.py": "stub", "moving_average.py": "work"}, "moving_average.py"),
    ({"moving_average.py": "bare", "work.ipynb": "work", "poem.py": "other"}, "work.ipynb"),
    ({"moving_average.py": "other", "work.py": "work"}, "work.py"),
    ({"moving_average.py": "broken", "work.py": "work"}, "moving_average.py"),
    ({"moving_average.py": "stub", "work.py": "stub"}, "moving_average.py"),
    ({"moving_average.py": "stub", "poem.py": "other"}, "moving_average.py"),
    ({"moving_average.py": "import", "work.py": "work"}, "moving_average.py"),
])  # fmt: skip
def test_the_empty_exercise_ranks_below_any_work(course, files, expected):
    """Who leaves the stub in place and writes elsewhere is judged by what they wrote, and the choice is told."""
    stub = (TINY / "exercises/basics/moving_average.py").read_text()
    texts = {"stub": stub, "bare": re.sub(r' {4}""".*?"""', "    # later", stub, flags=re.S), "work": SUMS,
             "other": "x = 1", "broken": "def moving_average(x, window):\n    return (",
             "import": "from work import moving_average"}  # fmt: skip
    matcher = LessonMatcher(course, {path: texts[kind] for path, kind in files.items()})
    path, note = matcher.match(course.lessons["moving_average"])

    assert path == expected
    left = [name for name, kind in files.items() if name != path and kind in ("stub", "bare")]
    assert all(f"{name}, still the empty exercise, was not." in note for name in left if files[path] == "work")


@pytest.mark.parametrize("body", [
    "pass  # YOUR CODE HERE", "...", "return ...", "return None", "raise NotImplementedError",
    "raise NotImplementedError(\n        'later')", '"""The means."""\n', '"""The means."""\n    pass\n    return',
])  # fmt: skip
@pytest.mark.parametrize("copy", ["hw1-Copy1.ipynb", "Copy of hw1.ipynb", "hw1 (1).py", "other.py", "hw1_old.py"])
def test_a_function_without_a_body_ranks_below_any_work(course, body, copy):
    """The teacher's template, which is no exercise of the course, hides no copy in which somebody worked."""
    template = f"import numpy as np\n\ndef moving_average(x, window):\n    {body}\n"
    lesson = course.lessons["moving_average"]

    assert LessonMatcher(course, {"hw1.ipynb": template, "a.py": template}).match(lesson)[0] == "a.py"
    for name in ("hw1.ipynb", "moving_average.py"):
        assert LessonMatcher(course, {name: template, copy: SUMS}).match_answer(lesson) == (
            copy, f"{copy} was judged; {name}, still the empty exercise, was not.",
        )  # fmt: skip


INIT = "def __init__(self):\n        super().__init__()"
NEXT = "\n    def g(self):\n        "


@pytest.mark.parametrize("text, is_written", [
    (f"class A(nn.Module):\n    {INIT}{NEXT}...", False), ("class A(nn.Module):\n    pass", False),
    (f"class A:\n    {INIT}\n        raise NotImplementedError('A'){NEXT}pass", False),
    ("class A(Mine):\n    pass", True), ("class A(metaclass=Mine):\n    pass", True), ("class A:\n    f = mine", True),
    (f"class A(nn.Module):\n    {INIT}{NEXT}return 1", True), ("@fill\ndef A():\n    pass", True),
    ("def A():\n    def f():\n        pass\n    return f", True), ("def A(x):\n    raise ValueError", True),
])  # fmt: skip
def test_a_class_without_a_body_is_not_written(text, is_written):
    """One that takes its methods from elsewhere is, and what a decorator may fill."""
    assert bool(last_bindings(text, {"A"})["A"]) == is_written


def test_a_number_that_python_does_not_write_out_is_read(course):
    """In the exercise's function, beside another file: it is a hand-in like any other."""
    number = f"def moving_average(x, window):\n    return 0x{'f' * 20_000}\n"

    assert LessonMatcher(course, {"moving_average.py": number, "b.py": "x = 1"}).match(
        course.lessons["moving_average"]
    ) == ("moving_average.py", "")


@pytest.mark.parametrize("other, text, is_told", [
    ("moving_average.ipynb", SUMS.replace("return", "return 2 *"), True),
    ("moving_average.ipynb", f"# from a notebook\n{SUMS}", False),  # as `learn start --notebook` has both
    ("moving_average_final.py", SUMS.replace("return", "return 2 *"), True),
    ("moving-average v2.py", SUMS.replace("return", "return 2 *"), True),
    ("solution.py", SUMS.replace("return", "return 2 *"), True),
    ("my_work.ipynb", SUMS.replace("return", "return 2 *"), True),
    ("tests.py", "from moving_average import moving_average\nassert moving_average([1], 1) == [1]\n", False),
])  # fmt: skip
def test_another_answer_of_nearly_the_same_name_is_told_of(course, other, text, is_told):
    """The file of the lesson's very name is judged; who looks at the result learns that there is another answer."""
    found = LessonMatcher(course, {"moving_average.py": SUMS, other: text}).match(course.lessons["moving_average"])

    assert found == ("moving_average.py", f"moving_average.py was judged; {other} was not." if is_told else "")


@pytest.mark.parametrize("text, others, told", [
    ('"""Moving_average: the work of a window."""\n' + SUMS, ["moving_average.ipynb", "work.py"], 2),
    ("# see work.py for the new one\n" + SUMS, ["work.py"], 1),
    ("def moving_average(x, window)\n    return work", ["moving_average.ipynb", "work.py"], 2),
    ("def moving_average(x, window)\n    return work", ["broken.py"], 1),
    ("from work import means\n" + SUMS, ["work.py"], 0),
    ("def load():\n    import core.work as own\n" + SUMS, ["core/work.py"], 0),
    ("import work\n" + SUMS, ["work.ipynb"], 1),
    ("import torch.nn.functional as F\n" + SUMS, ["functional.py"], 1),
    ("import math\n" + SUMS, ["math.py"], 1),
    ("from new.work import means\n" + SUMS, ["old/work.py", "new/work.py"], 1),
])  # fmt: skip
def test_only_a_module_that_is_imported_is_no_second_answer(course, text, others, told):
    """A word of the file that is judged, in whatever place, a file that is no Python, and a library's module of the
    same name hide no other answer."""
    texts = {"broken.py": "def moving_average(x, window):\n    return ("}
    sources = {name: texts.get(name, SUMS.replace("return", "return 2 *")) for name in others}
    path, note = LessonMatcher(course, {"moving_average.py": text, **sources}).match(course.lessons["moving_average"])

    assert path == "moving_average.py" and sum(name in note.split("; ")[-1] for name in others) == told


@pytest.mark.parametrize("taken, left", [
    ("homework.py", "homework_old.py"), ("hw1.py", "Old hw1.py"), ("hw1.ipynb", "hw1_backup.ipynb"),
    ("homework.py", "reference.py"), ("homework.py", "test_homework.py"), ("hw1 (1).py", "test_hw1.py"),
    ("work.ipynb", "tests.py"), ("src/hw1.py", "test_hw1.py"), ("Latest.py", "a test.py"),
    ("src/hw1/answer.py", "tests/expected.py"), ("src/answer.py", "Tests/helpers.py"),
    ("final/hand-in/hw1.ipynb", "old/hw1.ipynb"), ("a/b/moving_average.py", "backup/moving_average.py"),
])  # fmt: skip
def test_an_old_state_and_a_test_rank_below_what_they_are_of(course, taken, left):
    """They have another function of the same name, and are told of."""
    sources = {left: SUMS.replace("return", "return 2 *"), taken: SUMS}

    assert LessonMatcher(course, sources).match(course.lessons["moving_average"]) == (
        taken, f"{taken} was judged; {left} was not.",
    )  # fmt: skip
    assert LessonMatcher(course, {left: SUMS}).match(course.lessons["moving_average"])[0] == left


@pytest.mark.parametrize("first, second", [
    ("hw1.py", "hw1_final.py"), ("hw-2.py", "hw.py"), ("a.py", "b-Copy1.py"), ("a_old.py", "b_old.py"),
    ("hw1-Copy1.ipynb", "hw1.ipynb"), ("Copy of hw1.ipynb", "hw1.ipynb"), ("hw1 (1).py", "hw1.py"),
    ("hw1.py", "hw1_copy.py"),
])  # fmt: skip
def test_what_may_be_newer_is_undecided(course, first, second):
    """A browser gives the later download a number, and in Colab the work is in the copy; two old states are equals."""
    sources = {first: SUMS.replace("return", "return 2 *"), second: SUMS}
    path, note = LessonMatcher(course, sources).match(course.lessons["moving_average"])

    assert not path and f"several files could be meant ({first}, {second})" in note


@pytest.mark.parametrize("name", ["moving_average_test.py", "test_moving_average.ipynb", "test.ipynb", "tests.py"])
def test_a_file_that_is_called_a_test_counts_where_nothing_else_is_written(course, name):
    """It alone defines what is asked for, beside other files and the empty exercise."""
    for others in ({}, {"notes.py": "x = 1"}, {"hw.py": "def moving_average(x, window):\n    pass\n"}):
        path, _ = LessonMatcher(course, {name: SUMS, **others}).match(course.lessons["moving_average"])
        assert path == name


@pytest.mark.parametrize("line", ["from mine import *", "from mine import moving_average"])
def test_what_a_file_imports_below_its_own_is_no_second_answer(course, line):
    """It is the other file's; what stands above the import, a stub of the template, is not what is left."""
    sources = {"hw1.ipynb": f"def moving_average(x, n):\n    pass\n\n{line}\n", "mine.py": SUMS}

    assert LessonMatcher(course, sources).match(course.lessons["moving_average"]) == ("mine.py", "")


def test_equal_files_are_no_contradiction(course):
    """Two copies of one file are one answer, and the reader is told."""
    sources = dict.fromkeys(["a/moving_average.py", "b/moving_average.py"], SUMS)
    path, note = LessonMatcher(course, sources).match(course.lessons["moving_average"])

    assert path == "a/moving_average.py"
    assert "b/moving_average.py was not" in note


def test_a_file_of_any_name_serves_the_lessons_whose_functions_it_defines(course):
    """One file with several functions is the answer to several lessons, a syntax error or not."""
    whole = {"ann.py": ANSWERS["moving_average"] + "\n\nif True:\n    argmax_2d = lambda grid: (0, 0)\n"}
    broken = {"ann.py": "def moving_average(x, window):\n    return (\n"}

    assert [LessonMatcher(course, whole).match(lesson)[0] for lesson in course.lessons.values()] == ["ann.py"] * 2
    assert [LessonMatcher(course, broken).match(lesson)[0] for lesson in course.lessons.values()] == ["ann.py", ""]


def test_with_one_lesson_a_lone_file_may_have_any_name(course):
    """Where one lesson was asked for, a single file is meant for it whatever it defines."""
    matcher = LessonMatcher(course, {"homework.py": "x = 1"}, only_lesson=True)

    assert matcher.match(course.lessons["moving_average"])[0] == "homework.py"
