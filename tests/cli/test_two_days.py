"""The way of docs/instructors.md, twice: late hand-ins, a human's word and a changed check lose nothing unsaid."""

from __future__ import annotations

import csv
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest
from support.command_server import run_command
from support.hand_ins import ANSWERS, SUMS, TINY, make_zip, write

SECONDS = 120
MEAN, PLACE = ANSWERS["moving_average"], ANSWERS["argmax_2d"]
GRADES = """\
Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (777),Final Score
    Points Possible,,,,,20,(read only)
"Lovelace, Ada",1001,s1,ada,DL1,,80
"Turing, Alan",1002,s2,alan,DL1,,70
"Noether, Emmy",1003,s3,emmy,DL1,,90
"Hopper, Grace",1004,s4,grace,DL1,,85
"Johnson, Katherine",1005,s5,kj,DL1,,88
"""
ASSIGNMENT = """\
course = "course"
names = "canvas"
roster = "Grades.csv"
lessons = ["moving_average", "argmax_2d"]
seed = 7
out = "results"
missing = "zero"

[late]
due = 2026-11-20T23:59:00+01:00
per_day = 0.1

[export]
canvas = "Grades.csv"
assignment = "Homework 1"
out = "upload.csv"
"""
FIRST_DAY: dict[str, str | bytes] = {
    "lovelaceada_1001_11_moving_average.py": MEAN,
    "lovelaceada_1001_12_argmax_2d.py": PLACE,
    "turingalan_1002_13_moving_average.py": SUMS,
    "turingalan_1002_14_argmax_2d.py": PLACE,
    "noetheremmy_1003_15_work.zip": b"PK, and no archive",
    "johnsonkatherine_1005_16_moving_average.py": MEAN,
}
SECOND_DAY: dict[str, str | bytes] = {  # Canvas gives the last attempt alone: Alan's other lesson is not in it
    **{name: text for name, text in FIRST_DAY.items() if "ada_" in name or "katherine" in name},
    "turingalan_LATE_1002_23_moving_average-1.py": MEAN,
    "noetheremmy_LATE_1003_25_moving_average.py": MEAN,
    "noetheremmy_LATE_1003_26_argmax_2d.py": PLACE,
    "hoppergrace_LATE_1004_27_moving_average.py": SUMS,
}


class Instructor:
    """Types commands in a folder with the course, both downloads and the assignment."""

    def __init__(self, place: Path) -> None:
        self.place = place
        shutil.copytree(TINY, place / "course", ignore=shutil.ignore_patterns("__pycache__"))
        make_zip(place / "day1.zip", FIRST_DAY)
        make_zip(place / "day2.zip", SECOND_DAY)
        (place / "Grades.csv").write_text(GRADES)
        (place / "hw.toml").write_text(ASSIGNMENT)
        write(place, {"config/selfattend/trusted-courses": f"{place / 'course'}\n"})

    def types(self, *words: object, code: int = 0) -> str:
        """What a `grader` command says, on one line."""
        environment = {**os.environ, "COLUMNS": "300", "NO_COLOR": "1", "XDG_CONFIG_HOME": str(self.place / "config")}
        done = run_command("grader", *words, cwd=self.place, env=environment, timeout=SECONDS)
        assert done.returncode == code, done.stderr
        return " ".join((done.stderr + done.stdout).split())

    def runs(self, submissions: str, *options: str) -> str:
        return self.types("run", "hw.toml", submissions, "--jobs", 1, *options)

    def uploads(self) -> dict[str, str]:
        """The grades that go back to Canvas."""
        self.said = self.types("export", "hw.toml", "--force")
        with (self.place / "upload.csv").open(newline="") as file:
            return {row["Student"].partition(",")[0]: row["Homework 1 (777)"] for row in csv.DictReader(file)}

    def returns(self) -> dict[str, str]:
        """The pages that go back to Canvas, by the person's number."""
        self.types("return", "results", "--canvas", "--out", "feedback.zip", "--force")
        with zipfile.ZipFile(self.place / "feedback.zip") as archive:
            pages = {name: archive.read(name).decode() for name in archive.namelist()}
        return {next(part for part in name.split("_") if part.isdigit()): text for name, text in pages.items()}

    def notes(self, learner: str, lesson: str) -> list[str]:
        results = json.loads((self.place / "results/results.json").read_text())
        (found,) = (one for one in results["submissions"] if one["id"] == learner)
        return found["lessons"][lesson]["notes"]

    def changes_a_check(self, lesson: str, was: str, now: str) -> None:
        path = self.place / f"course/solutions/basics/test_{lesson}.py"
        text = path.read_text()
        assert was in text
        path.write_text(text.replace(was, now, 1))


