"""grader.batch: scores, the results folder, whole runs and grading processes."""

from __future__ import annotations

import csv
import io
import json
import pickle
import re
import shutil
import sqlite3
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.factories import run_judge
from support.hand_ins import ANSWERS, SUMS, TINY, learner_of, make_notebook, make_zip, write

from grader.batch.make_record import (
    GradedHandIn,
    Judged,
    combine,
    make_record,
    make_ungraded,
    mean_score,
    with_overrides,
)
from grader.batch.one_learner.grade_learner import FAILED, Attempt, LearnerGrader
from grader.batch.outputs import Outputs
from grader.batch.processes.process_pool import GradingProcess, ProcessPool
from grader.batch.results import Results, read_results
from grader.batch.results_folder import store_path
from grader.batch.run import Plan, Run
from grader.batch.settings import make_settings
from grader.batch.shards import Shard
from grader.course import load
from grader.course.course_files import digest
from grader.errors import CourseError, StoreError, UsageError
from grader.intake.learner import Entry, Learner
from grader.intake.match_lessons import Match
from grader.model import LessonResult, Limits, Override, Submission
from grader.record import Previous
from grader.reports.formats.run_summary import RunSummary
from grader.reports.formats.to_csv import gradebook_head, gradebook_line


@pytest.fixture(scope="module")
def course():
    return load(TINY)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


# --- scores and the gradebook -----------------------------------------------------------------------------------------


def result(score: float | None, state: str = "graded", lesson: str = "moving_average") -> LessonResult:
    return LessonResult(lesson, state, score, score == 10.0, "cpu", 1, 0.1)


@given(st.lists(st.one_of(st.none(), st.floats(1.0, 10.0).map(lambda score: round(score, 1)))))
def test_a_submission_scores_the_mean_of_the_scores_it_has(scores):
    """Lessons without a score count neither way, and 10.0 is kept for those that are 10.0 throughout."""
    there = [score for score in scores if score is not None]
    mean = mean_score([result(score) for score in scores])

    assert (mean is None) == (not there)
    if mean is not None:
        assert abs(mean - sum(there) / len(there)) <= 0.1001
        assert (mean == 10.0) == (min(there) == 10.0)


def test_what_was_not_graded_is_no_zero(course, folder):
    """A missing lesson and a failure of the grader leave empty cells; formulas in names are made harmless."""
    run = make_settings(course, list(course.lessons.values()), 1, "cpu", "1")
    learner = Learner("=cmd()", (Entry("=cmd()", folder / "=cmd()", "folder"),), "_cmd__")
    lessons = [make_ungraded("moving_average", "missing", run), result(None, "grader-error", "argmax_2d")]
    record = make_record(learner, lessons, digest="d")
    names = ["moving_average", "argmax_2d"]
    lines = [gradebook_head(names), gradebook_line(names, record)]

    assert (record.score, record.complete) == (None, False)
    assert lines[0] == (
        "id,name,attempt,late,status,score,points,possible,complete,missing,"
        "moving_average,moving_average state,argmax_2d,argmax_2d state,by hand,problem\n"
    )
    assert lines[1] == "'=cmd(),,1,no,our fault,,0,0,no,1,,missing,,grader-error,,\n"


@pytest.mark.parametrize("name", ["=1+1", " =1+1", "\u200b=1+1", "\ufeff@x", "\uff1d1+1", "\u3000\uff0b1", "\xa0-1"])
def test_no_cell_of_the_gradebook_is_a_formula(course, name):
    """Blanks that a spreadsheet skips and signs that it takes for others do not get past, in any column."""
    one = replace(make_record(learner("ann"), [result(5.0)], digest="d"), id=name, problem=name)
    line = gradebook_line(["moving_average"], one)
    row = next(csv.reader([line]))

    assert row[0] == row[-1] == f"'{name}"


def test_a_carriage_return_ends_no_line_of_the_gradebook():
    """A row has its cells whatever a learner's name or a problem holds."""
    one = replace(make_record(learner("ann"), [result(5.0)], digest="d"), name="a\rb", problem="x\r=1")
    text = gradebook_head(["moving_average"]) + gradebook_line(["moving_average"], one)
    (head, line) = csv.reader(io.StringIO(text, newline=""))

    assert len(head) == len(line) and line[1] == "a b"


