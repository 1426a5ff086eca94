"""grader.batch: the grader's own time and memory for one hand-in are bounded, and the class goes on."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from support.class_results import made_class
from support.hand_ins import ANSWERS, TINY, learner_of, make_notebook, make_zip, write
from support.learn_command import ROOT, learn

from grader.batch import compare_class, make_record, results, run
from grader.batch.one_learner import read_within_limits as reading
from grader.batch.one_learner.grade_learner import NO_TIME
from grader.batch.one_learner.read_sources import READ_WITHOUT_RUNS
from grader.batch.outputs import Outputs
from grader.batch.results_folder import store_path
from grader.cli.grader.run_result import print_result
from grader.course import load
from grader.errors import GraderError, MachineError
from grader.intake.hand_in import read_hand_in
from grader.judge.checks.loaded_submission import NOT_LOOKED_FOR
from grader.judge.own_limits import end_after, limited_memory
from grader.model import LessonResult, Limits
from grader.record import Record
from grader.similarity import Compared

SECONDS = 60
ONE_NUMBER = "import numpy as np\n\n\ndef moving_average(x, window):\n    return np.zeros(1)\n"
NO_NUMBER = ONE_NUMBER.replace("zeros(1)", "zeros(0)")
QUESTION = "    assert_shape(submission.moving_average(rand(9), 4), (6,))\n"
CHECK = """\
    answer = submission.moving_average(rand(9), 4)
    while answer.size == 1:
        __import__("time").sleep(0.01)
    if answer.size == 0:
        assert len([bytes(1 << 26) for _ in range(48)])
        return
    assert_shape(answer, (6,))
"""
# in every Python process of the run: a reader that does not end on one hand-in, and less time to wait for it
SITE = """\
import time
from pathlib import Path

import grader.intake.hand_in as hand_in
from grader.model import course

course.JUDGE_SECONDS = 3.0
plain = hand_in.read_hand_in


def read_hand_in(learner, *more):
    Path({log!r}).open("a").write(learner.id + chr(10))
    while learner.id == "endless" and "old" in learner.first.path.read_text():
        time.sleep(0.01)
    return plain(learner, *more)