@pytest.fixture
def instructor(tmp_path) -> Instructor:
    return Instructor(tmp_path)


def test_from_canvas_to_canvas_twice(instructor):
    """Grades and feedback go back on two days; every grade that differs on the second has its line on the terminal.

    So has each result that a changed check did not reach, since its files were not there.
    """
    assert "4 submissions (seed 7): 2 scored, 1 partial, 1 unreadable" in instructor.runs("day1.zip")
    assert "No file for some lessons: Johnson, Katherine: argmax_2d." in instructor.types("report", "results")
    first = instructor.uploads()
    graded = {"Lovelace": "20.00", "Turing": "13.33", "Noether": "", "Hopper": "0.00", "Johnson": "10.00"}
    assert first.items() >= graded.items()
    assert "could not be read" in instructor.returns()["1003"]

    words = ("--lesson", "argmax_2d", "--score", 10, "--say", "Handed in by mail.", "--by", "Kim")
    refused = instructor.types("override", "results", 1004, *words, code=2)
    assert '"1004" is on the roster and handed nothing in' in refused and "give the grade at the platform" in refused
    assert "in place of the program's no score" in instructor.types("override", "results", 1005, *words)

    said = instructor.runs("day2.zip", "--resume")
    assert "2 submissions graded before, on the same hand-in and settings: kept." in said
    assert "1002 Turing, Alan 7.0 → 10.0 moving_average 4.0 → 10.0" in said
    assert "1003 Noether, Emmy - → 10.0" in said and "1 score of lessons given by a human" in said
    second = instructor.uploads()
    assert "Turing, Alan: 20.00 less 2.00" in instructor.said and "Johnson, Katherine: argmax_2d" in instructor.said
    assert second.items() >= {"Lovelace": "20.00", "Turing": "18.00", "Noether": "18.00", "Johnson": "20.00"}.items()
    assert second["Hopper"] == "1.33" and [*instructor.returns()] == ["1001", "1002", "1003", "1004", "1005"]
    assert len(instructor.notes("1002", "argmax_2d")) == 1

    instructor.changes_a_check("moving_average", "points=3", "points=9")
    said = instructor.runs("day2.zip", "--regrade")
    assert "1 of 5 scores changed: 1004 Hopper, Grace" in said
    assert "not again: their files are not among these hand-ins (Turing, Alan: argmax_2d)." in said
    third = instructor.uploads()
    assert {name for name in third if third[name] != second[name]} == {"Hopper"}
    first_note, second_note = instructor.notes("1002", "argmax_2d")
    assert first_note.startswith("This is of the hand-in graded on") and "as they were then" in second_note
    assert "Handed in by mail." in instructor.types("override", "results", "--list")