@pytest.mark.parametrize("sign", ["\x1b[2J", "\x9b2J", "\x1b]0;mine\x07", "\t", "\n", "\r\n", "\0", "\x7f", "\u202e"])
def test_no_cell_of_the_gradebook_holds_a_control_character(sign):
    """Whoever prints the file sees text: no order to the terminal, no second line, no turned direction, in any column;
    and what begins with such a sign is still no formula."""
    said = Override(3.0, f"x{sign}y", f"Kim{sign}", "2026-11-20T10:00:00", "d")
    plain = make_record(learner("ann"), [result(5.0)], digest="d")
    one = replace(plain, id=f"{sign}=1", name=f"a{sign}b", problem=f"c{sign}d")
    line = gradebook_line(["moving_average"], with_overrides(one, {"moving_average": said}))
    row = next(csv.reader([line]))

    assert row[0].startswith("'") and row[1][0] + row[1][-1] + row[-1][0] + row[-1][-1] == "abcd" and "Kim" in row[-2]
    assert (
        line.endswith("\n") and not any(unicodedata.category(one) == "Cc" for one in line[:-1]) and "\u202e" not in line
    )


# --- the results folder -----------------------------------------------------------------------------------------------

HEADER = {
    "schema": 1, "course": {"id": "c", "version": "1", "content": "x"}, "engine": "1", "lessons": ["moving_average"],
    "seed": 1, "device": "cpu",
}  # fmt: skip
TITLES = {"course": "A course", "lessons": {"moving_average": "Means"}}
FOUND = {"ignored": [], "missing": [], "unlisted": []}


def test_a_problem_controls_no_terminal():
    """What a problem quotes of a hand-in, such as a notebook's language, holds no escape sequence."""
    assert make_record(learner("ann"), [], digest="d", problem="written in \x1b[2Jx").problem == "written in ?[2Jx"


def learner(learner_id: str) -> Learner:
    return Learner(learner_id, (Entry(learner_id, Path(learner_id), "folder"),), learner_id)


def graded_as(learner_id: str, score: float | None = 10.0, *, state: str = "graded", digest: str = "d") -> GradedHandIn:
    return GradedHandIn(make_record(learner(learner_id), [result(score, state)], digest=digest))


@contextmanager
def opened(out: Path, *, go_on: bool = False, header: dict = HEADER, expected: tuple[str, ...] = ("ann", "bob")):
    """The results of a run in `out`, begun."""
    made = Results(store_path(out), header, Outputs(out), go_on=go_on)
    try:
        made.begin(TITLES, expected, FOUND)
        yield made
    finally:
        made.close()


def test_every_result_is_kept_as_it_comes(tmp_path):
    """What was added can be read at once by others, with the run still open, and its files are there."""
    with opened(tmp_path) as open_run:
        open_run.add_all([(learner("ann"), graded_as("ann"))])
        head, records = read_results(tmp_path)

        assert [one.id for one in records] == ["ann"]
        assert (head["complete"], head["finished"], head["titles"]) == (False, None, TITLES["lessons"])
        assert {path.name for path in (tmp_path / "feedback").iterdir()} == {"ann.json", "ann.md", "ann.html"}
        assert not (tmp_path / "results.json").exists()


def test_files_for_others_are_written_on_request_and_kept_current(tmp_path):
    """Gradescope's folder and junit.xml come when they are asked for, once all is graded too; then they stay true."""
    others = [tmp_path / "gradescope/ann/results.json", tmp_path / "junit.xml"]
    seen = []
    for asked, score in ((False, 4.0), (True, 4.0), (False, 5.0)):
        with opened(tmp_path, go_on=True) as run:
            run.outputs = Outputs(tmp_path, gradescope=asked, junit=asked)
            if not seen or score > 4.0:
                run.add_all([(learner("ann"), graded_as("ann", score))])
            run.finish()
        seen.append([path.read_text() if path.exists() else "" for path in others])
    assert not any(seen[0]) and all(seen[1])
    assert '"score": 40.0' in seen[1][0] and '"score": 50.0' in seen[2][0] and seen[2][1]


