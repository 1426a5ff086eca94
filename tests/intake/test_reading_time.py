"""grader.intake, grader.source: the time that reading takes grows with what is read, and no faster, whatever it is.

Each input is as large as a hand-in may hold; seconds are of the processor, and the limit is many times what is needed.
"""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from support.course_files import ROOT
from support.hand_ins import SUMS, learner_of, make_tar, make_zip

from grader.course import load
from grader.intake.answers.names_taken import names_taken
from grader.intake.discover import discover
from grader.intake.hand_in import read_hand_in
from grader.intake.limits import MAX_FILES, MAX_UNPACKED_BYTES
from grader.intake.match_lessons import LessonMatcher
from grader.intake.name_patterns import NamePattern, original_names
from grader.intake.notebook.notebook_to_module import file_to_python, to_source
from grader.intake.roster import Roster
from grader.intake.unique_ids import unique
from grader.model import Course
from grader.source.scopes import _symbols, module_names
from grader.source.side_effects import has_no_side_effects
from grader.submission import read_submission

TINY = ROOT / "tests" / "courses" / "tiny"
T = TypeVar("T")


def in_time(work: Callable[[], T], limit: float = 5.0) -> T:
    """Do some work within *limit* seconds of the processor, tried twice: other processes disturb it."""
    for _ in range(2):
        begun = time.process_time()
        result = work()
        taken = time.process_time() - begun
        if taken < limit:
            return result
    raise AssertionError(f"it took {taken:.1f} s, more than {limit}")


@pytest.fixture(scope="module")
def course() -> Course:
    return load(TINY)