def test_who_was_graded_by_other_checks_is_named(instructor):
    """A changed check and a download of one, or of the day before: whoever keeps a result by the old check is named."""
    instructor.runs("day2.zip")
    instructor.changes_a_check("moving_average", "points=3", "points=9")
    make_zip(instructor.place / "late.zip", {name: text for name, text in SECOND_DAY.items() if "grace" in name})
    said = instructor.runs("late.zip", "--resume")
    assert "4 learners graded before are not among these hand-ins" in said
    left = "Graded with another course or other settings, and not again: add their hand-ins"
    assert f"{left}: Lovelace, Ada; Turing, Alan; Noether, Emmy; Johnson, Katherine." in said
    said = instructor.runs("day1.zip", "--regrade")
    assert "--older takes them all the same: Turing, Alan; Noether, Emmy." in said
    assert f"{left}: Turing, Alan; Noether, Emmy." in said
    assert left not in instructor.runs("day2.zip", "--resume")
    instructor.changes_a_check("moving_average", "points=9", "points=8")
    said = instructor.runs("day2.zip", "--regrade", "--only", "1004")
    left = left.replace("add their hand-ins", "--only leaves them out")
    assert f"{left}: Lovelace, Ada; Turing, Alan; Noether, Emmy; Johnson, Katherine." in said


def test_a_roster_on_the_second_day_finds_the_results_of_the_first(instructor):
    """Folders are named by logins at first; the roster knows the numbers: one result each, and a human's word stays."""
    for login, source in {"ada": MEAN, "alan": SUMS}.items():
        write(instructor.place / "in", {f"{login}/moving_average.py": source, f"{login}/argmax_2d.py": PLACE})
    words = ("run", "in", "--course", "course", "--jobs", 1, "--out", "results")
    instructor.types(*words)
    instructor.types("override", "results", "ada", "--lesson", "argmax_2d", "--score", 3, "--say", "Talked it over.")
    (instructor.place / "in/ada/argmax_2d.py").unlink()

    said = instructor.types(*words, "--roster", "Grades.csv", "--resume")
    assert "and now under theirs: ada is 1001, alan is 1002." in said and "not among these" not in said
    results = json.loads((instructor.place / "results/results.json").read_text())
    scores = {one["id"]: {name: of["score"] for name, of in one["lessons"].items()} for one in results["submissions"]}
    assert scores == {
        "1001": {"moving_average": 10.0, "argmax_2d": 3.0},
        "1002": {"moving_average": 4.0, "argmax_2d": 10.0},
    }
    assert "Graded before" not in instructor.types(*words, "--roster", "Grades.csv", "--resume")


ZOE = {"quickzoe_1003_50_moving_average.py": SUMS, "quickzoe_1003_51_argmax_2d.py": PLACE}
ANN = {"leeann_1001_60_moving_average.py": MEAN}
CY = {"moecy_1009_70_moving_average.py": MEAN}


@pytest.mark.parametrize("second", [ZOE | ANN | CY, ANN], ids=["all", "one"])
@pytest.mark.parametrize("option", ["--resume", "--regrade"])
def test_no_number_of_a_later_roster_gives_one_person_another_s_result(instructor, second, option):
    """Zoe's number at the platform is Ann's in the list: each goes on with what is theirs, a human's word too."""
    write(instructor.place, {"list.csv": "id,name\n1003,Ann Lee\n2001,Zoe Quick\n2003,Cy Moe\n"})
    for name, files in {"first": ZOE | ANN | CY, "second": second}.items():
        write(instructor.place / name, files)
    words = ("--names", "canvas", "--course", "course", "--jobs", 1, "--out", "results")
    instructor.types("run", "first", *words)
    instructor.types("override", "results", "1003", "--lesson", "argmax_2d", "--score", 2, "--say", "Copied, by Zoe.")
    said = instructor.types("run", "second", *words, "--roster", "list.csv", option)

    assert "now under theirs: 1001 is 1003, 1003 is 2001, 1009 is 2003." in said and "lder than" not in said
    results = json.loads((instructor.place / "results/results.json").read_text())
    scores = {one["name"]: {name: of["score"] for name, of in one["lessons"].items()} for one in results["submissions"]}
    assert scores == {
        "Ann Lee": {"moving_average": 10.0, "argmax_2d": None},
        "Zoe Quick": {"moving_average": 4.0, "argmax_2d": 2.0},
        "Cy Moe": {"moving_average": 10.0, "argmax_2d": None},
    }
    assert [one["id"] for one in results["submissions"]] == ["1003", "2001", "2003"]
    pages = {
        one["name"]: (instructor.place / f"results/feedback/{one['feedback']}.html") for one in results["submissions"]
    }
    assert all(name in page.read_text() for name, page in pages.items())