def test_results_of_a_run_that_begins_anew_are_put_aside(tmp_path):
    """Without --resume a run starts again and loses nothing: each earlier run is moved to a folder."""
    for name in ("ann", "bob", "cy"):
        with opened(tmp_path) as run:
            run.add_all([(learner(name), graded_as(name))])
            run.finish()

    for folder, name in ((tmp_path / "previous-1", "ann"), (tmp_path / "previous-2", "bob"), (tmp_path, "cy")):
        assert [one.id for one in read_results(folder)[1]] == [name]
        assert [path.stem for path in (folder / "feedback").glob("*.md")] == [name]
        assert name in (folder / "gradebook.csv").read_text()


def test_what_was_graded_with_other_settings_is_not_done(tmp_path):
    """With another seed everybody is graded again, and says what the same work was given before."""
    with opened(tmp_path) as run:
        run.add_all([(learner("ann"), graded_as("ann", 4.0))])
    with opened(tmp_path, go_on=True, header={**HEADER, "seed": 2}) as run:
        assert not run.is_done("ann", "d")
        [record] = run.add_all([(learner("ann"), graded_as("ann", 6.0))])
        assert run.store.states()["ann"].settings == run.key

    assert (record.previous.score, record.previous.lessons) == (4.0, {"moving_average": 4.0})


def test_a_result_says_what_it_replaced(tmp_path):
    """New work keeps the score of the work that it replaced, as a regrade does: no result changes without a word."""
    with opened(tmp_path) as run:
        run.add_all([(learner("ann"), graded_as("ann", 4.0))])
    with opened(tmp_path, go_on=True) as run:
        assert run.add_all([(learner("ann"), graded_as("ann", 6.0, digest="e"))])[0].previous.score == 4.0
        run.grade_again(["ann"])
        assert run.add_all([(learner("ann"), graded_as("ann", 7.0, digest="e"))])[0].previous.score == 6.0


@pytest.mark.parametrize("attempts, scores", [
    ("merge", {"moving_average": 3.0, "argmax_2d": 8.0}), ("last", {"moving_average": 3.0, "argmax_2d": None}),
    ("best", {"moving_average": 9.0, "argmax_2d": 8.0}),
])  # fmt: skip
def test_a_newer_hand_in_leaves_the_lessons_that_it_lacks(attempts, scores):
    """Canvas keeps the last attempt only: what that lacks is of the earlier one, and says so; or the best counts."""
    old = make_record(learner("ann"), [result(9.0), result(8.0, lesson="argmax_2d")], digest="d")
    new = make_record(learner("ann"), [result(3.0), result(None, "missing", "argmax_2d")], digest="e")
    record = combine(new, old, "2026-11-20T10:00:00+00:00", attempts)

    assert {name: lesson.score for name, lesson in record.lessons.items()} == scores
    assert record.complete == (attempts != "last") and record.digest == "e"
    kept = [lesson for name, lesson in record.lessons.items() if lesson.score == old.lessons[name].score]
    assert all(lesson.notes == ("This is of the hand-in graded on 2026-11-20 10:00.",) for lesson in kept)
    assert record.score == mean_score(record.lessons.values())


def test_of_another_account_no_lesson_stays():
    """Whoever had the number before, their lessons are not this one's; an account that is not known tells nothing."""
    old = make_record(learner("ann"), [result(9.0), result(8.0, lesson="argmax_2d")], digest="d")
    new = make_record(learner("ann"), [result(3.0), result(None, "missing", "argmax_2d")], digest="e")

    def lessons(theirs: str, own: str) -> list[float | None]:
        both = replace(new, account=own), replace(old, account=theirs)
        return [lesson.score for lesson in combine(*both, "2026-11-20", "merge").lessons.values()]

    assert lessons("mallory", "ann") == [3.0, None]
    assert lessons("ann", "ann") == lessons("", "ann") == lessons("mallory", "") == [3.0, 8.0]


