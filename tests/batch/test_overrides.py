"""grader override: a human's score counts in place of the program's, which stays beside it."""

from __future__ import annotations

import csv
import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.hand_ins import SUMS, TINY, write

from grader.batch import results_folder
from grader.batch.make_record import GradedHandIn, make_record
from grader.batch.merge import Merge
from grader.batch.outputs import Outputs
from grader.batch.results import Results, read_results
from grader.batch.results_folder import store_path
from grader.cli.grader.group import grader
from grader.intake.learner import Entry, Learner
from grader.model import LessonResult, Override
from grader.store.class_store import ClassStore
from grader.store.sqlite import MAX_ROWS

HEADER = {
    "schema": 1, "course": {"id": "c", "version": "1", "content": "x"}, "engine": "1", "seed": 1, "device": "cpu",
    "lessons": ["moving_average", "argmax_2d"],
}  # fmt: skip
FOUND = {"ignored": [], "missing": [], "unlisted": []}
TITLES = {"course": "A course", "lessons": {"moving_average": "Means", "argmax_2d": "Argmax"}}
ANN = ("override", "{out}", "ann", "--lesson", "moving_average")
SAY = ("--score", "9.5", "--say", "was .py.txt & <b>", "--by", "kim")


def learner(name: str) -> Learner:
    return Learner(name, (Entry(name, Path(name), "folder"),), name)


def result(score: float | None, state: str = "graded", lesson: str = "moving_average") -> LessonResult:
    return LessonResult(lesson, state, score, score == 10.0, "cpu", 1, 0.1)


def graded_as(name: str, score: float = 10.0) -> GradedHandIn:
    return GradedHandIn(make_record(learner(name), [result(score)], digest="d"))


def keep(out: Path, *graded: GradedHandIn, go_on: bool = True) -> None:
    """Keep results in `out`, as a run does."""
    with closing(Results(store_path(out), HEADER, Outputs(out), go_on=go_on)) as results:
        results.begin(TITLES, ("ann", "bob"), FOUND)
        for one in graded:
            results.add_all([(learner(one.record.id), one)])
        results.finish()


def two(name: str, score: float | None, digest: str = "d") -> GradedHandIn:
    """A hand-in with one lesson of this score, and one that was not handed in."""
    first = result(score, "graded" if score else "grader-error")
    lessons = [first, result(None, "missing", "argmax_2d")]
    return GradedHandIn(make_record(learner(name), lessons, digest=digest))


def call(out: Path, *words: str) -> str:
    """What a command prints that ends well."""
    done = CliRunner().invoke(grader, [word.format(out=out) for word in words])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def refused(out: Path, *words: str) -> str:
    done = CliRunner().invoke(grader, [word.format(out=out) for word in words])
    assert done.exit_code == 2, done.output
    return done.output


def scores(out: Path) -> dict[str, dict[str, float | None]]:
    return {one.id: {name: lesson.score for name, lesson in one.lessons.items()} for one in read_results(out)[1]}


@pytest.fixture
def out(tmp_path):
    keep(tmp_path / "out", two("ann", 1.0), graded_as("bob"), go_on=False)
    return tmp_path / "out"


def test_a_humans_score_counts_everywhere_beside_the_programs(out):
    """Gradebook, results, feedback, report and export show yours and the program's; undone, all is as it was."""
    names = "results.json gradebook.csv report.html feedback/ann.md feedback/ann.html feedback/ann.json"
    files = names.split()
    before = {name: (out / name).read_text() for name in files}
    said = call(out, *ANN, *SAY)
    (out / "canvas.csv").write_text("Student,ID,Homework (7)\nAnn,ann,\nBob,bob,\n")
    exported = call(out, "export", "{out}", "--canvas", f"{out}/canvas.csv", "--out", f"{out}/up.csv", "--lesson",
                    "moving_average")  # fmt: skip

    assert "moving_average: a human (kim) gave 9.5 in place of the program's 1.0: was .py.txt" in said
    row = next(csv.DictReader((out / "gradebook.csv").read_text().splitlines()))
    assert (row["moving_average"], row["argmax_2d"]) == ("9.5", "") and "program's 1.0" in row["by hand"]
    record = json.loads((out / "results.json").read_text())["submissions"][0]
    assert record["score"] == 9.5 and record["overrides"]["moving_average"]["instead_of"] == 1.0
    for name in files[2:5]:
        text = (out / name).read_text()
        assert "9.5" in text and "in place of the program" in text and "py.txt & <b>" not in text
    assert "By a human's score (1)" in exported and "94.44" in (out / "up.csv").read_text()
    assert "1 score given by a human" in call(out, "override", "{out}", "--list")

    assert "Taken back: ann, moving_average: 9.5, “" in call(out, *ANN, "--undo")
    assert {name: (out / name).read_text() for name in files} == before
    assert "nobody has given" in refused(out, *ANN, "--undo")