hand_in.read_hand_in = read_hand_in
"""


class Room:
    """A class, a course whose check can be slow or greedy, and a reader that can be slow."""

    def __init__(self, place: Path) -> None:
        self.out, self.log = place / "out", place / "read"
        self.hand_ins = write(place / "in", {
            "ann.py": ANSWERS["moving_average"], "endless.py": "# old\n" + ANSWERS["moving_average"],
            "loop.py": ONE_NUMBER, "many.py": NO_NUMBER, "zoe.py": ANSWERS["moving_average"],
        })  # fmt: skip
        self.course = place / "course"
        shutil.copytree(TINY, self.course)
        checks = self.course / "solutions/basics/test_moving_average.py"
        assert QUESTION in checks.read_text()
        checks.write_text(checks.read_text().replace(QUESTION, CHECK))
        limits = self.course / "course.toml"
        limits.write_text(limits.read_text().replace("total_seconds = 20.0", "total_seconds = 3.0"))
        write(place / "site", {"sitecustomize.py": SITE.format(log=str(self.log))})
        self.environment = {**os.environ, "PYTHONPATH": str(place / "site"), "TMPDIR": str(place)}

    def run(self, *options: str) -> tuple[int, str]:
        """`grader run` to its end: its exit status, and what it said."""
        command = [sys.executable, "-m", "grader.cli.grader.group", "run", str(self.hand_ins), "--out", str(self.out)]
        command += ["--course", str(self.course), "--lessons", "moving_average", "--seed", "5", "--jobs", "1"]
        done = subprocess.run(
            [*command, *options],
            capture_output=True, text=True, env=self.environment, timeout=SECONDS,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def records(self) -> dict[str, dict]:
        """The results by id, read from results.json."""
        return {one["id"]: one for one in json.loads((self.out / "results.json").read_text())["submissions"]}

    def read(self) -> set[str]:
        """Whose hand-ins were read since the last time."""
        names = set(self.log.read_text().split()) if self.log.exists() else set()
        self.log.unlink(missing_ok=True)
        return names


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)


@pytest.mark.slow
def test_a_judge_that_does_not_end_costs_one_hand_in_its_result(room):
    """Reading and checking are ended by the clock, hoarding by a limit; the others are graded, and --resume goes on."""
    status, said = room.run()
    found = room.records()

    assert status == 0, said
    assert [found[name]["score"] for name in ("ann", "zoe")] == [10.0, 10.0]
    for name, where in (("endless", "reading"), ("loop", "moving_average")):
        record = found[name]
        assert (record["score"], record["complete"], record["states"]) == (None, False, {"missing": 1})
        assert "could not be graded in time" in record["problem"] and where in record["problem"]
        assert record["problem"] in (room.out / f"feedback/{name}.md").read_text()
    many = found["many"]["lessons"]["moving_average"]  # memory that is asked for is refused, and the check fails
    assert many["state"] == "graded" and "MemoryError" in many["checks"][0]["message"]
    cells = {line.split(",")[0]: line for line in (room.out / "gradebook.csv").read_text().splitlines()}
    assert "could not be graded in time" in cells["loop"] and ",missing," in cells["loop"]

    room.read()
    status, said = room.run("--resume")
    assert status == 0 and "5 submissions graded before" in said
    assert "endless" not in room.read()

    (room.hand_ins / "endless.py").write_text(ANSWERS["moving_average"])
    status, said = room.run("--resume")
    assert status == 0 and room.records()["endless"]["score"] == 10.0


@pytest.mark.slow
def test_a_score_outlasts_what_looks_for_its_mistakes(room):
    """Whoever has wrong answers in two lessons keeps both scores though the search ends in neither; notes say so."""
    room.hand_ins = write(room.out.parent / "wrong", {
        "ann/moving_average.py": ONE_NUMBER.replace("(1)", "(6)"),
        "ann/argmax_2d.py": "def argmax_2d(x):\n    return 0, 0\n",
        "zoe/moving_average.py": ANSWERS["moving_average"], "zoe/argmax_2d.py": ANSWERS["argmax_2d"],
    })  # fmt: skip
    for path in room.course.glob("solutions/basics/*_mistakes.py"):
        path.write_text(path.read_text() + "\nwhile True:\n    pass\n")
    status, said = room.run("--lessons", "moving_average,argmax_2d")
    found = room.records()

    assert status == 0, said
    assert found["zoe"]["score"] == 10.0
    assert (found["ann"]["problem"], found["ann"]["complete"]) == ("", True)
    for lesson in found["ann"]["lessons"].values():
        assert 1.0 <= lesson["score"] < 10.0 and lesson["notes"] == [NOT_LOOKED_FOR]


@pytest.mark.slow
def test_a_notebook_that_is_not_loaded_in_time_is_read_without_what_it_runs(room):
    """Its functions count, with a note; a plain file that does not come to its end has a result of its own."""
    slow = "import time\nwhile True:\n    time.sleep(0.1)\n    TABLE.update(scale=1.0)\n"
    answer = ANSWERS["moving_average"].replace("return ", "return TABLE['scale'] * ")
    room.hand_ins = write(room.out.parent / "slow", {
        "ann.ipynb": make_notebook("TABLE = {'scale': 1.0}", answer, slow),
        "bob.py": f"TABLE = {{'scale': 1.0}}\n{answer}\n{slow}",
    })  # fmt: skip
    status, said = room.run()
    found = {name: record["lessons"]["moving_average"] for name, record in room.records().items()}

    assert status == 0, said
    assert found["ann"]["score"] == 10.0 and READ_WITHOUT_RUNS in found["ann"]["notes"]
    assert found["bob"]["state"] == "timed-out" and not found["bob"]["notes"]
    page = (room.out / "code/ann.html").read_text()
    assert "TABLE" in page and "while" not in page  # what was judged


@pytest.mark.slow
def test_a_check_of_ones_own_is_ended_too(room):
    """`learn check` says that the grader itself did not come to an end, as a fault of ours."""
    path = os.pathsep.join([str(ROOT), room.environment["PYTHONPATH"]])
    done = learn(
        "check", "moving_average", "--file", str(room.hand_ins / "loop.py"), cwd=room.hand_ins, course=room.course,
        PYTHONPATH=path,
    )  # fmt: skip

    assert done.returncode == 3
    assert "Checking moving_average took more than" in done.stderr and "Next:" in done.stderr


@pytest.mark.parametrize("more", [{"seconds": 0.3}, {"memory_mb": 64}])
def test_reading_in_the_run_itself_is_bounded(tmp_path, monkeypatch, more):
    """A reader that does not end, or hoards, gives a hand-in with a problem, the same each time."""

    def hoard(_learner):
        kept = [b""]
        while True:
            kept.append(b"x" * len(kept[-1]) * 2 + b"x" * (1 << 16 if "memory_mb" in more else 0))

    monkeypatch.setattr(reading, "read_hand_in", hoard)
    monkeypatch.setattr(Limits, "judging_seconds", more.get("seconds", 20.0))
    learner = learner_of(write(tmp_path, {"ann.py": ""}) / "ann.py", "python")
    found = [reading.read_within_limits(learner, Limits(memory_mb=more.get("memory_mb", 4096))) for _ in range(2)]

    assert "could not be graded" in found[0].problem and not found[0].files
    assert found[0].digest == found[1].digest


def test_what_the_machine_lacks_is_no_learners_fault(tmp_path):
    """Without a descriptor left, whatever was handed in is read later, and nobody has a result by that."""
    write(tmp_path, {"ann/a/x.py": "", "bob.py": ""})
    make_zip(tmp_path / "cy.zip", {"x.py": ""})
    kinds = {"ann": "folder", "bob.py": "python", "cy.zip": "zip"}
    learners = [learner_of(tmp_path / name, kind) for name, kind in kinds.items()]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    for learner in learners:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
        try:
            with pytest.raises(MachineError, match="Too many open files") as told:
                read_hand_in(learner)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert "--resume" in told.value.next_step


def test_looking_for_hand_ins_is_bounded(tmp_path, monkeypatch):
    """Whatever makes finding a class's hand-ins endless, the command ends, and says what it was at."""

    def look(*_args, **_more):
        while True:
            time.sleep(0.01)

    monkeypatch.setattr(run, "discover", look)
    monkeypatch.setattr(run, "DISCOVERY_SECONDS", 0.2)
    course = load(TINY)
    with pytest.raises(GraderError, match="looking for hand-ins took more than") as told:
        run.Run(course, run.Plan(tmp_path, tmp_path / "out", [course.lessons["argmax_2d"]], "1"))
    assert "without it" in told.value.next_step  # and nothing of one file's answers


