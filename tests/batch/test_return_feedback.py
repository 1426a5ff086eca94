"""grader return: feedback under the names that platforms take back."""

from __future__ import annotations

import json
import re
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.batch.make_record import GradedHandIn, make_record
from grader.batch.outputs import Outputs
from grader.batch.results import Results
from grader.batch.results_folder import store_path
from grader.cli.grader.group import grader
from grader.intake.learner import Entry, Learner
from grader.intake.platform_names import PLATFORMS
from grader.model import LessonResult

HEADER = {
    "schema": 1, "course": {"id": "c", "version": "1", "content": "x"}, "engine": "1", "seed": 1, "device": "cpu",
    "lessons": ["softmax"],
}  # fmt: skip
CANVAS = ("leeann_LATE_1001_50003_softmax (1).py", "leeann_1001_50001_softmax.py", "wangwei_1002_50002_a_1.ipynb")
MOODLE = ("Ann Lee_71_assignsubmission_file_", "Bo .._72_assignsubmission_file_x.py", "Group A_assignsubmission_file_")


def moodle_import(path: str) -> tuple[int, str] | None:
    """Return the participant and the file's name that Moodle's importziplib.php reads out of a path in a zip."""
    parts = path.split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 4 and info[1].isdigit() and info[2:4] == ["assignfeedback", "file"]:
            return int(info[1]), "/".join([*(info[4:] or [""]), *parts])
    return None


@pytest.fixture
def out(tmp_path):
    """Results of hand-ins with names of Canvas or Moodle, the second an earlier attempt of the first."""
    out = tmp_path / "out"
    with closing(Results(store_path(out), HEADER, Outputs(out), go_on=False)) as results:
        results.begin(
            {"course": "c", "lessons": {"softmax": "Softmax"}}, [], {"ignored": [], "missing": [], "unlisted": []}
        )
        for number, name in enumerate((*CANVAS, *MOODLE, "ada")):
            entry = Entry(name, Path(name), "python")
            owner = "1001" if number == 1 else ""
            read = PLATFORMS["canvas"](name) or PLATFORMS["moodle"](name) or entry
            own = f"{read.owner or name}{'@1' if owner else ''}"
            one = Learner(own, (entry, entry), f"f{number}", owner, read.owner_name, 1 if owner else 2)
            result = LessonResult("softmax", "graded", 5.0, False, "cpu", 1, 0.1)
            results.add_all([(one, GradedHandIn(make_record(one, [result], digest="d")))])
        results.finish()
    return out


def returned(out: Path, platform: str) -> tuple[dict[str, str], list[str]]:
    """The files of a zip with what is in them, and why others are not."""
    target = out.parent / "back.zip"
    words = ["return", str(out), f"--{platform}", "--out", str(target), "--json", "--force"]
    done = CliRunner().invoke(grader, words)
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(target) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    told = json.loads(done.output)
    assert told["written"] == len(found)
    return found, [each["who"] for each in told["left"]]


def test_canvas_gets_the_names_that_it_gave(out):
    """Each name holds the person's number and the file's, as Canvas asks; of two attempts the last is returned."""
    found, left = returned(out, "canvas")
    assert list(found) == [CANVAS[0], CANVAS[2]]
    assert [re.findall(r"(?<![^_])\d+(?![^_])", name)[:2] for name in found] == [["1001", "50003"], ["1002", "50002"]]
    assert all(text.startswith("# Feedback for") for text in found.values()) and len(left) == 4