def test_a_hand_in_that_cannot_be_read_replaces_no_result():
    """The earlier lessons stay, and the problem is told."""
    old = make_record(learner("ann"), [result(9.0)], digest="d")
    new = make_record(learner("ann"), [result(None, "missing")], digest="e", problem="The archive is damaged.")
    record = combine(new, old, "2026-11-20", "merge")

    assert record.score == 9.0 and record.problem == "The archive is damaged." and not record.is_unreadable


def test_a_failure_of_the_grader_is_tried_again(tmp_path):
    """It does not count as graded, and what it replaced stays the previous score."""
    with opened(tmp_path) as run:
        run.add_all([(learner("ann"), graded_as("ann", 4.0))])
        run.grade_again(["ann"])
        run.add_all([(learner("ann"), graded_as("ann", None, state="grader-error", digest=""))])
        run.finish()
    assert (tmp_path / "gradebook.csv").read_text().splitlines()[1].endswith(",,grader-error,,")
    with opened(tmp_path, go_on=True) as run:
        assert not run.is_done("ann", "d")
        [record] = run.add_all([(learner("ann"), graded_as("ann", 5.0))])

    assert record.previous.score == 4.0


def test_no_result_is_ever_taken_out(tmp_path):
    """Every result that a hand-in was given stays in the store, whatever replaced it."""
    with opened(tmp_path) as run:
        for score in (4.0, 5.0, 6.0):
            run.add_all([(learner("ann"), graded_as("ann", score))])
        run.list_only([])

    with closing(sqlite3.connect(store_path(tmp_path))) as file:
        rows = file.execute("SELECT json_extract(record, '$.score') FROM records ORDER BY number").fetchall()
    assert rows == [(4.0,), (5.0,), (6.0,)]
    assert list(read_results(tmp_path)[1]) == []


def test_a_regrade_that_was_begun_is_remembered(tmp_path):
    """Until it is done the old result stays in the files, and the results are not complete."""
    with opened(tmp_path, expected=("ann",)) as run:
        run.add_all([(learner("ann"), graded_as("ann", 4.0))])
        run.grade_again(["ann"])
    with opened(tmp_path, go_on=True, expected=("ann",)) as run:
        head, records = read_results(tmp_path)
        assert not run.is_done("ann", "d") and not head["complete"]
        assert [one.score for one in records] == [4.0]
        run.add_all([(learner("ann"), graded_as("ann", 4.0))])
        assert read_results(tmp_path)[0]["complete"]


def test_files_that_are_right_are_not_written_again(tmp_path):
    """The end of a run that changed nothing touches no file; a file that is gone is written again."""
    with opened(tmp_path) as run:
        run.add_all([(learner("ann"), graded_as("ann"))])
        run.finish()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    with opened(tmp_path, go_on=True) as run:
        run.list_only(["ann"])
        run.finish()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")} == before
    (tmp_path / "report.html").unlink()
    with opened(tmp_path, go_on=True) as run:
        run.finish()
    assert (tmp_path / "report.html").exists()


def test_files_of_those_who_are_not_in_the_results_go(tmp_path):
    """Feedback that a run of ours wrote goes with its result, and comes back with it; other files stay."""
    with opened(tmp_path) as run:
        run.outputs = Outputs(tmp_path, gradescope=True)
        for name in ("ann", "bob"):
            run.add_all([(learner(name), graded_as(name))])
        run.finish()
    written = {
        path: path.read_text() for path in (*tmp_path.glob("feedback/bob.*"), tmp_path / "gradescope/bob/results.json")
    }
    (tmp_path / "feedback/mine.md").write_text("my notes")
    for listed in (["ann"], ["ann", "bob"]):
        with opened(tmp_path, go_on=True) as run:
            run.list_only(listed)
            run.finish()
        assert {path: path.read_text() for path in written if path.exists()} == (written if "bob" in listed else {})
        assert (tmp_path / "feedback/mine.md").exists() and (tmp_path / "feedback/ann.md").exists()
        assert (tmp_path / "gradescope/bob").exists() == ("bob" in listed)


def test_two_runs_do_not_write_to_one_folder(tmp_path):
    """While one run has the results folder, another is refused."""
    with opened(tmp_path), pytest.raises(UsageError, match="another"), opened(tmp_path, go_on=True):
        pass