def test_it_survives_what_is_graded_after_it(out, tmp_path):
    """A regrade, a new hand-in and a merge leave a human's score, and say what changed since."""
    call(out, *ANN, *SAY)
    keep(out, two("ann", 3.0))
    assert scores(out)["ann"]["moving_average"] == 9.5
    assert "an earlier hand-in" not in call(out, "override", "{out}", "--list")
    assert "no score has changed" in (out / "report.html").read_text()
    keep(out, two("ann", 4.0, digest="e"))
    listed = call(out, "override", "{out}", "--list")
    assert "place of the program's 4.0" in listed and "an earlier hand-in" in listed
    assert "1 of them to an earlier hand-in" in call(out, "report", "{out}")
    with closing(Merge([out], tmp_path / "whole")) as merge:
        merge.join()
        merge.results.finish()
    assert scores(tmp_path / "whole")["ann"]["moving_average"] == 9.5


def test_a_human_s_word_stays_with_the_account(out):
    """Where an id turns out to be another's, a score that was given to the first is not theirs."""
    first, second = (replace(two("ann", 3.0).record, account=each) for each in ("eve", "ada"))
    keep(out, GradedHandIn(first))
    call(out, *ANN, *SAY)
    keep(out, GradedHandIn(replace(second, digest="e")))

    record = json.loads((out / "results.json").read_text())["submissions"][0]
    assert record["overrides"] == {} and record["lessons"]["moving_average"]["score"] == 3.0
    assert any("another account" in note for note in record["notes"])


def test_the_last_word_counts_after_a_merge(out, tmp_path, monkeypatch):
    """What was taken back in the joined results does not come back from a part; of two parts the later word counts."""
    for at, words in enumerate((ANN + SAY, (*ANN, "--score", "2", "--say", "copied"))):
        monkeypatch.setattr(results_folder, "utc_now", lambda at=at: f"2026-11-28T10:00:0{at}+00:00")
        call(out, *words)
        shutil.copytree(out, tmp_path / f"part{at}")
    for number, parts in enumerate((["part0", "part1"], ["part1", "part0"])):
        whole = tmp_path / f"whole{number}"
        call(whole, "merge", *(str(tmp_path / part) for part in parts), "--out", "{out}")
        assert scores(whole)["ann"]["moving_average"] == 2.0

    monkeypatch.setattr(results_folder, "utc_now", lambda: "2026-11-28T11:00:00+00:00")
    call(whole, *ANN, "--undo")
    call(whole, "merge", str(out), "--out", "{out}")
    assert scores(whole)["ann"]["moving_average"] == 1.0


