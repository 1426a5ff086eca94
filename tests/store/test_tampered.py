"""Files that somebody else wrote: stores, journals and logs end in an answer or in an error of ours, at once."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from support.class_results import made_class
from support.course_files import ROOT
from support.course_maker import front, make_course
from support.quiz_workspace import Workspace
from support.repeat import repeat

from grader.batch.compare_class import compare_class
from grader.batch.outputs import Outputs
from grader.batch.results import Results, read_results
from grader.batch.results_folder import move_aside, store_path
from grader.cli.context import CourseContext
from grader.cli.grader.group import grader
from grader.cli.learn.group import learn
from grader.cli.quiz.open.editor import _run_editor
from grader.course import load
from grader.course.learner_copy import release_of
from grader.errors import SelfattendError, StoreError, UsageError
from grader.files import read_bounded
from grader.judge.transcript.transcript_file import TranscriptFile
from grader.model import MAX_PAIRS, Override
from grader.model.course import MAX_LESSONS
from grader.quiz.open_draft import recover_draft
from grader.record import Record
from grader.reports.gradebook.csv_sheet import read_sheet
from grader.reports.statistics.quiz_logs import read_logs
from grader.store import Store
from grader.store.class_store import ClassStore, Result
from grader.store.quiz_log import QuizLog
from grader.worker.wire import PREFIX
from grader.workspace import create, find

CANVAS = "Student,ID,SIS Login ID,Section,Softmax (7)\nKim,1,s1000,A,\n"
READ_PROGRESS = ("list", "progress", "report --explain", "quiz log", "quiz open list", "quiz", "review --json")
NUMBERS = (0, -1, 2**62, 2**63, 10**400, 1e308, -0.5)
TEXTS = (None, 7, -1.5, 9e999, b"\xff\x00", "", "x", "9" * 50, "2026-01-01", "9999-12-31T23:59:59-12:00")
JSONS = ("[" * 200_000, '{"a":' * 100_000, "NaN", "1e999", "9" * 5000, '"\\ud800"', "null", "[]", "{}", "0")
VALUES = (None, True, "", "=1", "../../x", "\ud800", "a\x00\x1b[2J", [], {}, [[]], ["x"], {"x": 1}, *NUMBERS)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of a class of three, which nobody graded."""
    out = tmp_path_factory.mktemp("class") / "out"
    head, records = made_class(3)
    header = {"schema": 1, "course": {name: head["course"][name] for name in ("id", "version", "content")}}
    header |= {name: head[name] for name in ("engine", "lessons", "seed", "device")}
    titles = {"course": head["course"]["title"], "lessons": head["titles"]}
    found = {name: head[name] for name in ("ignored", "missing", "unlisted")}
    made = Results(store_path(out), header, Outputs(out), go_on=False)
    made.begin(titles, [record["id"] for record in records], found)
    for record in map(Record.from_json, records):
        prints = {name: {"prints": "", "text": 1, "names": ["a"], "remarks": []} for name in record.lessons}
        given = Result(record.id, record.learner, 1, record.feedback, "2026-11-20T10:00:00+00:00", made.key, "d")
        made.save([(given, record, json.dumps(prints))])
    made.override([(records[0]["id"], "softmax", Override(7.0, "It was said.", "kim", "2026-11-20", "d"))])
    made.store.keep_facts(similar=head["similar"], isolation=head["isolation"])
    made.finish()
    made.close()
    return out


@pytest.fixture
def stolen(results, tmp_path):
    """A copy of the store alone, to be tampered with."""
    (tmp_path / "room" / "out").mkdir(parents=True)
    path = store_path(tmp_path / "room" / "out")
    path.write_bytes(store_path(results).read_bytes())
    return path


def sql(path: Path, statement: str, *parameters: object) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(statement, parameters)


def rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as file:
        return file.execute(query).fetchall()


def call(command, *words: object) -> str:
    """Run a command; it ends, or raises an error of ours that says what to do. Returns what it said."""
    done = CliRunner().invoke(command, list(map(str, words)), standalone_mode=False)
    if done.exception is None:
        return done.output
    error = done.exception.__cause__ or done.exception
    if not isinstance(error, SelfattendError):
        raise error
    assert error.next_step and error.exit_code in (2, 3), error
    return str(error)