def test_a_full_disk_loses_nothing(tmp_path):
    """A result that does not fit leaves the store as it was, and the message says how to go on."""
    with opened(tmp_path) as run:
        run.add_all([(learner("ann"), graded_as("ann"))])
        run.store._database.read(str, "PRAGMA max_page_count = 1", ())  # SQLite takes it for the size it has
        with pytest.raises(StoreError, match="disk is full") as caught:
            for number in range(200):
                run.add_all([(learner(f"bob{number}"), graded_as(f"bob{number}"))])

    assert "--resume" in caught.value.next_step
    assert next(read_results(tmp_path)[1]).id == "ann"


def test_results_among_the_hand_ins_are_refused(course, class_folder):
    """The next run would take them for hand-ins; a folder below is left out of the hand-ins."""
    before, lessons = sorted(class_folder.rglob("*")), tuple(course.lessons.values())
    with pytest.raises(UsageError, match="among the hand-ins"):
        Run(course, Plan(class_folder, class_folder / "../in", lessons, "1"))
    with pytest.raises(UsageError, match="128 bits"):
        Run(course, Plan(class_folder, class_folder.with_name("out"), lessons, "1", seed=1 << 128))
    assert sorted(class_folder.rglob("*")) == before


def test_a_folder_without_results_is_said(tmp_path):
    """What is no folder of results, or holds parts of a class only, is an error that says what to do."""
    with pytest.raises(UsageError, match="no results"):
        read_results(tmp_path)
    part = Results(store_path(tmp_path, Shard(1, 2)), HEADER, None, go_on=False)
    part.close()
    with pytest.raises(UsageError, match="have not been joined") as caught:
        read_results(tmp_path)
    assert "grader merge" in caught.value.next_step


def test_feedback_shows_no_hidden_input_unless_asked(tmp_path):
    """--reveal, and its end, change the files of those who were graded before, too."""
    secret = replace(result(4.0), seed=424242, output="the input was 31337")
    hidden = GradedHandIn(make_record(learner("ann"), [secret], digest="d"))
    for reveal in (False, True, False):
        with opened(tmp_path, go_on=True, header={**HEADER, "seed": 424242}) as run:
            run.outputs = Outputs(tmp_path, reveal=reveal, gradescope=True)
            if "ann" not in run.states:
                run.add_all([(learner("ann"), hidden)])
            run.finish()
        files = [*(tmp_path / "feedback").iterdir(), tmp_path / "gradescope/ann/results.json"]
        assert all(("424242" in path.read_text()) <= reveal for path in files)
        assert ("31337" in (tmp_path / "feedback/ann.json").read_text()) == reveal
        assert "31337" in (tmp_path / "results.json").read_text()


# --- whole runs -------------------------------------------------------------------------------------------------------


@pytest.fixture
def class_folder(folder):
    """A small class with everything that comes in."""
    write(folder, {
        "ann/basics/moving_average.py": ANSWERS["moving_average"], "ann/basics/argmax_2d.py": ANSWERS["argmax_2d"],
        "bob/moving_average.py": SUMS, "bob/conftest.py": "raise SystemExit", "bob/numpy.py": "raise SystemExit",
        "bob/argmax_2d.py": (TINY / "exercises/basics/argmax_2d.py").read_text(),
        "dan.zip": "this is no archive",
        "eve/moving_average.py": b"def moving_average(x, window):\n    return '\xe9\xff'\n",
        "eve/argmax_2d.py": "x" * 1_000_001,
        "fay/notes.txt": "nothing",
        "gus.py": "def moving_average(x, window):\n    return None\n",
        "hal/moving_average.py": "from helper import half\nmoving_average = half\n",
        "hal/helper.py": "import numpy as np\n\n\ndef half(x, window):\n    print('hello')\n    return 1 / 0\n",
        "ida.ipynb": make_notebook("%pip install numpy\nimport numpy", ANSWERS["argmax_2d"], "print(argmax_2d?)\n"),
        "kim.py": "import numpy as np\n\n\ndef moving_average(x, window):\n"
        "    return getattr(np, 'con' + 'volve')(x, np.ones(window) / window, 'valid')\n",
        "joy.ipynb": make_notebook("import numpy as np\n!ls", ANSWERS["argmax_2d"], ANSWERS["moving_average"]),
    })  # fmt: skip
    make_zip(folder / "cat.zip", {f"cat/{name}.py": text for name, text in ANSWERS.items()})
    return folder


