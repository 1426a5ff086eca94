"""grader.batch, second half: scores, the results folder, whole runs and the processes that grade."""

from __future__ import annotations

import json
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hand_ins import ANSWERS, SUMS, TINY, learner_of, make_notebook, make_zip, write
from hypothesis import given
from hypothesis import strategies as st

from grader.batch import results
from grader.batch.discover import Learner
from grader.batch.record import mean_score, record_of, without_score
from grader.batch.run import Plan, Run
from grader.batch.settings import settings_for
from grader.batch.stations import Grader, Station
from grader.course import load
from grader.errors import CourseError, StoreError, UsageError
from grader.model import LessonResult
from grader.reports.to_csv import gradebook_lines


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
    run = settings_for(course, list(course.lessons.values()), 1, "cpu", "1")
    learner = Learner("=cmd()", folder / "=cmd()", "folder", "_cmd__")
    lessons = [without_score("moving_average", "missing", run), result(None, "grader-error", "argmax_2d")]
    record = record_of(learner, lessons, digest="d")
    lines = list(gradebook_lines(["moving_average", "argmax_2d"], [record]))

    assert (record["score"], record["complete"]) == (None, False)
    assert (
        lines[0] == "id,score,complete,missing,moving_average,moving_average state,argmax_2d,argmax_2d state,problem\n"
    )
    assert lines[1] == "'=cmd(),,no,1,,missing,,grader-error,\n"


# --- the results folder -----------------------------------------------------------------------------------------------

HEADER = {"schema": 1, "course": {"id": "c"}, "lessons": ["moving_average"], "seed": 1}


def record(learner_id: str, digest: str = "d", state: str = "graded") -> dict[str, object]:
    learner = Learner(learner_id, Path(learner_id), "folder", learner_id)
    return record_of(learner, [result(10.0 if state == "graded" else None, state)], digest=digest)


def learner(learner_id: str) -> Learner:
    return Learner(learner_id, Path(learner_id), "folder", learner_id)


def test_a_torn_journal_is_read_to_its_last_whole_line(tmp_path):
    """After a kill in the middle of a line, everything before it is kept and the rest is written anew."""
    first = results.Results(tmp_path, HEADER, resume=False)
    for name in ("ann", "bob"):
        first.add(learner(name), record(name))
    first.close()
    journal = tmp_path / results.JOURNAL
    journal.write_bytes(journal.read_bytes()[:-7])
    again = results.Results(tmp_path, HEADER, resume=True)

    assert list(again.lines) == ["ann"]
    again.add(learner("bob"), record("bob"))
    again.finish([learner("ann"), learner("bob"), learner("cy")])
    again.close()
    whole = json.loads((tmp_path / "results.json").read_text())
    assert [submission["id"] for submission in whole["submissions"]] == ["ann", "bob"]
    assert whole["complete"] is False


def test_results_of_other_settings_are_put_aside(tmp_path):
    """With another seed nothing is gone on with, and nothing is lost either."""
    first = results.Results(tmp_path, HEADER, resume=False)
    first.add(learner("ann"), record("ann"))
    first.close()
    again = results.Results(tmp_path, {**HEADER, "seed": 2}, resume=True)
    again.close()

    assert again.put_aside and not again.lines
    assert "ann" in (tmp_path / results.PREVIOUS).read_text()


def test_a_failure_of_the_grader_is_tried_again(tmp_path):
    """On --resume, a submission on which the grader failed does not count as graded."""
    first = results.Results(tmp_path, HEADER, resume=False)
    first.add(learner("ann"), record("ann", state="grader-error"))
    first.close()
    again = results.Results(tmp_path, HEADER, resume=True)
    again.close()

    assert again.digest_of(learner("ann")) == ""


def test_two_runs_do_not_write_to_one_folder(tmp_path):
    """While one run has the results folder, another is refused."""
    first = results.Results(tmp_path, HEADER, resume=False)
    with pytest.raises(UsageError, match="another"):
        results.Results(tmp_path, HEADER, resume=True)
    first.close()