def in_use() -> int:
    """The address space of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def reads_of(path: Path) -> None:
    """Do with a class store all that reads one."""
    out, room = path.parent, path.parent.parent
    (room / "canvas.csv").write_text(CANVAS)
    call(grader, "report", out)
    call(grader, "merge", path, "--out", room / "merged")
    words = ("--canvas", room / "canvas.csv", "--lesson", "softmax", "--out", room / "up.csv", "--force")
    call(grader, "export", out, *words)


# ---- where files are written -----------------------------------------------------------------------------------------


OUTSIDE = "/tmp/selfattend-outside-of-results/ann"
NAMES = ("../../../PWNED/ann", OUTSIDE, "..", ".hidden", "--help", "-rf", "a\x00b", "x" * 300)


@pytest.mark.parametrize("name", NAMES)
def test_no_name_in_a_store_leads_out_of_the_results(stolen, name):
    """`report`, `merge` and `export` write below the folder they were given, whatever names the store holds."""
    sql(stolen, "UPDATE results SET feedback = ? WHERE id = (SELECT min(id) FROM results)", name)
    sql(stolen, "UPDATE records SET record = json_set(record, '$.feedback', ?)", name)
    reads_of(stolen)
    room = stolen.parent.parent

    assert {path.name for path in room.iterdir()} <= {"out", "merged", "canvas.csv", "up.csv"}
    assert not (room.parent / "PWNED").exists() and not Path(OUTSIDE).parent.exists()
    files = [path for out in ("out", "merged") for path in (room / out / "feedback").glob("*")]
    assert files and not [path for path in files if path.name.startswith(("-", "."))]


@pytest.mark.parametrize("name", ["{}", "{}.", ".{}"])
def test_no_feedback_is_written_in_the_place_of_anothers(stolen, name):
    """Rows that say so are damage; what a record alone says is not followed."""
    [(first, own), (second, others)] = rows(stolen, "SELECT id, feedback FROM results ORDER BY id LIMIT 2")
    sql(stolen, "UPDATE records SET record = json_set(record, '$.feedback', ?) WHERE id = ?", others, first)
    call(grader, "report", stolen.parent)
    written = {each: json.loads((stolen.parent / "feedback" / f"{each}.json").read_text()) for each in (own, others)}
    assert [written[own]["id"], written[others]["id"]] == [first, second]

    sql(stolen, "UPDATE results SET feedback = ? WHERE id = ?", name.format(others.upper()), first)
    assert "damaged" in call(grader, "report", stolen.parent)


# ---- what stands in the place of a file ------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["", "-journal", "-wal"])
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path, end):
    """Neither a progress file nor what SQLite opens beside it is waited for."""
    path = tmp_path / "progress.db"
    with Store.open(path) as store:
        QuizLog(store.database).salt()
    path.with_name(path.name + end).unlink(missing_ok=True)
    os.mkfifo(path.with_name(path.name + end))
    with pytest.raises(StoreError, match="no ordinary file"):
        Store.open(path)


@pytest.fixture
def learner(tmp_path):
    """A learner's folder of a course without solutions, where one lesson had another name before."""
    course = load(make_course(tmp_path / "course", {"lessons/core/mean.md": front("mean", aliases='"average"')}))
    create(tmp_path / "work", course)
    return CourseContext(course, find(tmp_path / "work"))


def reset(learner: CourseContext) -> None:
    learner.require_workspace().reset(learner.course.lessons["mean"])


def carry(learner: CourseContext) -> None:
    (learner.require_workspace().root / "core/mean.py").unlink(missing_ok=True)
    create(learner.require_workspace().root, learner.course)