def test_what_was_returned_before_as_it_is_is_left_out(out, tmp_path):
    """Of the second zip on only changed pages go back, of all that were uploaded; what is no zip is told."""
    returned(out, "canvas")
    (tmp_path / "back.zip").rename(tmp_path / "first.zip")
    words = ["return", str(out), "--canvas", "--force", "--out", str(tmp_path / "second.zip"), "--since"]
    page = out / "feedback/f0.md"

    for text, written in ((page.read_text(), []), (page.read_text() + "Look again.", [CANVAS[0]])):
        page.write_text(text)
        done = CliRunner().invoke(grader, [*words, str(tmp_path / "first.zip")])
        assert f"{2 - len(written)} page" in done.output and "returned before as" in done.output
        with zipfile.ZipFile(tmp_path / "second.zip") as archive:
            assert archive.namelist() == written
    (tmp_path / "second.zip").rename(tmp_path / "uploaded.zip")
    both = [*words, str(tmp_path / "first.zip"), "--since", str(tmp_path / "uploaded.zip"), "--json"]
    assert json.loads(CliRunner().invoke(grader, both).output).items() >= {"written": 0, "same": 2}.items()

    for wrong in (page, tmp_path / "nothing.zip"):
        done = CliRunner().invoke(grader, [*words, str(wrong)])
        assert done.exit_code == 2 and "--since" in done.output
    done = CliRunner().invoke(grader, ["return", str(out), "--folder", "--out", "x", "--since", "y"])
    assert done.exit_code == 2 and "--since is for zips" in done.output


def test_moodle_finds_each_participant(out):
    """Moodle's own reading of the names gives the participants and feedback.html; a group without a number is told."""
    found, left = returned(out, "moodle")
    assert [moodle_import(name) for name in found] == [(71, "/feedback.html"), (72, "/feedback.html")]
    assert all(text.startswith("<!doctype html>") and ".." not in name.split("/") for name, text in found.items())
    assert any("Group A" in who for who in left)


@pytest.mark.parametrize("platform", ["canvas", "moodle"])
@pytest.mark.parametrize("rest", ["x" * 70_000, "\x1b[2J.py", "\u202eyp.x"])
def test_a_name_that_no_platform_gives_is_left_out(out, platform, rest):
    """A name of 70,000 signs, or with signs that are not seen, is told of: a zip takes no longer one."""
    begins = {"canvas": f"leeann_1001_50001_{rest}", "moodle": f"Ann {rest}_71_assignsubmission_file_"}
    with closing(sqlite3.connect(store_path(out))) as file, file:
        where = "WHERE record ->> '$.source' LIKE ?"
        changed = f"UPDATE records SET record = json_set(record, '$.source', ?) {where}"
        assert file.execute(changed, (begins[platform], f"{(CANVAS if platform == 'canvas' else MOODLE)[0]}%")).rowcount
    found, left = returned(out, platform)
    assert len(found) == 1 and len(left) == 5


@pytest.mark.parametrize("form", ["--folder", "--canvas"])
def test_a_linked_folder_of_feedback_is_not_followed(out, tmp_path, form):
    """Results from elsewhere may hold a link in the place of the pages: nothing from there is given back."""
    (out / "feedback").rename(tmp_path / "elsewhere")
    (out / "feedback").symlink_to(tmp_path / "elsewhere")
    done = CliRunner().invoke(grader, ["return", str(out), form, "--out", str(tmp_path / "back")])

    assert done.exit_code == 2 and "feedback is a link" in done.output
    assert not any((tmp_path / "back").glob("*/*")) and not (tmp_path / "back").is_file()


def test_a_folder_holds_a_folder_for_each(out, tmp_path):
    """Without a platform there is a page for each hand-in; no platform, no place and no feedback are errors."""
    words = ["return", str(out), "--folder", "--out", str(tmp_path / "back")]
    done = CliRunner().invoke(grader, words)
    assert done.exit_code == 0 and "7 pages written" in done.output
    assert sorted(path.name for path in (tmp_path / "back").iterdir()) == [f"f{number}" for number in range(7)]
    assert "already" in CliRunner().invoke(grader, words).output
    assert "name the platform" in CliRunner().invoke(grader, ["return", str(out), "--out", "x"]).output
    (out / "feedback/f6.html").unlink()
    missing = CliRunner().invoke(grader, [*words, "--force"])
    assert missing.exit_code == 2 and "grader report" in missing.output