def test_an_undo_takes_back_only_what_was_said_before_it_there(out, tmp_path, monkeypatch):
    """A word of the joined results' own outlives the undo of a part's; what a merge takes back or replaces, it says."""
    clock = iter(range(10, 60))
    monkeypatch.setattr(results_folder, "utc_now", lambda: f"2026-11-28T10:00:{next(clock)}+00:00")
    whole, other = tmp_path / "whole", tmp_path / "other"
    merge = ("merge", str(out), "--out", "{out}")
    call(out, *ANN, *SAY)
    assert "human that count" not in call(whole, *merge)
    shutil.copytree(whole, other)
    call(whole, *ANN, "--score", "2", "--say", "copied")
    assert "Taken back: ann, moving_average: 9.5, “was .py.txt" in call(out, *ANN, "--undo")

    assert "human that count" not in call(whole, *merge) and scores(whole)["ann"]["moving_average"] == 2.0
    assert "count no more: ann moving_average: 9.5 is taken back" in call(other, *merge)
    assert scores(other)["ann"]["moving_average"] == 1.0
    assert "human that count" not in call(other, *merge)
    call(out, *ANN, "--score", "7", "--say", "read again")
    assert "count no more: ann moving_average: 2 gives way to 7" in call(whole, *merge)
    call(tmp_path / "new", *merge)
    call(other, "merge", str(tmp_path / "new"), "--out", "{out}")
    assert all(scores(each)["ann"]["moving_average"] == 7.0 for each in (whole, other))


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_an_undo_of_one_part_leaves_anothers_word(out, tmp_path, order, monkeypatch):
    """Whichever part is named first, and whether they are joined at once or one after the other."""
    clock = iter(range(10, 60))
    monkeypatch.setattr(results_folder, "utc_now", lambda: f"2026-11-28T10:00:{next(clock)}+00:00")
    for part, score in (("first", "3"), ("second", "8")):
        shutil.copytree(out, tmp_path / part)
        call(tmp_path / part, *ANN, "--score", score, "--say", "read")
    call(tmp_path / "first", *ANN, "--undo")
    call(tmp_path / "one", "merge", *(str(tmp_path / part) for part in order), "--out", "{out}")
    for part in order:
        call(tmp_path / "two", "merge", str(tmp_path / part), "--out", "{out}")

    assert scores(tmp_path / "one")["ann"]["moving_average"] == scores(tmp_path / "two")["ann"]["moving_average"] == 8.0


def test_a_run_that_begins_anew_keeps_a_humans_word(out):
    """The earlier results are put aside; a human's scores count on, also after a run that was killed at its start."""
    call(out, *ANN, *SAY)
    call(out, "override", "{out}", "bob", "--lesson", "argmax_2d", "--score", "2", "--say", "by mail")
    before = call(out, "override", "{out}", "--list")
    keep(out, go_on=False)
    keep(out, two("ann", 3.0), two("bob", 3.0, digest="e"), go_on=False)

    assert (scores(out)["ann"]["moving_average"], scores(out)["bob"]["argmax_2d"]) == (9.5, 2.0)
    listed = call(out, "override", "{out}", "--list")
    assert before != listed and "in place of the program's 3.0: was .py.txt" in listed
    assert listed.count("an earlier hand-in") == 1  # bob's, which has changed
    assert scores(out / "previous-1")["ann"]["moving_average"] == 9.5


def test_a_run_says_which_scores_it_took_over(tmp_path):
    """`grader run` into a folder with a human's scores names them, and those that wait for a hand-in."""
    files = {f"{name}/moving_average.py": SUMS for name in ("ann", "bob")}
    words = ("run", str(write(tmp_path / "in", files)), "--out", "{out}", "--course", str(TINY), "--jobs", "1",
             "--seed", "5", "--lessons", "moving_average")  # fmt: skip
    out = tmp_path / "out"
    assert "human" not in call(out, *words)
    for name in ("ann", "bob"):
        call(out, "override", "{out}", name, "--score", "9.5", "--say", "why")
    shutil.rmtree(tmp_path / "in/bob")
    said = call(out, *words)

    assert "go on counting: ann moving_average. Scores given by a human before, kept for" in said
    assert "not graded here: bob moving_average." in said
    assert scores(out)["ann"] == {"moving_average": 9.5}
    write(tmp_path / "in", files)
    assert "before, which" not in call(out, *words, "--resume")
    assert scores(out)["bob"] == {"moving_average": 9.5}