READERS = {  # what reads a file, and the file
    "which lesson is edited": ("work/core/mean.py", lambda here, _: here.edited_at(here.course.lessons["mean"])),
    "learn reset": ("work/core/mean.py", lambda here, _: reset(here)),
    "work under a former name": ("work/core/average.py", lambda here, _: carry(here)),
    "an editor's draft": ("work/.selfattend/open-x.md", lambda _, path: recover_draft(path, "", lambda _: None)),
    "the mark of a workspace": (
        "work/.selfattend/workspace.toml",
        lambda here, path: create(path.parents[1], here.course),
    ),
    "a release": ("course/public/release.json", lambda here, _: release_of(here.course)),
    "recorded answers": ("course/public/core/mean.answers", lambda _, path: TranscriptFile(path)),
    "a gradebook": ("canvas.csv", lambda _, path: read_sheet(path, "export it")),
}


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: it alone says how much memory is in use")
@pytest.mark.parametrize("kind", ["pipe", "device", "large", "deep"])
@pytest.mark.parametrize("reader", READERS)
def test_no_reader_waits_or_reads_without_end(learner, tmp_path, reader, kind):
    """A pipe, a device, a sparse TiB and 8 MB of open brackets are an error of ours, or as good as no file."""
    name, read = READERS[reader]
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "large":
        with path.open("wb") as file:
            file.truncate(1 << 40)
    else:
        header = b"[" * (8 << 20)
        path.write_bytes(PREFIX.pack(len(header), 0) + header if path.suffix == ".answers" else header)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use() + (1 << 30), limits[1]))
    signal.alarm(20)  # its default action ends this process: better than to wait for good
    try:
        read(learner, path)
    except SelfattendError as error:
        assert error.next_step
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, limits)


def test_a_draft_is_written_through_no_link(tmp_path):
    """An editor's draft in somebody else's folder does not lead to a new file elsewhere."""
    draft, elsewhere = tmp_path / "open-x.md", tmp_path / "elsewhere"
    draft.symlink_to(elsewhere)
    shown: list[str] = []
    prompter: Any = SimpleNamespace(show=shown.extend)
    assert _run_editor(prompter, "true", "Why?", "as before", draft) == "as before"
    assert shown and not elsewhere.exists()


def test_a_refused_folder_leaves_no_descriptor_open(tmp_path):
    """Ten thousand folders in the place of files do not use up what a process may open."""
    os.close(lowest := os.dup(0))
    for _ in range(10):
        with pytest.raises(OSError, match="directory"):
            read_bounded(tmp_path, 1)
    os.close(after := os.dup(0))
    assert after == lowest


@pytest.mark.parametrize(
    "change",
    [
        "CREATE VIEW quiz_facts AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, x FROM n",
        "CREATE TABLE quiz_facts (name TEXT, value TEXT GENERATED ALWAYS AS (hex(zeroblob(1000000))))",
    ],
)
def test_tables_that_are_not_ours_are_refused(tmp_path, change):
    """A view that never ends, or a table that computes, is not read."""
    path = tmp_path / "progress.db"
    with Store.open(path) as store:
        QuizLog(store.database).salt()
    sql(path, "DROP TABLE quiz_facts")
    sql(path, change)
    with pytest.raises(StoreError, match="tables are not as selfattend makes them"):
        Store.open(path)


ENDLESS = "instr(zeroblob(60000000), CAST(zeroblob(30000000) || '1' AS BLOB))"  # no signal ends it


@pytest.mark.parametrize("what", [
    "TRIGGER t AFTER UPDATE ON facts BEGIN DELETE FROM results; END",
    f"INDEX i ON facts (CASE name WHEN 'finished' THEN {ENDLESS} END)",
    f"INDEX i ON facts (name) WHERE name = 'none' AND {ENDLESS}",
])  # fmt: skip
def test_what_acts_or_computes_when_a_row_is_written_is_refused(stolen, what):
    """What another program hangs on a table never runs."""
    sql(stolen, "DELETE FROM facts WHERE name = 'finished'")
    sql(stolen, f"CREATE {what}")
    assert "tables are not as selfattend makes them" in call(grader, "report", stolen.parent)


def test_nothing_hides_behind_other_tables(stolen):
    """A file of far more tables than ours is refused: what acts may stand behind them."""
    with closing(sqlite3.connect(stolen)) as file, file:
        for number in range(101):
            file.execute(f"CREATE TABLE t{number} (a)")
    assert "tables are not as selfattend makes them" in call(grader, "report", stolen.parent)