def make_wrong_sums(path: Path, members: int, size: int) -> Path:
    """Make an archive of that many notebooks over one stream of *size* bytes, with a wrong checksum."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("00000.ipynb", b" " * size)
    raw = made.getvalue()
    start = raw.index(b"PK\1\2")
    record = bytearray(raw[start : raw.index(b"PK\5\6")])
    record[16:20] = b"\0\0\0\0"
    listed = b"".join(bytes(record[:46]) + b"%05d.ipynb" % number + bytes(record[57:]) for number in range(members))
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, members & 0xFFFF, members & 0xFFFF, len(listed), start, 0)
    path.write_bytes(raw[:start] + listed + end)
    return path


def test_wrong_checksums_are_not_unpacked_without_end(tmp_path):
    """Twenty thousand members that unpack to 32 MB and are then found to be damaged: not all are unpacked."""
    path = make_wrong_sums(tmp_path / "eve.zip", 20_000, 32 << 20)
    hand_in = in_time(lambda: read_hand_in(learner_of(path, "zip")))
    assert "its checksum is wrong" in hand_in.problem
    assert f"more than {MAX_UNPACKED_BYTES >> 20} MB" in hand_in.notes[-1]


def make_empty_stream(path: Path, members: int, size: int) -> Path:
    """Make an archive of that many members over one stream of about *size* bytes that unpacks to nothing."""
    packed = b"\x00\x00\x00\xff\xff" * (size // 5)  # RFC 1951, 3.2.4: stored blocks of no bytes, and none is the last
    about = struct.pack("<5H3L2H", 20, 0, 8, 0, 0x21, 0, len(packed), 0, 8, 0)
    header = b"PK\3\4" + about + b"00000.py"
    listed = b"".join(b"PK\1\2" + b"\x14\0" + about + bytes(14) + b"%05d.py" % number for number in range(members))
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, members, members, len(listed), len(header) + len(packed), 0)
    path.write_bytes(header + packed + listed + end)
    return path


def test_what_unpacks_to_nothing_is_not_gone_through_without_end(tmp_path):
    """Of twenty thousand members over one stream of empty blocks each is gone through as far as its size needs."""
    path = make_empty_stream(tmp_path / "eve.zip", 19_000, 16 << 20)
    hand_in = in_time(lambda: read_hand_in(learner_of(path, "zip")))

    assert "what comes after it were left out: the hand-in is too large" in hand_in.notes[-1]


def test_large_weights_push_no_source_out(tmp_path):
    """Of a file that is too large no more is gone through, or counted, than would be kept of it."""
    with zipfile.ZipFile(tmp_path / "eve.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=0) as archive:
        for name in ("attention.py", *(f"model{number}.safetensors" for number in range(3)), "softmax.py"):
            archive.writestr(name, bytes(60 << 20) if name.startswith("model") else "x = 1\n")
    hand_in = in_time(lambda: read_hand_in(learner_of(tmp_path / "eve.zip", "zip")))

    assert {"attention.py", "softmax.py"} <= {*hand_in.files}
    assert not any("its archives hold more" in note for note in hand_in.notes)


@pytest.mark.slow
def test_what_the_archives_of_a_folder_unpack_to_is_bounded_together(tmp_path):
    """Many archives in one folder unpack to no more than one may."""
    first = make_tar(tmp_path / "eve" / "a.tar.gz", {"rest.bin": bytes(200 << 20)})
    for number in range(20):
        (tmp_path / "eve" / f"b{number}.tar.gz").write_bytes(first.read_bytes())
    hand_in = in_time(lambda: read_hand_in(learner_of(tmp_path / "eve", "folder")), 4.0)

    assert "its archives hold more than" in hand_in.notes[-1]


def make_headers(content: bytes, kind: bytes, size: int) -> bytes:
    """Return a .tar, cut off, with the same member again and again up to *size* bytes."""
    member = tarfile.TarInfo("x")
    member.size, member.type = len(content), kind
    block = member.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512)
    return block * (size // len(block))


@pytest.mark.slow
@pytest.mark.parametrize("content, kind", [(b"5 a=\n" * 10_000, tarfile.XHDTYPE), (b"", tarfile.DIRTYPE)])
def test_headers_of_a_tar(tmp_path, content, kind):
    """Nothing but headers, which pack to a hundredth of their size, cost no minutes."""
    packed = gzip.compress(make_headers(content, kind, 128 << 20), 1)
    (tmp_path / "eve.tar.gz").write_bytes(packed)
    hand_in = in_time(lambda: read_hand_in(learner_of(tmp_path / "eve.tar.gz", "tar")))

    assert hand_in.problem


@pytest.mark.parametrize("line", [
    " " * 900_000, " \t" * 450_000 + "=", "a" * 900_000, "a " * 450_000, "a.?" * 300_000, "a" * 900_000 + "=!",
    "%time" + " " * 900_000 + "\\", "display()" + " " * 900_000 + "x",
])  # fmt: skip
def test_a_long_line_of_a_notebook(line):
    """A cell that is no Python is read line by line; one line may be all that a notebook holds."""
    cells = [{"cell_type": "code", "source": line + "\nx = ["}]
    raw = json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}).encode()

    in_time(lambda: to_source(raw))
    in_time(lambda: file_to_python(f"{line}\n!ls\n"))


@pytest.mark.parametrize("name", [
    "_" * 65_000 + "x.py", "_-" * 32_000 + "x.py", "copy" * 16_000 + "x.py",
    " (1" * 20_000 + ".py", "-1" * 32_000 + "x.py",
])  # fmt: skip
def test_long_names_of_members(course, tmp_path, name):
    """Names of 65,000 characters, in the archive or as far as they come, are matched with lessons in no time."""
    path = make_zip(tmp_path / "eve.zip", {f"{number}{name}": "x = 1" for number in range(100)})

    in_time(lambda: read_hand_in(learner_of(path, "zip")))
    sources = {f"{number}{name}": "x = 1" for number in range(4)}
    lessons = list(course.lessons.values())
    in_time(lambda: [LessonMatcher(course, sources).match(lesson) for lesson in lessons])


def test_deep_folders(course):
    """Five hundred files in four thousand folders, each in the next, are matched with lessons in no time."""
    sources = {"a/" * 4000 + f"{number}.py": "x = 1" for number in range(MAX_FILES)}

    in_time(lambda: LessonMatcher(course, sources).match(course.lessons["argmax_2d"]))


@pytest.mark.parametrize("source", [
    "".join(f"def f{n}():0\n" for n in range(15_000)), "x = [" + ",".join(f"lambda: y{n}" for n in range(15_000)) + "]",
    "".join(f"class C{n}:0\n" for n in range(15_000)), ", ".join(f"a{n}" for n in range(40_000)) + " = 1",
])  # fmt: skip
def test_names_of_a_source_with_thousands_of_scopes(source):
    """What a source binds and reads is found in time that grows with its length."""
    in_time(lambda: module_names(source), 4.0)


def test_many_attributes_of_many_modules():
    """What a file takes of hundreds that it imports is no set of all that it says, for each of them."""
    modules = [f"m{number}" for number in range(400)]
    taking = f"import {', '.join(modules)}\n" + "".join(f"m1.b{number}\n" for number in range(4_000))
    sources = {f"{each}.py": [""] for each in modules} | {"big.py": [taking], "m1.py": ["b1 = 3"]}

    taken = in_time(lambda: names_taken(sources), 2.0)
    assert taken.pop("m1.py") == {"b1"} and not any(taken.values())


def test_symbols_are_those_of_the_library():
    """The short way to the symbols of a scope says of each what the library's long way says."""
    import symtable

    body = "class A:\n  z = x\n  def f(self, a):\n    global x\n    x = a\n    return lambda q: y\n"
    source = f"import os\nx = y = 1\n{body}"
    tables = [symtable.symtable(source, "s", "exec")]
    for table in tables:
        tables += table.get_children()
        said = [(one.get_name(), one.is_assigned(), one.is_imported(), one.is_referenced(), one.is_global())
                for symbols in (table.get_symbols(), _symbols(table)) for one in symbols]  # fmt: skip
        assert said[: len(said) // 2] == said[len(said) // 2 :]
    assert len(tables) == 4


@pytest.mark.parametrize("line", ["class C{}:", "def f{}(self):"])
def test_deeply_nested_definitions(line):
    """A large source inside ninety definitions is not examined once for each of them."""
    around = "".join(" " * depth + line.format(depth) + "\n" for depth in range(90))
    source = around + " " * 90 + ";".join(["x"] * 100_000) + "\n"

    assert in_time(lambda: has_no_side_effects([source], []), 4.0) is False


# --- a class of many hostile names ------------------------------------------------------------------------------------

MANY = 5_000


def test_thousands_of_uploads_of_one_learner():
    """Uploads of one file that Canvas numbered are put in order in time that grows with their number."""
    files = [f"softmax-{number % 90}.py" for number in range(4 * MANY)] + [
        f"x{number}.py" for number in range(4 * MANY)
    ]

    in_time(lambda: original_names(files))


def test_thousands_of_equal_names():
    """Names that are all the same, or look like those that are given to equal names, become different ones."""
    names = ["a"] * MANY + [f"a-{number}" for number in range(MANY)] + ["A"] * MANY

    assert len(set(in_time(lambda: unique(names, names, fold=True)))) == 3 * MANY


@pytest.mark.slow
def test_a_roster_of_equal_people(tmp_path):
    """A class list in which thousands have the same name and the same address is read, and says so once."""
    lines = [f"{number},Ann Lee,ann@example.edu\n" for number in range(MANY)]
    (tmp_path / "roster.csv").write_text("id,name,email\n" + "".join(lines))

    in_time(lambda: Roster.read(tmp_path / "roster.csv"))
    roster = Roster.read(tmp_path / "roster.csv")
    assert len(roster.people) == MANY and len(roster.notes) == 1
    assert (
        roster.find(["17"]).id == "17" and not roster.find(["ann@example.edu"]) and not roster.find_by_name("Ann Lee")
    )


@pytest.mark.slow
@pytest.mark.parametrize("names", [None, "canvas", "moodle"])
def test_a_class_of_thousands_of_hostile_names(tmp_path, names):
    """Five thousand files whose names are made to be alike are assigned to a roster in a few seconds."""
    (tmp_path / "in").mkdir()
    for number in range(MANY):
        odd = ["\x01" * (number % 97 + 1), "\u202e", "_1_2_", "a-2", "-1" * 40][number % 5]
        (tmp_path / "in" / f"{odd}{number // 5}_{number % 7}_{number}_softmax-{number % 90}.py").touch()
    (tmp_path / "roster.csv").write_text("id,name\n" + "".join(f"{n},{'_1_2_' * 9} {n % 3}\n" for n in range(MANY)))
    pattern = NamePattern.parse(names) if names else None
    roster = Roster.read(tmp_path / "roster.csv") if names == "canvas" else None
    if names == "moodle":
        for path in list((tmp_path / "in").iterdir()):
            path.rename(path.with_name(f"{path.name[:100]}_7_assignsubmission_file_x-{path.name[-5:]}"))

    in_time(lambda: discover(tmp_path / "in", names=pattern, roster=roster, attempts="all"))


def test_a_class_zip_of_deep_and_many_members(tmp_path):
    """Thousands of deep members of a class's .zip are listed in time that grows with their number."""
    path = make_zip(tmp_path / "all.zip", {"a/" * 60 + f"{number}.py": "" for number in range(MANY)} | {"b/a.py": SUMS})

    in_time(lambda: discover(path))


@pytest.mark.slow
def test_imports_that_lead_nowhere_are_looked_up_at_once(course, tmp_path):
    """Not in each of the folders above a file, of which there may be dozens."""
    file = tmp_path.joinpath(*["d"] * 60, "mean.py")
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"import n{number}\n" for number in range(15_000)))
    lesson = next(iter(course.lessons.values()))

    assert not in_time(lambda: read_submission(file, lesson, course, tmp_path)).siblings