def test_a_run_that_goes_on_says_which_scores_wait(tmp_path):
    """With other --attempts a score on one attempt counts for none, which --resume and --regrade tell."""
    names = r"(?P<id>[a-z]+)-(?P<attempt>\d+)\.py"
    files = {f"{name}.py": SUMS for name in ("ann-1", "ann-2", "bob-1")}
    words = ("run", str(write(tmp_path / "in", files)), "--names", names, "--out", "{out}", "--course", str(TINY),
             "--jobs", "1", "--seed", "5", "--lessons", "moving_average", "--attempts")  # fmt: skip
    out, waits = tmp_path / "out", "not graded here: ann@2 moving_average."
    call(out, *words, "all")
    for name in ("ann@2", "bob@1"):
        call(out, "override", "{out}", name, "--score", "2", "--say", "copied")
    (tmp_path / "in/bob-1.py").unlink()

    assert waits in call(out, *words, "merge", "--resume") and waits in call(out, *words, "best", "--regrade")
    assert "by a human before" not in call(out, *words, "all", "--resume")
    assert [scores(out)[name]["moving_average"] for name in ("ann@2", "bob@1")] == [2.0, 2.0]


@pytest.mark.parametrize("how", ["--resume", "--jobs=1"])
def test_a_score_whose_file_is_anothers_now_is_told(tmp_path, how):
    """A list of ids and logins alone, in which two were exchanged and are set right, names no person: a human looks."""
    files = {f"{name}.py": SUMS.replace("\n", f"  # {name}\n", 1) for name in ("ann", "bob")}
    words = ("run", str(write(tmp_path / "in", files)), "--out", "{out}", "--course", str(TINY), "--jobs", "1",
             "--seed", "5", "--lessons", "moving_average", "--roster", str(tmp_path / "list.csv"))  # fmt: skip
    out, told = tmp_path / "out", "1 moving_average was for ann.py, which is 2's now."
    write(tmp_path, {"list.csv": "id,login\n1,ann\n2,bob\n"})
    call(out, *words)
    call(out, "override", "{out}", "1", "--score", "2", "--say", "copied")
    assert told not in call(out, *words, "--resume")
    write(tmp_path, {"list.csv": "id,login\n2,ann\n1,bob\n"})

    said = call(out, *words, how)
    assert told in said and f"grader override {out} --list" in said
    write(tmp_path, {"list.csv": "id,login\n1,ann\n2,bob\n"})
    assert "which is" not in call(out, *words, how)


def test_what_the_program_could_not_grade_can_be_given_a_score(out):
    """A lesson that was not handed in, or on which the grader failed, then counts; a 0 is worth nothing."""
    keep(out, two("ann", None))
    call(out, *ANN, *SAY)
    call(out, "override", "{out}", "ann", "--lesson", "argmax_2d", "--score", "0", "--say", "copied")
    record = next(read_results(out)[1])

    assert (record.score, record.complete, record.status) == (4.8, True, "scored")
    (out / "canvas.csv").write_text("Student,ID,Homework (7)\nAnn,ann,\n")
    call(out, "export", "{out}", "--canvas", f"{out}/canvas.csv", "--out", f"{out}/up.csv", "--lesson", "argmax_2d")
    assert "Ann,ann,0.00" in (out / "up.csv").read_text()


@pytest.mark.parametrize("others", [(), ("'=ann",)])
def test_an_id_is_taken_as_the_gradebook_shows_it(tmp_path, others):
    """Unless that is another hand-in's: nobody's score is given to whoever looks alike."""
    out = tmp_path / "out"
    keep(out, *map(graded_as, ("=ann", *others)), go_on=False)
    (tmp_path / "said.csv").write_text("id,lesson,score,say\n'=ann,moving_average,2,why\n")
    words = ("override", "{out}", "--csv", str(tmp_path / "said.csv"))

    if others:
        assert "which a spreadsheet shows alike" in refused(out, *words)
        call(out, "override", "{out}", "'=ann", "--lesson", "moving_average", "--score", "3", "--say", "why")
    else:
        call(out, *words)
    assert {name: found["moving_average"] for name, found in scores(out).items()} == (
        {"=ann": 10.0, "'=ann": 3.0} if others else {"=ann": 2.0}
    )