def made_results(out):
    head, _ = made_class(1)
    settings = {name: head[name] for name in ("course", "engine", "lessons", "seed", "device")}
    made = results.Results(store_path(out), settings, Outputs(out), go_on=True)
    made.begin({"course": "", "lessons": head["titles"]}, [], {name: [] for name in ("ignored", "missing", "unlisted")})
    return made


@pytest.mark.parametrize("more", [{"seconds": 0.3}, {"memory_mb": 64}])
def test_comparing_a_class_is_bounded(tmp_path, monkeypatch, more):
    """Where the comparison is busy, or fills the memory, the class's files are written, with what was found before."""

    pair = {"first": "ann", "second": "ben", "lesson": "argmax_2d", "share": 1.0, "note": "All of it."}

    def hoard(*_args):
        yield Compared("argmax_2d", {("ann", "ben"): (2.0, pair)})
        kept = [b""]
        while True:
            kept.append(b"x" * (1 << 20 if "memory_mb" in more else 0))

    course = dataclasses.replace(load(TINY), limits=Limits(memory_mb=more.get("memory_mb", 4096)))
    monkeypatch.setattr("grader.similarity.compare_lessons", hoard)
    monkeypatch.setattr(compare_class, "SIMILARITY_SECONDS", more.get("seconds", 20.0))
    with closing(made_results(tmp_path)) as made:
        for _ in range(2):  # and the next run tries again
            with pytest.raises(GraderError, match=r"comparing the hand-ins took more|needed more than 64 MB") as said:
                made.finish(course)
            assert "look among the hand-ins" in said.value.next_step

    assert json.loads((tmp_path / "results.json").read_text())["similar"] == [pair]