def test_half_a_character_is_a_damaged_record(stolen):
    """A lone surrogate, which JSON can hold and a file cannot, is said to be damage; a whole emoji is none."""
    change = "UPDATE records SET record = replace(record, '\"notes\": []', '\"notes\": [\"' || ? || '\"]')"
    sql(stolen, change, "\\ud83d\\ude00")
    assert "mean score" in call(grader, "report", stolen.parent)
    sql(stolen, "UPDATE records SET record = replace(record, '\\ude00', '')")
    assert "a record in it is damaged" in call(grader, "report", stolen.parent)


def test_a_check_that_earned_more_than_it_is_worth_is_damage(stolen):
    """A share of 10**300 is no share of the points."""
    sql(stolen, 'UPDATE records SET record = replace(record, \'"points": \', \'"points": 5e-324, "was": \')')
    assert "a record in it is damaged" in call(grader, "report", stolen.parent)


def test_checks_worth_next_to_nothing_are_damage(stolen):
    """Shares of 5e-324 points, the least number there is, are beyond every number."""
    for name, text in rows(stolen, "SELECT id, record FROM records"):
        record = json.loads(text)
        for check in (check for lesson in record["lessons"].values() for check in lesson["checks"]):
            check |= {"points": 5e-324, "earned": 0.0}
        sql(stolen, "UPDATE records SET record = ? WHERE id = ?", json.dumps(record), name)
    assert "a record in it is damaged" in call(grader, "report", stolen.parent)


@pytest.mark.parametrize("where", ["$.score", "$.lessons.softmax.score", "$.previous"])
@pytest.mark.parametrize("score", [-5, 10.1])
def test_a_score_that_no_work_can_have_is_damage(stolen, where, score):
    """Neither a hand-in's, nor a lesson's, nor an earlier one lies outside of 0 to 10."""
    value = json.dumps({"score": score, "lessons": {}, "when": ""} if where == "$.previous" else score)
    sql(stolen, "UPDATE records SET record = json_set(record, ?, json(?))", where, value)
    for words in (("report", stolen.parent), ("merge", stolen.parent, "--out", stolen.parent.parent / "joined")):
        assert "a record in it is damaged" in call(grader, *words)


@pytest.mark.parametrize("part", [
    {"names": ["a"] * 61}, {"names": ["a" * 300_000]}, {"remarks": ["a"] * 61}, {"remarks": ["a" * 81]},
    {"prints": "AAAA" * 400_000}, {"source": "x" * 70_000},
])  # fmt: skip
def test_more_than_is_kept_of_a_file_is_damage(stolen, part):
    """What a part keeps to compare hand-ins with is read up to what a run keeps: megabytes were merged."""
    of = {"prints": "", "text": 1, "names": [], "remarks": [], "source": ""}
    sql(stolen, "UPDATE results SET fingerprints = ?", json.dumps({"softmax": of | part}))
    assert "damaged" in call(grader, "merge", stolen.parent, "--out", stolen.parent.parent / "joined")
    sql(stolen, "UPDATE results SET fingerprints = ?", json.dumps({"softmax": of}))
    assert "joined" in call(grader, "merge", stolen.parent, "--out", stolen.parent.parent / "joined")


def test_lessons_that_the_run_does_not_have_are_not_compared(stolen, monkeypatch):
    """A thousand made-up ones would each take a part of the time that the class's own lessons have."""
    of = {"prints": "", "text": 1, "names": [], "remarks": [], "source": ""}
    names = ["softmax", *(f"made-up {number}" for number in range(1000))]
    sql(stolen, "UPDATE results SET fingerprints = ?", json.dumps(dict.fromkeys(names, of)))
    seen: set[str] = set()

    def look(_course: Any, items: Any, _seconds: float) -> list[Any]:
        seen.update(lesson for *_, prints in items for lesson in prints)
        return []

    monkeypatch.setattr("grader.similarity.compare_lessons", look)
    with closing(ClassStore(stolen)) as store:
        compare_class(load(ROOT), store)
    assert seen == {"softmax"}