def test_what_a_human_said_goes_on_under_a_later_roster_s_ids(instructor):
    """A run that begins anew keeps overrides, which are of people and not of numbers."""
    write(instructor.place, {"list.csv": "id,name\n1003,Ann Lee\n2001,Zoe Quick\n"})
    write(instructor.place / "in", ZOE | ANN)
    words = ("run", "in", "--names", "canvas", "--course", "course", "--jobs", 1, "--out", "results")
    instructor.types(*words)
    instructor.types("override", "results", "1003", "--lesson", "argmax_2d", "--score", 2, "--say", "Copied, by Zoe.")
    instructor.types(*words, "--roster", "list.csv")
    assert "Zoe Quick (2001): argmax_2d: a human gave 2.0" in instructor.types("override", "results", "--list")


def test_an_id_that_is_written_otherwise_on_the_second_day_is_the_same(instructor):
    """Letters in another case or form are one person within a run, and from run to run."""
    names = r"(?P<id>[^_]+)_(?P<file>.+)"
    words = ("--names", names, "--course", "course", "--jobs", 1, "--out", "results", "--lessons", "moving_average")
    write(instructor.place / "first", {"S1_moving_average.py": MEAN, "Zo\u00eb_moving_average.py": MEAN})
    write(instructor.place / "second", {"s1_moving_average.py": MEAN, "Zoe\u0308_moving_average.py": MEAN})
    instructor.types("run", "first", *words)
    said = instructor.types("run", "second", *words, "--resume")
    assert "S1 is s1" in said and "not among these" not in said
    results = json.loads((instructor.place / "results/results.json").read_text())
    assert [one["id"] for one in results["submissions"]] == ["Zoe\u0308", "s1"]


def test_an_id_beside_the_roster_s_counts_once(instructor):
    """What was graded under a login and under the number counts as the number's, and that is said."""
    source = {"moving_average.py": MEAN}
    for login in ("ada", "1001"):
        write(instructor.place / "first" / login, source)
    write(instructor.place / "second/1001", source)
    words = ("--course", "course", "--jobs", 1, "--lessons", "moving_average", "--out", "results")
    instructor.types("run", "first", *words)
    said = instructor.types("run", "second", *words, "--roster", "Grades.csv", "--resume")
    assert "of a person's ids, and left out of the results: ada." in said
    assert [
        one["id"] for one in json.loads((instructor.place / "results/results.json").read_text())["submissions"]
    ] == ["1001"]


def test_attempts_read_in_another_way_are_not_older(instructor):
    """After a regrade of one by the last attempt alone, the usual way brings back what that left out."""
    write(instructor.place / "in", {"ada@1/argmax_2d.py": PLACE, "ada@2/moving_average.py": MEAN})
    names = r"(?P<id>[a-z]+)@(?P<attempt>\d+)"
    words = ("run", "in", "--names", names, "--course", "course", "--jobs", 1, "--out", "results")

    def scores() -> dict[str, float | None]:
        (one,) = json.loads((instructor.place / "results/results.json").read_text())["submissions"]
        return {name: of["score"] for name, of in one["lessons"].items()}

    instructor.types(*words)
    instructor.types(*words, "--regrade", "--only", "ada", "--attempts", "last")
    assert scores() == {"moving_average": 10.0, "argmax_2d": None}
    assert "Older than" not in instructor.types(*words, "--resume")
    assert scores() == {"moving_average": 10.0, "argmax_2d": 10.0}