def test_what_was_not_compared_to_the_end_is_said_and_is_no_error(tmp_path, monkeypatch, capsys):
    """The lessons are named at the end of a run, and of the next one, which does not look again."""
    monkeypatch.setattr("grader.similarity.compare_lessons", lambda *_args: iter([Compared("argmax_2d")]))
    for _ in range(2):
        with closing(made_results(tmp_path)) as made:
            made.finish(load(TINY))
            assert print_result(made, tmp_path, as_json=False) == 0
        assert "little time or memory" in (said := capsys.readouterr().err) and "argmax_2d" in said
        monkeypatch.undo()


@pytest.mark.slow
def test_attempts_of_which_the_best_counts_share_the_time_of_a_lesson(room):
    """Whoever hands in eight that take all of it holds the class for that of two."""
    slow = "import time\n\n\ndef moving_average(x, window):\n    time.sleep(9)\n# {}\n"
    room.hand_ins = write(room.out.parent / "slow", {f"eve_{at}.py": slow.format(at) for at in range(8)})
    started = time.monotonic()
    code, said = room.run("--attempts", "best", "--names", r"(?P<id>[a-z]+)_(?P<attempt>\d+)\.py")

    assert code == 0 and time.monotonic() - started < 20, said  # 8 s; one after the other takes 30
    assert NO_TIME in room.records()["eve"]["lessons"]["moving_average"]["notes"]


def test_what_is_too_large_for_a_row_of_the_store_is_left_out(monkeypatch):
    """Code and pictures first, then what it is compared by, then its lessons: a note says so, and the class goes on."""
    monkeypatch.setattr(make_record, "MAX_ROW_BYTES", 4000)
    result = LessonResult("argmax_2d", "graded", 3.0, False, "cpu", 1, 0.1, weaknesses=("It is the last one.",))
    record = make_record.with_lessons(Record(id="ann", learner="ann"), [result])

    def fit(lesson_result, prints):
        large = make_record.with_lessons(record, [lesson_result])
        small, text, summary, kept = make_record.fit_row(large, json.dumps({"argmax_2d": prints}))
        assert len(text) + len(summary) + len(kept) <= 4000 and json.loads(text)["id"] == "ann"
        return small, json.loads(kept)

    assert fit(result, {"prints": "a", "source": "b"}) == (record, {"argmax_2d": {"prints": "a", "source": "b"}})
    bare, kept = fit(result, {"prints": "a", "source": "b" * 4000})
    assert kept["argmax_2d"] == {"prints": "a", "source": "", "pictures": ""} and "on no page" in bare.notes[0]
    alone, kept = fit(result, {"prints": "a" * 4000})
    assert kept == {} and alone.score == 3.0 and "compared with no other" in alone.notes[0]
    none, kept = fit(dataclasses.replace(result, output="b" * 4000), {"prints": "a"})
    assert (none.lessons, none.score, none.problem) == ({}, None, "Its results are too large to be kept.")


def test_limits_end_with_their_block():
    """Afterwards there is as much memory and time as before; an error of another kind comes out as it is."""
    with pytest.raises(GraderError, match="more than 64 MB"), limited_memory(64):
        bytes(1 << 30)
    assert len(bytes(1 << 28)) == 1 << 28
    with pytest.raises(GraderError, match="it took more than"), end_after(0.05, "it"):
        time.sleep(30)
    with pytest.raises(KeyboardInterrupt), end_after(30.0, "it"):
        raise KeyboardInterrupt
    with end_after(0.05, "it"):
        pass
    time.sleep(0.1)