@pytest.mark.parametrize("parts", ["[[1, 999999999]]", "[[1, 2, 3]]", "[[0, 1]]", "[[2, 1]]", "[[1]]"])
def test_parts_that_no_class_has_are_damage(stolen, parts):
    """A billion missing parts are not listed."""
    sql(stolen, "UPDATE facts SET value = ? WHERE name = 'parts'", parts)
    assert "damaged" in call(grader, "merge", stolen.parent, "--out", stolen.parent.parent / "joined")


LINES = ({"a": 1}, "12", [0.5], [1] * 3, [1], [], [-1, 10**30])


@pytest.mark.parametrize("lines", LINES, ids=str)
def test_lines_that_no_pair_has_are_damage_or_none(stolen, lines):
    """What is no list of numbers is refused; any other is no error in the report."""
    pair = json.loads(rows(stolen, "SELECT value FROM facts WHERE name = 'similar'")[0][0])[0]
    pairs = json.dumps([pair | {"first_lines": lines, "second_lines": lines}])
    sql(stolen, "UPDATE facts SET value = ? WHERE name = 'similar'", pairs)
    is_list = isinstance(lines, list) and 0.5 not in lines
    assert ("mean score" if is_list else "damaged") in call(grader, "report", stolen.parent)


def test_more_pairs_than_a_run_keeps_are_damage(stolen):
    """Thousands that share their hand-ins were joined again and again, for hours."""
    pair = json.loads(rows(stolen, "SELECT value FROM facts WHERE name = 'similar'")[0][0])[0]
    for count, says in ((MAX_PAIRS, "mean score"), (MAX_PAIRS + 1, "damaged")):
        sql(stolen, "UPDATE facts SET value = ? WHERE name = 'similar'", json.dumps([pair] * count))
        assert says in call(grader, "report", stolen.parent)


@pytest.mark.parametrize("missing", [[{}], [{"name": "x"}], [{"id": 1}], [{"id": "x", "name": None}], ["x"]], ids=str)
def test_who_is_missing_without_an_id_is_damage(stolen, missing):
    """It was an error of ours in the gradebook, and where parts are joined."""
    found = json.loads(rows(stolen, "SELECT value FROM facts WHERE name = 'found'")[0][0])
    sql(stolen, "UPDATE facts SET value = ? WHERE name = 'found'", json.dumps(found | {"missing": missing}))
    assert "damaged" in call(grader, "merge", stolen.parent, "--out", stolen.parent.parent / "joined")


@pytest.mark.parametrize("name", ["expected", "missing", "ignored", "unlisted", "older"])
def test_more_people_than_a_class_has_are_damage(stolen, monkeypatch, name):
    """Half a million took a report minutes; what another version may have stored beside them counts for nothing."""
    monkeypatch.setattr("grader.store.class_store.MAX_PEOPLE", 10)
    fact = "expected" if name == "expected" else "found"
    kept = json.loads(rows(stolen, f"SELECT value FROM facts WHERE name = '{fact}'")[0][0])
    for count, says in ((10, "mean score"), (11, "damaged")):
        people = [{"id": str(each)} if name == "missing" else str(each) for each in range(count)]
        changed = people if name == "expected" else kept | {name: people, "later": 1}
        sql(stolen, f"UPDATE facts SET value = ? WHERE name = '{fact}'", json.dumps(changed))
        assert says in call(grader, "report", stolen.parent)


def test_lessons_that_no_course_has_are_damage(stolen):
    """Thousands, or one again and again, made a table of the report that took hours."""
    settings = json.loads(rows(stolen, "SELECT value FROM facts WHERE name = 'settings'")[0][0])
    many = [*settings["lessons"], *(f"made-up {number}" for number in range(MAX_LESSONS))]
    for lessons, says in ((many[:MAX_LESSONS], "mean score"), (many, "damaged"), (settings["lessons"] * 2, "damaged")):
        sql(stolen, "UPDATE facts SET value = ? WHERE name = 'settings'", json.dumps(settings | {"lessons": lessons}))
        assert says in call(grader, "report", stolen.parent)