def test_a_table_of_scores_is_kept_whole_or_not_at_all(out):
    """Each wrong line is named with its place; with one of them nothing is kept."""
    table = out / "said.csv"
    wrong = {
        "ann,argmax_2d,11,why": "11 is no score", "anne,argmax_2d,1,why": "did you mean ann", "ann,,1,why": "which",
        "ann,softmax,1,why": "no lesson", "ann,argmax_2d,5,": "reason", "ann,argmax_2d,,why": "no score",
        "ann,argmax_2d,8.25,why": "one decimal at most",
    }  # fmt: skip
    for line, says in wrong.items():
        table.write_text(f"id,lesson,score,say\nbob,moving_average,2,why\n{line}\n")
        shown = refused(out, "override", "{out}", "--csv", str(table))
        assert says in shown and "said.csv:3" in shown
    for line in (f"ann,argmax_2d,{'9' * 5000},why", f"{'9' * 5000},argmax_2d,1,why"):
        table.write_text(f"id,lesson,score,say\n{line}\n")
        assert len(refused(out, "override", "{out}", "--csv", str(table))) < 1000
    table.write_text("id,score\n")
    assert "no column say" in refused(out, "override", "{out}", "--csv", str(table))
    assert "0 scores" in call(out, "override", "{out}", "--list")
    table.write_text(
        'ID;Lesson;Score;Say;By\nbob;moving_average;"2,5";"=1+1";@kim\nann;argmax_2d;10;\x1b[2Jwhy;\x9b31m\n'
    )
    call(out, "override", "{out}", "--csv", str(table))
    assert scores(out)["bob"]["moving_average"] == 2.5 and scores(out)["ann"]["argmax_2d"] == 10.0
    assert not {"\x1b", "\x9b"} & set((out / "gradebook.csv").read_text())
    assert "whose score" in refused(out, "override", "{out}")


def test_a_line_is_counted_as_an_editor_does(out):
    """Below a cell of several lines the place is that of the file, not that of the row."""
    (out / "said.csv").write_text('id,lesson,score,say\nbob,moving_average,2,"why\nand how"\nann,argmax_2d,11,why\n')

    assert "said.csv:4" in refused(out, "override", "{out}", "--csv", "{out}/said.csv")


def test_two_lines_of_one_hand_in_and_lesson_are_refused(out):
    """Both are named, and nothing is kept: nobody knows which is meant."""
    table = out / "said.csv"
    table.write_text(
        "id,lesson,score,say\nann,argmax_2d,1,a\nann,moving_average,2,b\nbob,argmax_2d,3,c\nann,argmax_2d,4,d\n"
    )
    shown = refused(out, "override", "{out}", "--csv", str(table))

    assert "ann has a score of argmax_2d" in shown and "said.csv:2" in shown and "said.csv:5" in shown
    assert "0 scores" in call(out, "override", "{out}", "--list")


def test_a_table_takes_back_what_it_names(out):
    """With --undo a table gives nothing, needs no more than ids and lessons, and is obeyed whole or not at all."""
    table = out / "said.csv"
    table.write_text("id,lesson,score,say\nann,moving_average,2,why\nbob,moving_average,3,why\n")
    undo = "override", "{out}", "--csv", str(table), "--undo"
    assert "nobody has given ann" in refused(out, *undo)
    call(out, *undo[:-1])
    (out / "wrong.csv").write_text("id,lesson\nann,moving_average\nbob,argmax_2d\n")
    assert "wrong.csv:3" in refused(out, "override", "{out}", "--csv", "{out}/wrong.csv", "--undo")
    assert scores(out)["ann"]["moving_average"] == 2.0
    table.write_text("id,lesson\nann,moving_average\n")

    assert "1 score given by a human" in call(out, *undo)
    assert scores(out)["ann"]["moving_average"] != 2.0 and scores(out)["bob"]["moving_average"] == 3.0


