"""Where several attempts make a result, the time that counts is that of the newest of which something counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner
from support.course_files import ROOT
from support.hand_ins import ANSWERS, TINY, write

from grader.cli.grader.group import grader
from grader.record import HandedIn, Record

EARLY, LATE = "Nov 19, 2026 1000 AM", "Nov 30, 2026 1000 AM"
BAD = "def argmax_2d(x):\n    return 0\n"


def grade(folder: Path, out: Path, *words: str, **files: str) -> dict:
    """Ann's record, after hand-ins of these files: `early_argmax_2d` is argmax_2d.py, handed in early."""
    times, named = {"early": EARLY, "late": LATE}, {}
    for number, (key, text) in enumerate(files.items(), 2):
        when, _, name = key.partition("_")
        named[f"1-{number} - Ann - {times[when]} - {name}.{'txt' if name == 'notes' else 'py'}"] = text
    write(folder, named)
    arguments = ["run", folder, "--names", "brightspace", "--lessons", "argmax_2d,moving_average", "--course", TINY]
    done = CliRunner().invoke(grader, [*map(str, arguments), "--out", str(out), "--jobs", "1", *words])
    assert done.exit_code == 0, done.output
    return json.loads((out / "results.json").read_text())["submissions"][0]


def export(folder: Path, *words: str, rule: str = "") -> tuple[str, dict]:
    """Ann's line in a gradebook, less a tenth a day after the 20th, and what the command says."""
    write(folder, {"hw.toml": f'{rule}\nout = "out"\n[late]\ndue = 2026-11-20\nper_day = 0.1\n'})
    write(folder, {"grades.csv": "Student,ID,Homework (1)\nPoints Possible,,10\nAnn,1,\n"})
    files = ("--canvas", folder / "grades.csv", "--out", folder / "up.csv")
    arguments = ["export", folder / "hw.toml", *files, "--assignment", "Homework", "--force", "--json", *words]
    done = CliRunner().invoke(grader, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    return (folder / "up.csv").read_text().splitlines()[-1], json.loads(done.output)


@pytest.mark.parametrize(
    "attempts, files, is_early",
    [
        ("best", {"early_argmax_2d": ANSWERS["argmax_2d"], "late_argmax_2d": BAD}, True),
        ("merge", {"early_argmax_2d": ANSWERS["argmax_2d"], "late_argmax_2d": BAD}, False),
        ("merge", {"early_argmax_2d": ANSWERS["argmax_2d"], "late_notes": "thank you"}, True),
        ("last", {"early_argmax_2d": ANSWERS["argmax_2d"], "late_argmax_2d": BAD}, False),
        ("best", {"early_argmax_2d": ANSWERS["argmax_2d"], "late_moving_average": ANSWERS["moving_average"]}, False),
        (
            "merge",
            {"early_argmax_2d": f"from lib import x\n{BAD}", "early_lib": "x = 1", "late_lib": "x = 2"},
            False,
        ),
    ],
)
def test_a_later_attempt_of_which_nothing_counts_is_not_late(tmp_path, attempts, files, is_early):
    """What came in time and is judged costs no points because of what came later and is not."""
    ann = grade(tmp_path / "in", tmp_path / "out", "--attempts", attempts, **files)

    assert (ann["when"] < 1_795_300_000) == is_early


@pytest.mark.slow
@pytest.mark.parametrize("attempts", ["merge", "best"])
def test_weights_that_come_later_are_taken_and_have_their_own_time(tmp_path, attempts):
    """Training goes on for a day after the file is handed in: the lesson is judged with both, and is as late."""
    solved = {suffix: (ROOT / f"solutions/models/tiny_gpt.{suffix}").read_bytes() for suffix in ("py", "safetensors")}
    old = solved["safetensors"][:-4000] + bytes(4000)
    (tmp_path / "in").mkdir()
    for number, when, suffix, content in (
        (2, EARLY, "py", solved["py"]),
        (2, EARLY, "safetensors", old),
        (3, LATE, "safetensors", solved["safetensors"]),
    ):
        (tmp_path / "in" / f"1-{number} - Ann - {when} - tiny_gpt.{suffix}").write_bytes(content)
    named = ("run", tmp_path / "in", "--names", "brightspace", "--lessons", "tiny_gpt", "--course", ROOT)
    words = (*named, "--out", tmp_path / "out", "--jobs", 1, "--attempts", attempts)
    done = CliRunner().invoke(grader, [*map(str, words)])
    assert done.exit_code == 0, done.output
    (ann,) = json.loads((tmp_path / "out/results.json").read_text())["submissions"]

    assert ann["lessons"]["tiny_gpt"]["score"] == 10.0 and ann["when"] > 1_795_300_000
    assert "tiny_gpt: its weights are of the newest attempt." in ann["notes"]


def test_a_folder_that_is_called_as_an_earlier_attempt_is_none(tmp_path):
    """What lies in `attempt 1/` of the late hand-in is late: the folder's name is the learner's."""
    archive = tmp_path / "late.zip"
    with ZipFile(archive, "w") as made:
        made.writestr("attempt 1/argmax_2d.py", ANSWERS["argmax_2d"])
    write(tmp_path / "in", {f"1-2 - Ann - {EARLY} - argmax_2d.py": BAD})
    archive.rename(tmp_path / "in" / f"1-3 - Ann - {LATE} - late.zip")
    ann = grade(tmp_path / "in", tmp_path / "out", "--attempts", "best")

    assert ann["lessons"]["argmax_2d"]["score"] == 10.0 and ann["when"] > 1_795_300_000


def test_of_equal_scores_the_earlier_attempts_counts(tmp_path):
    """In one run as in two: whoever hands the same in again loses nothing."""
    same = ANSWERS["argmax_2d"]
    once = grade(tmp_path / "in", tmp_path / "out", "--attempts", "best", early_argmax_2d=same, late_argmax_2d=same)
    grade(tmp_path / "one", tmp_path / "two", "--attempts", "best", early_argmax_2d=same)
    twice = grade(tmp_path / "late", tmp_path / "two", "--attempts", "best", "--resume", late_argmax_2d=same + "\n")

    assert once["when"] == twice["when"] < 1_795_300_000


@pytest.mark.parametrize("days", ["one", "two"])
def test_each_lesson_has_the_time_of_its_own_attempt(tmp_path, days):
    """In a column of its own a lesson that came in time loses nothing, though another one came late."""
    files = {"early_argmax_2d": ANSWERS["argmax_2d"], "late_moving_average": ANSWERS["moving_average"]}
    if days == "one":
        grade(tmp_path / "in", tmp_path / "out", **files)
    else:
        for file in files:
            grade(tmp_path / file, tmp_path / "out", "--resume", **{file: files[file]})
    lines = [export(tmp_path, *words)[0] for words in (("--lesson", "argmax_2d"), ("--lesson", "moving_average"), ())]

    assert lines == ["Ann,1,10.00", "Ann,1,0.00", "Ann,1,0.00"]


def test_with_best_the_time_is_that_of_the_lessons_that_count(tmp_path):
    """The other lesson, a stub, costs nothing by coming late, and of two right ones the earlier counts."""
    for name, other in (("stub", BAD), ("right", ANSWERS["argmax_2d"])):
        files = {"early_moving_average": ANSWERS["moving_average"], "late_argmax_2d": other}
        grade(tmp_path / f"in-{name}", tmp_path / name / "out", **files)
        assert export(tmp_path / name, rule="best = 1")[0] == "Ann,1,10.00"
        assert export(tmp_path / name)[0] != "Ann,1,10.00"


def test_a_humans_score_for_what_was_not_handed_in_has_no_time(tmp_path):
    """Another lesson's lateness is not its own: nothing is deducted, as is said; it takes nothing from the whole's."""
    grade(tmp_path / "in", tmp_path / "out", late_argmax_2d=ANSWERS["argmax_2d"])
    words = ("override", tmp_path / "out", "1", "--lesson", "moving_average", "--score", "10", "--say", "by mail")
    assert CliRunner().invoke(grader, [*map(str, words)]).exit_code == 0

    line, said = export(tmp_path, "--lesson", "moving_average")
    assert line == "Ann,1,10.00" and said["time_unknown"][0]["who"] == "Ann" and not said["late"]
    line, said = export(tmp_path)
    assert line == "Ann,1,0.00" and said["late"][0]["who"] == "Ann"


def test_a_later_run_that_keeps_all_keeps_the_time(tmp_path):
    """A hand-in that only says thank you leaves an earlier one's result, and when that came."""
    before = grade(tmp_path / "one", tmp_path / "out", early_argmax_2d=ANSWERS["argmax_2d"])
    after = grade(tmp_path / "two", tmp_path / "out", "--resume", late_other="x = 1\n")

    assert after["score"] == before["score"] and after["when"] == before["when"]


def test_what_is_kept_of_a_late_hand_in_stays_late(tmp_path):
    """A newer hand-in in time takes nothing from the lateness of what is kept of another."""
    both = {"late_moving_average": ANSWERS["moving_average"], "late_argmax_2d": BAD}
    before = grade(tmp_path / "first", tmp_path / "out", **both)
    words = ("--resume", "--older")
    after = grade(tmp_path / "second", tmp_path / "out", *words, early_argmax_2d=ANSWERS["argmax_2d"])

    assert after["lessons"]["argmax_2d"]["score"] == 10.0 and after["lessons"]["moving_average"]["score"] == 10.0
    assert after["when"] == before["when"]


def test_a_record_of_an_earlier_version_has_one_time():
    """Where no times of lessons were kept, the hand-in's is that of each; beside others it is not known."""
    old = Record("ann", when=5.0, late=True)
    new = replace(old, times={"argmax_2d": HandedIn(4.0, False)})

    assert old.handed_in(["argmax_2d"]) == old.handed_in() == HandedIn(5.0, True)
    assert new.handed_in(["argmax_2d"]) == HandedIn(4.0, False) and new.handed_in(["moving_average"]) is None