def test_facts_that_nobody_asks_for_are_not_read(stolen):
    """JSON takes twenty times the memory of its text: what is no fact of ours stays text."""
    for number in range(3):
        sql(stolen, "INSERT INTO facts VALUES (?, ?)", f"more{number}", "[" * 100_000)
    assert "mean score" in call(grader, "report", stolen.parent)
    sql(stolen, "UPDATE facts SET value = ? WHERE name = 'titles'", f"[{'[],' * 6_000_000}[]]")
    assert "too big" in call(grader, "report", stolen.parent)
    sql(stolen, "UPDATE facts SET value = ? WHERE name = 'titles'", f'{{"x": [{"[]," * 5_000_000}[]]}}')
    sql(stolen, "INSERT OR REPLACE INTO facts VALUES ('similar', ?)", f"[{'[],' * 5_000_000}[]]")
    assert "damaged" in call(grader, "report", stolen.parent)


def test_results_without_a_record_of_their_own_are_not_written(stolen):
    """A store is not stuffed with thousands of results that share one record."""
    sql(stolen, "UPDATE results SET number = (SELECT MIN(number) FROM results)")
    call(grader, "report", stolen.parent)
    assert len(list((stolen.parent / "feedback").glob("*.json"))) == 1


@pytest.mark.slow
def test_more_rows_than_a_learner_can_have_are_refused(tmp_path):
    """A log of 300,000 answers is an error, in seconds."""
    path = tmp_path / "progress.db"
    with Store.open(path) as store:
        QuizLog(store.database).salt()
    with closing(sqlite3.connect(path)) as file, file:
        row = ("s", "f", "t", "numeric", 1, "quiz", "1", 1.0, 0.0, "", "[]", 1, "2026-01-01T00:00:00.000+00:00", 1.0)
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000)"
        file.execute(f"{numbers} INSERT INTO quiz_answers SELECT NULL{', ?' * 14} FROM n", row)
    with Store.open(path) as store, pytest.raises(StoreError, match="more than 100000 records"):
        QuizLog(store.database).answers()


@pytest.mark.parametrize("credit, guess", [(1.0, 1.0), (1.0, 2**63 - 1), (1.0, -0.1), (1.1, 0.0), (-1e300, 0.0)])
def test_an_answer_with_a_mark_that_is_no_share_is_damage(tmp_path, credit, guess):
    """Scores divide by what guessing leaves."""
    path = tmp_path / "progress.db"
    with Store.open(path) as store:
        QuizLog(store.database).salt()
    row = ("s", "f", "t", "numeric", 1, "quiz", "1", credit, guess, "", "[]", 1, "2026-01-01T00:00:00.000+00:00", 1.0)
    sql(path, f"INSERT INTO quiz_answers VALUES (NULL{', ?' * 14})", *row)
    with Store.open(path) as store, pytest.raises(StoreError, match="damaged"):
        QuizLog(store.database).answers()


@pytest.mark.parametrize("there", [True, False])
def test_a_link_in_the_place_of_a_store_is_refused(tmp_path, there):
    """Our tables are not made in another database, nor a file where nobody asked for one."""
    other, path = tmp_path / "photos.db", tmp_path / "progress.db"
    if there:
        sql(other, "CREATE TABLE photos (name)")
    before = other.read_bytes() if there else None
    path.symlink_to(other)

    with pytest.raises(StoreError, match="is a link"):
        Store.open(path).record_hint("softmax", "softmax", 1, datetime.now(UTC))

    assert (other.read_bytes() if there else None) == before and other.exists() == there


@pytest.mark.parametrize("folder", ["feedback", "gradescope", "gradescope/{}"])
def test_no_link_leads_out_of_the_results(stolen, tmp_path, folder):
    """A folder of the results that is a link is refused by name; what it leads to is neither written nor removed."""
    out = stolen.parent
    with closing(sqlite3.connect(stolen)) as file:
        folder = folder.format(file.execute("SELECT feedback FROM results").fetchone()[0])
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "results.json").write_text("mine")
    (out / folder).parent.mkdir(exist_ok=True)
    (out / folder).symlink_to(mine)

    assert f"{Path(folder).name} is a link" in call(grader, "report", out)

    assert [path.name for path in mine.iterdir()] == ["results.json"] and (mine / "results.json").read_text() == "mine"


