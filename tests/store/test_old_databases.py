"""Files that an earlier version wrote are opened by today's commands, count as before, and are gone on with.

The fixtures were written by the version before marks by a language model were taken out: a learner's progress on the
tiny course with ten topics of questions, what `learn report --json` said of it then, and the results of a small class.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from support.command_server import run_command
from support.hand_ins import ON_TRUST
from support.learn_command import TINY, answer, environment, learn
from support.quiz_maker import write_bank

from grader.store import Store
from grader.store.quiz_log import QuizLog

FIXTURES = Path(__file__).parent / "fixtures"
WORK = ("argmax_2d.py", "moving_average.py")
SCORES = {"ada": 10.0, "ben": 5.5, "cyd": 6.4}


def unpack(name: str, target: Path) -> Path:
    """Write a fixture, unpacked, to `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.decompress((FIXTURES / f"{name}.gz").read_bytes()))
    return target


@pytest.fixture
def course(tmp_path):
    """The tiny course, with ten topics of questions."""
    shutil.copytree(TINY, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__"))
    write_bank(tmp_path / "course/lessons")
    return tmp_path / "course"


@pytest.fixture
def workspace(tmp_path, course):
    """A workspace with the progress of an earlier version."""
    assert learn("start", "work", cwd=tmp_path, course=course).returncode == 0
    unpack("progress.db", tmp_path / "work/.selfattend/progress.db")
    return tmp_path / "work"


def test_an_old_log_tells_what_it_told(workspace, course):
    """Every mark that `learn report --json` counted then counts now, unless it was practice; old ones have faded."""
    done = learn("report", "--json", cwd=workspace, course=course)
    assert (done.returncode, done.stderr) == (0, "")
    now, then = json.loads(done.stdout), json.loads(gzip.decompress((FIXTURES / "report.json.gz").read_bytes()))
    for key in ("schema", "answers", "reason", "claimed", "contradicted"):
        assert now[key] == then[key], key
    assert now["predicted"] == 5.0  # of the assessment: 8.0 was of one topic
    assert now["verified"]["score"] == 7.7  # 10.0 was with what was repeated within a second of its answer
    assert now["verified"]["low"] < then["verified"]["low"]
    assert now["as_of"]["last"] == "2025-07-10"
    for topic, old in zip(now["topics"], then["topics"], strict=True):
        assert {mark["family"] for mark in topic["marks"]} == {mark["family"] for mark in old["marks"]}
        assert all(0 < mark["weight"] < 0.7 for mark in topic["marks"])


def test_old_progress_is_shown_and_gone_on_with(workspace, course):
    """Scores, hints and sittings that were broken off are there; a check adds an attempt to those there were."""
    before = json.loads(learn("progress", "--json", cwd=workspace, course=course).stdout)
    facts = ("solved", "best_score", "attempts", "hints_used")
    states = {each["lesson"]: tuple(each[fact] for fact in facts) for each in before["lessons"]}
    assert states == {"moving_average": (True, 10.0, 1, 0), "argmax_2d": (False, 1.0, 2, 1)}
    quiz = before["quiz"]
    assert (quiz["answers"], quiz["missed"], quiz["unfinished"], quiz["predicted"]) == (36, 1, 2, 5.0)
    answer(workspace, "argmax_2d")
    assert learn("check", "argmax_2d", cwd=workspace, course=course).returncode == 0
    after = json.loads(learn("progress", "--json", cwd=workspace, course=course).stdout)
    assert after["solved"] == 2 and [each["attempts"] for each in after["lessons"]] == [1, 3]


def test_an_old_log_is_answered_on(workspace, course):
    """A review asks what is due, the sitting that was broken off goes on, and each answer is kept beside the old."""
    with Store.open(workspace / ".selfattend/progress.db") as store:
        before = QuizLog(store.database).answers()
    review = learn("review", "--json", cwd=workspace, course=course, stdin="?\n")
    events = [json.loads(line) for line in review.stdout.splitlines()]
    assert [event["event"] for event in events][:3] == ["session", "question", "mark"]
    resumed = learn("quiz", "topic1", "--json", cwd=workspace, course=course, stdin="?\n")
    head = json.loads(resumed.stdout.splitlines()[0])
    assert (head["topics"], head["resumed"], head["answered"]) == (["topic1"], True, 2)
    with Store.open(workspace / ".selfattend/progress.db") as store:
        after = QuizLog(store.database).answers()
    assert after[: len(before)] == before and len(after) == len(before) + 2


def test_old_open_answers_are_marked_on(workspace, course):
    """One is marked, one waits at its second key point: both are listed so, and the second is finished."""
    listed = json.loads(learn("quiz", "open", "--json", cwd=workspace, course=course).stdout)["questions"]
    assert [each["state"] for each in listed[:3]] == ["marked", "written", "new"]
    assert [point["mark"] for point in listed[1]["points"]] == ["yes", None, None, None, None]
    done = learn("quiz", "open", "2", cwd=workspace, course=course, stdin="n\nn\nn\nn\nn\n?\n")
    assert done.returncode == 0 and "Claimed: 1 of 5 key points" in done.stdout


def grader(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """`grader ARGUMENTS` on the tiny course."""
    return run_command("grader", *arguments, cwd=cwd, env=environment())


def scores(results: Path) -> dict[str, float]:
    """The scores in a gradebook by the learner's id."""
    rows = [line.split(",") for line in (results / "gradebook.csv").read_text().splitlines()]
    place = rows[0].index("score")
    return {row[0]: float(row[place]) for row in rows[1:]}


def test_old_results_of_a_class_are_reported_and_merged(tmp_path):
    """`grader report` and `grader merge` write their files from them, with the scores that were given."""
    unpack("results.sqlite", tmp_path / "part/results.sqlite")
    done = grader("report", "part", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert scores(tmp_path / "part") == SCORES and (tmp_path / "part/report.html").is_file()
    done = grader("merge", "part", "--out", "whole", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert scores(tmp_path / "whole") == SCORES


def test_a_run_goes_on_with_old_results(tmp_path):
    """`grader run --resume` grades what is new beside them, and keeps who was graded before."""
    unpack("results.sqlite", tmp_path / "results/results.sqlite")
    for name in ("ada", "dan"):
        copy = tmp_path / "submissions" / name
        copy.mkdir(parents=True)
        for file in WORK:
            shutil.copy(TINY / "solutions/basics" / file, copy)
    options = ["--out", "results", "--resume", "--seed", "7", *ON_TRUST]
    done = grader("run", "submissions", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert scores(tmp_path / "results") == SCORES | {"dan": 10.0}