@pytest.mark.parametrize("words, says", [
    ("ann --list", "--list takes no ID"), ("--list --undo", "--list takes no --undo"),
    ("--list --score 3", "--list takes no --score"), ("--csv said.csv --lesson argmax_2d", "--csv takes no --lesson"),
    ("--csv said.csv --say why", "--csv takes no --say"), ("ann --csv said.csv", "--csv takes no ID"),
    ("ann --lesson moving_average --score 3 --undo", "--undo takes no --score"),
])  # fmt: skip
def test_what_would_not_be_obeyed_is_refused(out, words, says):
    """Options that do not go together are named, with the command that is meant."""
    shown = refused(out, "override", "{out}", *words.split())

    assert says in shown and "grader override DIR" in shown


@pytest.mark.slow
def test_a_score_may_be_given_any_number_of_times(out):
    """What was said last counts, and what was said before does not fill the store until it cannot be read."""
    store = ClassStore.existing(out / "results.sqlite")
    digest = store.states()["ann"].digest
    said = Override(1.0, "why", "", "", digest)
    store.add_overrides([("ann", "argmax_2d", said)] * (MAX_ROWS + 1))
    store.close()
    call(out, "override", "{out}", "ann", "--lesson", "argmax_2d", "--score", "3", "--say", "at last")
    assert scores(out)["ann"]["argmax_2d"] == 3.0


def test_the_lesson_need_not_be_named_where_there_is_one(tmp_path):
    """With results of one lesson its name may be left out."""
    header = {**HEADER, "lessons": ["moving_average"]}
    with closing(Results(store_path(tmp_path), header, Outputs(tmp_path), go_on=False)) as one:
        one.begin(TITLES, ("ann",), FOUND)
        one.add_all([(learner("ann"), graded_as("ann", 2.0))])
        one.finish()
    call(tmp_path, "override", "{out}", "ann", "--score", "3", "--say", "why")
    assert scores(tmp_path)["ann"] == {"moving_average": 3.0}


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_a_table_that_a_spreadsheet_saved_keeps_every_sign(out, encoding):
    """Dashes, quotes and currencies are the teacher's, whatever the encoding; that it was guessed is told."""
    says = "It’s fine – really, “very” €5"
    (out / "said.csv").write_bytes(f'id,lesson,score,say\nann,argmax_2d,5,"{says}"\n'.encode(encoding))
    shown = call(out, "override", "{out}", "--csv", "{out}/said.csv")

    assert says in shown and ("read as Windows-1252" in shown) == (encoding == "cp1252")


@pytest.mark.parametrize("says, left_out", [("one\rtwo\tthree", False), ("why\x1b[2J", True), ("w\x81hy", True)])
def test_signs_that_are_left_out_of_what_is_said_are_told(out, says, left_out):
    """A learner reads what the teacher wrote, all of it: line breaks of any kind lose no word, and other losses are
    told with their place."""
    (out / "said.csv").write_text(f'id,lesson,score,say\nann,argmax_2d,5,"{says}"\n', newline="")
    shown = call(out, "override", "{out}", "--csv", "{out}/said.csv")

    assert ("said.csv:2: of what is said" in shown) == left_out
    assert ("one two three" if not left_out else "why") in shown


def test_what_a_human_says_stops_no_export(out):
    """A sign that the worksheet's encoding lacks is a number in the comment, which a browser shows as the sign."""
    call(out, *ANN, "--score", "5", "--say", "“half” → 5 €")
    form = "ID number,Full name,Grade,Feedback comments\nann,José Ann,-,\n"
    (out / "form.csv").write_bytes(form.encode("cp1252"))
    words = ("export", "{out}", "--moodle", "{out}/form.csv", "--out", "{out}/up.csv", "--lesson", "moving_average")
    shown = call(out, *words, "--assignment", "Grade")
    (row,) = csv.DictReader((out / "up.csv").read_text("cp1252").splitlines())

    assert "“half” &#8594; 5 €" in row["Feedback comments"] and row["Full name"] == "José Ann"
    assert "form.csv is not UTF-8" in shown