@pytest.mark.parametrize("folder", ["previous-1", "shards"])
def test_nothing_is_put_aside_or_divided_through_a_link(stolen, tmp_path, folder):
    """Earlier results are not moved, nor parts of a class made, where a link leads."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (stolen.parent / folder).symlink_to(mine)

    with pytest.raises(UsageError, match=f"{folder} is a link"):
        if folder == "shards":
            Results(stolen.parent / folder / "1-of-2.sqlite", {}, None, go_on=True)
        else:
            move_aside(stolen)

    assert not list(mine.iterdir()) and stolen.exists()


def test_no_part_is_read_through_a_link(stolen, tmp_path):
    """Somebody's results cannot join the parts of another class, to which a link in their place leads."""
    (stolen.parent / "shards").symlink_to(tmp_path)

    assert "shards is a link" in call(grader, "merge", stolen.parent, "--out", tmp_path / "joined")


def test_a_store_that_is_a_link_to_itself_is_told(stolen, tmp_path):
    """Where parts of a class are joined, that is a part without results."""
    stolen.unlink()
    stolen.symlink_to(stolen.name)

    assert "there are no results" in call(grader, "merge", stolen.parent, "--out", tmp_path / "joined")


@pytest.mark.parametrize(
    "words", ["run loop.csv --out new", "run . --out loop.csv", "export {} --canvas loop.csv --out new.csv"]
)
def test_a_link_to_itself_in_the_place_of_a_path_is_told(results, tmp_path, monkeypatch, words):
    """Whoever names one to a command reads what is the matter with it, and what to do."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann/softmax.py").write_text("x = 1\n")
    (tmp_path / "loop.csv").symlink_to("loop.csv")

    assert re.search("cannot be (listed|read|written)", call(grader, *words.format(results).split()))


def test_no_link_leads_a_file_of_the_results_elsewhere(stolen, tmp_path):
    """What a file is written to before it takes its name is always a new one."""
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (stolen.parent / ".report.html.tmp").symlink_to(mine)
    call(grader, "report", stolen.parent)
    assert mine.read_text() == "mine" and (stolen.parent / "report.html").read_text().startswith("<!doctype")


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_the_lock_of_the_results_is_no_pipe_and_no_link(stolen, tmp_path, kind):
    """A command neither waits for what stands in the lock's place, nor makes a file where it leads."""
    lock = stolen.with_name(f".{stolen.name}.lock")
    os.mkfifo(lock) if kind == "pipe" else lock.symlink_to(tmp_path / "elsewhere")
    assert "cannot be written here" in call(grader, "report", stolen.parent)
    assert not (tmp_path / "elsewhere").exists()


# ---- anything at all -------------------------------------------------------------------------------------------------