def graded(course, submissions: Path, out: Path, *, jobs: int = 1, **asked) -> dict[str, dict]:
    """The records of a run by id."""
    run = Run(course, Plan(submissions, out, list(course.lessons.values()), "1", jobs=jobs, **{"seed": 5, **asked}))
    try:
        run.grade(lambda record: None)
    finally:
        run.close()
    whole = json.loads((out / "results.json").read_text())
    return {submission["id"]: submission for submission in whole["submissions"]}


def states(record: dict) -> list[tuple[str, float | None]]:
    return [(lesson["state"], lesson["score"]) for lesson in record["lessons"].values()]


def test_a_hand_in_of_which_nothing_could_be_read_says_so(course, folder, tmp_path):
    """A notebook that is none leaves no file to name: the reason is whole all the same, and its note says which."""
    write(folder, {"ann/work.ipynb": "no notebook"})
    record = graded(course, folder, tmp_path / "out")["ann"]

    assert record["problem"].endswith("for one of these lessons, as none could be read."), record["problem"]
    assert "work.ipynb" in " ".join(record["notes"])


def test_one_bad_submission_never_stops_the_rest(course, class_folder, tmp_path):
    """Everybody gets a result: right and wrong answers, stubs, archives, notebooks, and what cannot be read."""
    found = graded(course, class_folder, tmp_path / "out", jobs=2)

    assert sorted(found) == ["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal", "ida", "joy", "kim"]
    assert all(states(found[name]) == [("graded", 10.0)] * 2 for name in ("ann", "cat", "joy"))
    assert found["ann"]["score"] == 10.0 and found["ann"]["complete"]
    average, argmax = found["bob"]["lessons"].values()
    assert [mistake["id"] for mistake in average["mistakes"]] == ["ma-sum"]
    assert [mistake["id"] for mistake in argmax["mistakes"]] == ["stub"] and argmax["score"] == 1.0
    assert states(found["dan"]) == [("missing", None)] * 2 and "no .zip" in found["dan"]["problem"]
    assert states(found["eve"]) == [("would-not-import", 1.0)] * 2 and found["eve"]["score"] == 1.0
    says = [lesson["mistakes"][0]["says"] for lesson in found["eve"]["lessons"].values()]
    assert "not UTF-8" in says[0] and "larger than 250 kB" in says[1]
    assert found["fay"]["score"] is None and "no Python file" in found["fay"]["problem"]
    assert [m["id"] for m in found["gus"]["lessons"]["moving_average"]["mistakes"]] == ["returned-none"]
    assert [m["id"] for m in found["kim"]["lessons"]["moving_average"]["mistakes"]] == ["forbidden-call"]
    assert found["gus"]["complete"] is False and found["gus"]["states"] == {"graded": 1, "missing": 1}
    assert states(found["ida"])[0] == ("missing", None)


def test_a_learner_is_told_the_places_in_their_own_hand_in(course, class_folder, tmp_path):
    """Tracebacks and files are named as the learner knows them: no temporary folder, no folder of the instructor's."""
    found = graded(course, class_folder, tmp_path / "out", only=["hal", "cat", "bob"])

    text = json.dumps(found)
    assert str(class_folder) not in text and "/tmp" not in text
    assert "hal/helper.py:6" in found["hal"]["lessons"]["moving_average"]["mistakes"][0]["says"]
    assert found["cat"]["lessons"]["argmax_2d"]["file"] == "cat.zip/cat/argmax_2d.py"


def test_the_number_of_processes_changes_no_result(course, class_folder, tmp_path):
    """With one seed, one process and two give the same records in the same order, except for the time it took."""

    def without_time(records: dict) -> str:
        for one in records.values():
            one["duration_s"] = 0
            for lesson in one["lessons"].values():
                lesson["duration_s"] = 0
        return json.dumps(records)

    some = ["ann", "bob", "cat", "eve", "gus"]
    one = graded(course, class_folder, tmp_path / "one", jobs=1, only=some)
    two = graded(course, class_folder, tmp_path / "two", jobs=2, only=some)
    assert without_time(one) == without_time(two)