def test_a_full_disk_loses_nothing(tmp_path):
    """A record that does not fit leaves the journal as it was, and the message says how to go on."""
    first = results.Results(tmp_path, HEADER, resume=False)
    first.add(learner("ann"), record("ann"))
    plain = first._journal

    class Full:
        def __getattr__(self, name):
            return getattr(plain, name)

        def write(self, line):
            plain.write(line[:9])
            plain.flush()
            raise OSError(28, "No space left on device")

    first._journal = Full()
    with pytest.raises(StoreError, match="disk is full"):
        first.add(learner("bob"), record("bob"))
    first._journal = plain
    first.close()
    again = results.Results(tmp_path, HEADER, resume=True)
    again.close()
    assert list(again.lines) == ["ann"]


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
    run = Run(course, Plan(submissions, out, list(course.lessons.values()), "1", **{"seed": 5, **asked}))
    try:
        run.grade(lambda record: None, jobs)
    finally:
        run.close()
    whole = json.loads((out / "results.json").read_text())
    return {submission["id"]: submission for submission in whole["submissions"]}


def states(record: dict) -> list[tuple[str, float | None]]:
    return [(lesson["state"], lesson["score"]) for lesson in record["lessons"].values()]


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
    assert "not UTF-8" in says[0] and "larger than 1 MB" in says[1]
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


def test_resuming_grades_only_what_is_new_or_changed(course, class_folder, tmp_path):
    """What was graded on the same hand-in, settings and course is kept; the seed is the first run's."""
    out = tmp_path / "out"
    graded(course, class_folder, out, limit=2, seed=77)
    write(class_folder, {"bob/moving_average.py": ANSWERS["moving_average"]})
    run = Run(
        course, Plan(class_folder, out, list(course.lessons.values()), "1", resume=True, only=["ann", "bob", "gus"])
    )
    run.grade(lambda record: None, 1)
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
    before = settings_for(load(tmp_path / "course"), list(course.lessons.values()), 1, "cpu", "1")
    changed.write_text(changed.read_text().replace("points=3", "points=4"))
    copy = load(tmp_path / "course")

    assert settings_for(copy, list(copy.lessons.values()), 1, "cpu", "1").to_header() != before.to_header()


# --- grading processes ------------------------------------------------------------------------------------------------


@pytest.fixture
def grader(course):
    made = Grader(settings_for(course, list(course.lessons.values()), 5, "cpu", "1"), 60.0)
    yield made
    made.close()


def test_a_dead_grading_process_is_replaced(grader, class_folder):
    """If the process dies, the submission is graded by a new one, with the same result."""
    ann = learner_of(class_folder / "ann", "folder")
    first = grader.grade(ann)
    old = grader._mine.station.process
    old.kill()
    old.wait(10)

    assert grader.grade(ann)["lessons"].keys() == first["lessons"].keys()
    assert grader._mine.station.process.pid != old.pid


def test_a_submission_that_kills_the_grader_twice_is_no_zero(grader, course, class_folder, tmp_path, monkeypatch):
    """It is put down as the grader's failure, without a score, and the others are graded all the same."""
    plain = Station.grade

    def deadly(self, learner, seconds):
        if learner.id == "bob":
            self.process.kill()
            self.process.wait(10)
        return plain(self, learner, seconds)

    monkeypatch.setattr(Station, "grade", deadly)
    found = graded(course, class_folder, tmp_path / "out", only=["ann", "bob"])

    assert states(found["bob"]) == [("grader-error", None)] * 2
    assert found["bob"]["score"] is None and "not to blame" in found["bob"]["problem"]
    assert states(found["ann"]) == [("graded", 10.0)] * 2


def test_a_grading_process_that_does_not_answer_is_given_up(grader, class_folder):
    """After the time that a submission may take at the very most, its process counts as dead."""
    grader.grade(learner_of(class_folder / "ann", "folder"))
    grader.seconds = 0.0
    found = grader.grade(learner_of(class_folder / "bob", "folder"))

    assert states(found) == [("grader-error", None)] * 2
    assert "no answer" in found["problem"]


def test_any_executor_can_grade(grader, class_folder):
    """Grading is a plain function of a learner: it can be pickled, and any executor can call it."""
    copy = pickle.loads(pickle.dumps(grader))
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(copy.grade, learner_of(class_folder / "ann", "folder"))
        assert future.result(60)["score"] == 10.0
    copy.close()


def test_a_course_without_checks_cannot_grade(tmp_path, class_folder, course):
    """The release for learners has no checks: that is said before anything is written."""
    shutil.copytree(TINY, tmp_path / "course", ignore=shutil.ignore_patterns("solutions"))
    bare = load(tmp_path / "course")
    with pytest.raises(CourseError, match="hidden checks"):
        Run(bare, Plan(class_folder, tmp_path / "out", list(bare.lessons.values()), "1"))
    assert not (tmp_path / "out").exists()