def mutate_value(random: Random, value: object) -> object:
    """Change one thing somewhere in plain data."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = random.choice(list(value))
        if random.random() < 0.1:
            return {other: each for other, each in value.items() if other != key}
        return {**value, key: mutate_value(random, value[key])}
    if isinstance(value, list) and value and random.random() < 0.8:
        place = random.randrange(len(value))
        return [*value[:place], mutate_value(random, value[place]), *value[place + 1 :]]
    return random.choice(VALUES)


def mutate_text(random: Random, text: object) -> object:
    """Change a text of a row: somewhere in its JSON, its bytes, or all of it."""
    kind = random.random()
    if not isinstance(text, str) or kind < 0.15:
        return random.choice(TEXTS)
    if kind < 0.25:
        return random.choice(JSONS)
    try:
        return json.dumps(mutate_value(random, json.loads(text)))
    except ValueError:
        place = random.randrange(len(text) + 1)
        return text[:place] + random.choice(["", "\ud7ff", "\x00", "\x1b", "../", "=", "-"]) + text[place + 1 :]


def mutate_rows(random: Random, path: Path) -> None:
    """Change one column of one table, as far as its own rules allow."""
    with closing(sqlite3.connect(path)) as file, file:
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = [name for name in tables if file.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0]]
        table = random.choice(tables)
        column = random.choice([row[1] for row in file.execute(f"PRAGMA table_info({table})")])
        rows = file.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
        for rowid, value in random.sample(rows, 1 if random.random() < 0.7 else len(rows)):
            try:
                file.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (mutate_text(random, value), rowid))
            except (sqlite3.Error, OverflowError):
                continue


def mutate_bytes(random: Random, path: Path) -> None:
    """Flip, cut or repeat some bytes."""
    content = bytearray(path.read_bytes())
    for _ in range(random.choice((1, 1, 4, 30))):
        content[random.randrange(len(content))] = random.randrange(256)
    if random.random() < 0.2:
        del content[random.randrange(len(content)) :]
    path.write_bytes(content)


def mutate(random: Random, path: Path) -> None:
    for _ in range(random.choice((1, 1, 2))):
        mutate_rows(random, path)
    if random.random() < 0.2:
        mutate_bytes(random, path)


@repeat(6, soak=60)
def test_whatever_a_class_store_holds_is_an_answer_or_an_error_of_ours(stolen, times):
    """Mutated rows and bytes: every command that reads results ends, and says the next step where it cannot go on."""
    original = stolen.read_bytes()
    for seed in range(times):
        stolen.write_bytes(original)
        mutate(Random(seed), stolen)
        try:
            reads_of(stolen)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
        for folder in ("merged", "out"):
            for left in sorted((stolen.parent.parent / folder).glob("results.sqlite*")):
                left.unlink()
        assert {path.name for path in stolen.parent.parent.iterdir()} <= {"out", "merged", "canvas.csv", "up.csv"}


@repeat(5, soak=50)
def test_whatever_a_progress_file_holds_is_an_answer_or_an_error_of_ours(tmp_path, monkeypatch, times):
    """Mutated rows and bytes: every command that reads a learner's progress ends, without a fault of ours."""
    here = Workspace(tmp_path)
    here.events("quiz", "topic0", stdin="? | sure\n?\n")
    here.events("quiz", "--exam", stdin="?\n?\n")
    with Store.open(here.progress) as store:
        QuizLog(store.database).set_fact("export-id", "x")
    monkeypatch.chdir(here.folder)
    monkeypatch.setenv("SELFATTEND_COURSE", str(here.course))
    original = here.progress.read_bytes()
    for seed in range(times):
        for path in here.progress.parent.glob("progress.db*"):
            path.unlink()
        here.progress.write_bytes(original)
        mutate(Random(seed), here.progress)
        try:
            for words in (
                "list",
                "progress",
                "report",
                "report --explain",
                "quiz log",
                "quiz list",
                "quiz",
                "quiz review --json",
            ):
                call(learn, *words.split())
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


@repeat(100, soak=1500)
def test_whatever_a_log_holds_is_an_answer_or_left_out(tmp_path, times):
    """Mutated lines of quiz logs are answers, left out, or a usage error."""
    line = {
        "format": "selfattend-quiz-log", "schema": 1, "learner": "l1", "n": 1, "family": "heads.q1", "topic": "heads",
        "kind": "numeric", "variant": 1, "mode": "quiz", "first": True, "credit": 1.0, "guess": 0.0,
        "certainty": "sure", "tags": ["a"], "seconds": 3.0, "drawn": {"d": 4}, "offered": ["b"],
    }  # fmt: skip
    path = tmp_path / "log.jsonl"
    for seed in range(times):
        random = Random(seed)
        lines = [str(mutate_text(random, json.dumps({**line, "n": n}))) for n in (1, 2, 3)]
        content = bytearray("\n".join(lines).encode("utf-8", "surrogatepass"))
        if random.random() < 0.3:
            content[random.randrange(len(content))] = random.randrange(256)
        path.write_bytes(content)
        try:
            found = read_logs([path])
        except UsageError as error:
            assert error.next_step and str(path) in error.where
        else:
            assert len({answer.learner for answer in found.answers}) == 1


def test_honest_results_are_read_as_they_were_written(results):
    """What the checks of a store let through is everything that a run writes."""
    head, records = read_results(results)
    assert len(list(records)) == 3 and head["similar"]