def test_a_name_leads_to_its_id(course, class_folder, tmp_path):
    """Who is asked for by name is answered with their id, in whatever order the words stand."""
    (tmp_path / "roster.csv").write_text('id,name\nann,"Lee, Ann"\nbob,"Roy, Bob"\n')
    for wanted, answer in (("Roy, Bob", "bob (Roy, Bob)"), ("ann lee", "ann (Lee, Ann)"), ("anni", "ann?")):
        with pytest.raises(UsageError, match=re.escape(f"did you mean {answer}")):
            graded(course, class_folder, tmp_path / "out", only=[wanted], roster=tmp_path / "roster.csv")


def test_a_score_has_changed_if_it_is_shown_as_another():
    """What differs behind the first decimal is no change; a lesson that has changed is, though the whole has not."""
    summary = RunSummary(1)
    for name, before, after in (("ann", 9.96, 10.0), ("bob", 4.0, 5.0)):
        record = graded_as(name, after).record
        lessons = {"moving_average": before}
        summary.compare(replace(record, score=10.0, previous=Previous(10.0, lessons, "")))

    assert [(change.id, change.lessons) for change in summary.changes] == [("bob", {"moving_average": (4.0, 5.0)})]


def test_resuming_grades_only_what_is_new_or_changed(course, class_folder, tmp_path):
    """What was graded on the same hand-in, settings and course is kept; the seed is the first run's."""
    out = tmp_path / "out"
    graded(course, class_folder, out, limit=2, seed=77)
    write(class_folder, {"bob/moving_average.py": ANSWERS["moving_average"]})
    run = Run(
        course, Plan(class_folder, out, list(course.lessons.values()), "1", resume=True, only=["ann", "bob", "gus"])
    )
    run.grade(lambda record: None)
    run.close()

    assert [learner.id for learner in run.todo] == ["bob", "gus"]
    assert run.settings.seed == 77
    found = {one["id"]: one for one in json.loads((out / "results.json").read_text())["submissions"]}
    assert sorted(found) == ["ann", "bob", "gus"]
    assert found["bob"]["lessons"]["moving_average"]["score"] == 10.0
    assert json.loads((out / "feedback" / "bob.json").read_text())["score"] == found["bob"]["score"]


def test_another_version_of_the_course_is_graded_anew(course, class_folder, tmp_path):
    """A changed check is another course, whatever its version says."""
    shutil.copytree(TINY, tmp_path / "course")
    changed = tmp_path / "course/solutions/basics/test_argmax_2d.py"
    before = make_settings(load(tmp_path / "course"), list(course.lessons.values()), 1, "cpu", "1")
    changed.write_text(changed.read_text().replace("points=3", "points=4"))
    copy = load(tmp_path / "course")

    assert make_settings(copy, list(copy.lessons.values()), 1, "cpu", "1").to_header() != before.to_header()


# --- grading processes ------------------------------------------------------------------------------------------------


@pytest.fixture
def grader(course):
    settings = make_settings(course, list(course.lessons.values()), 5, "cpu", "1")
    made = ProcessPool(replace(settings, files=digest(course)), course.limits)
    yield made
    made.close()


def test_a_dead_grading_process_is_replaced(grader, class_folder):
    """If the process dies, the submission is graded by a new one, with the same result."""
    ann = learner_of(class_folder / "ann", "folder")
    first = grader.grade(ann)
    old = grader._local.process.process
    old.kill()
    old.wait(10)

    assert grader.grade(ann).record.lessons.keys() == first.record.lessons.keys()
    assert grader._local.process.process.pid != old.pid


def test_a_lesson_that_kills_the_grader_costs_no_other_one(course, class_folder, tmp_path, monkeypatch):
    """After two tries the hand-in is graded without it; the gap is the grader's fault, and --resume tries again."""
    receive, tries = GradingProcess._receive, []

    def deadly(self, seconds):
        if self.step == "argmax_2d":
            tries.append(self)
            self.process.kill()
            self.process.wait(10)
        return receive(self, seconds)

    monkeypatch.setattr(GradingProcess, "_receive", deadly)
    found = graded(course, class_folder, tmp_path / "out", only=["ann"])["ann"]

    assert len(tries) == 2 and dict(zip(found["lessons"], states(found), strict=True)) == {
        "moving_average": ("graded", 10.0),
        "argmax_2d": ("grader-error", None),
    }
    assert found["lessons"]["argmax_2d"]["notes"] == [FAILED] and found["states"]["grader-error"] == 1


def test_what_was_judged_is_not_judged_again(course, class_folder, tmp_path, monkeypatch):
    """Where the process dies at a later lesson, the result is kept: code that answers by the clock has one draw."""
    receive, begun = GradingProcess._receive, []

    def deadly(self, seconds):
        if self.step == "moving_average" and len(begun) == 2:
            self.process.kill()
            self.process.wait(10)
        reply = receive(self, seconds)
        begun.extend([reply["step"]] if "step" in reply and "judged" not in reply else [])
        return reply

    monkeypatch.setattr(GradingProcess, "_receive", deadly)
    found = graded(course, class_folder, tmp_path / "out", only=["ann"])["ann"]

    assert begun == ["argmax_2d", "moving_average", "moving_average"]
    assert states(found) == [("graded", 10.0)] * 2 and found["complete"]


@pytest.mark.parametrize("source", ["1 / 0\n", "# %%\nimport no_such\n", "def f(:\n", SUMS, ANSWERS["moving_average"]])
def test_whatever_comes_of_a_lesson_is_told_before_the_next(course, launcher, source):
    """Also of one that cannot be loaded, which could be when it is judged again."""
    settings, told = make_settings(course, [course.lessons["moving_average"]], 5, "cpu", "1"), []
    attempts = [Attempt(Match("a.py"), Submission("moving_average", "a.py", source))]

    def drive(judge):
        return LearnerGrader(judge, settings, lambda _, judged: told.append(judged))._judge(attempts)

    [(_, result, _)] = run_judge(launcher, "moving_average", drive, course)
    assert told[-1] == Judged("a.py", result)


def test_a_submission_that_kills_the_grader_each_time_is_no_zero(grader, course, class_folder, tmp_path, monkeypatch):
    """It is put down as the grader's failure, without a score, and the others are graded all the same."""
    plain = GradingProcess.grade

    def deadly(self, learner, *more):
        if learner.id == "bob":
            self.process.kill()
            self.process.wait(10)
        return plain(self, learner, *more)

    monkeypatch.setattr(GradingProcess, "grade", deadly)
    found = graded(course, class_folder, tmp_path / "out", only=["ann", "bob"])

    assert states(found["bob"]) == [("grader-error", None)] * 2
    assert found["bob"]["score"] is None and "not to blame" in found["bob"]["problem"]
    assert states(found["ann"]) == [("graded", 10.0)] * 2


def test_a_grading_process_that_does_not_answer_is_given_up(grader, class_folder):
    """After the time that a step of it may take at the very most, its process is ended; it is not tried again."""
    grader.grade(learner_of(class_folder / "ann", "folder"))
    grader.limits = Limits(total_seconds=-8.0)  # none is left
    found = grader.grade(learner_of(class_folder / "bob", "folder")).record.to_json()

    assert states(found) == [("missing", None)] * 2
    assert "not be graded in time: reading it took more than" in found["problem"]


def test_any_executor_can_grade(grader, class_folder):
    """Grading is a plain function of a learner: it can be pickled, and any executor can call it."""
    copy = pickle.loads(pickle.dumps(grader))
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(copy.grade, learner_of(class_folder / "ann", "folder"))
        assert future.result(60).record.score == 10.0
    copy.close()


def test_a_course_without_checks_cannot_grade(tmp_path, class_folder, course):
    """The release for learners has no checks: that is said before anything is written."""
    shutil.copytree(TINY, tmp_path / "course", ignore=shutil.ignore_patterns("solutions"))
    bare = load(tmp_path / "course")
    with pytest.raises(CourseError, match="hidden checks"):
        Run(bare, Plan(class_folder, tmp_path / "out", list(bare.lessons.values()), "1"))
    assert not (tmp_path / "out").exists()
