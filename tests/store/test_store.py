"""grader.store: the learner's progress survives renames, crashes, damage and two processes at once."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.errors import StoreError
from grader.model import CheckResult, LessonProgress, LessonResult, Named
from grader.store import Store, migrations
from grader.store.migrations import MIGRATIONS

ROOT = Path(__file__).resolve().parents[2]
NOON = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)
SCALE = Named("at-no-scale", "attention", "your scores are not divided by √d_k", "divide them")
MASK = Named("at-mask-polarity", "attention", "your mask is the wrong way round", "turn it round")


def result(lesson="attention", score: float | None = 5.5, **changes) -> LessonResult:
    """A verdict with what matters here."""
    facts = {"state": "graded", "passed": score == 10.0, "device": "cpu", "seed": 1, "duration_s": 0.5}
    return LessonResult(lesson=lesson, score=score, **{**facts, **changes})


def later(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def sql(path: Path, statement: str) -> list[tuple]:
    """Run one statement on the file itself."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement).fetchall()


@pytest.fixture
def path(tmp_path):
    return tmp_path / ".selfattend" / "progress.db"


@pytest.fixture
def store(path):
    with Store.open(path) as opened:
        yield opened


# ---- attempts -------------------------------------------------------------------------------------------------------


def test_reading_makes_no_file(store, path):
    """A store that nothing was written to is empty, and reading it leaves no trace."""
    assert (store.attempts("attention"), store.summary()) == ([], {})
    assert (store.next_hint("attention", "f"), store.recent_mistakes(5)) == (1, [])
    assert not path.parent.exists()


def test_an_attempt_comes_back_as_it_was(store, path):
    """What is recorded can be read again, by another store as well, with its time in UTC."""
    verdict = result(
        mistakes=(SCALE,), checks=(CheckResult("a", "f", "Says √.", "values", "failed", 3, 0, "m", "out"),)
    )
    store.record_attempt(verdict, "ab12", datetime(2025, 3, 1, 14, 0, tzinfo=timezone(timedelta(hours=2))))

    with Store.open(path) as again:
        (attempt,) = again.attempts("attention")
    assert attempt.when == NOON
    assert attempt.when.utcoffset() == timedelta(0)
    assert (attempt.score, attempt.passed, attempt.state, attempt.source_sha256) == (5.5, False, "graded", "ab12")
    assert attempt.result["mistakes"][0]["id"] == "at-no-scale"
    assert attempt.result["checks"][0]["says"] == "Says √."
    assert attempt.result["checks"][0]["output"] == "out"


def test_the_best_score_is_the_highest(store):
    """Attempts without a score do not count, and all attempts are kept in their order."""
    for minute, score in enumerate([None, 3.0, 8.0, 8.0, 2.0]):
        store.record_attempt(result(score=score), "", later(minute))

    assert store.summary()["attention"].best_score == 8.0
    assert [attempt.score for attempt in store.attempts("attention")] == [None, 3.0, 8.0, 8.0, 2.0]


def test_much_output_is_not_kept(store):
    """Of all that a learner's code printed, ten thousand characters are kept, and the cut is marked."""
    checks = tuple(CheckResult(str(n), "f", "", "values", "failed", 1, 0, output="y" * 6_000) for n in range(3))
    store.record_attempt(result(output="x" * 5_000, checks=checks), "", NOON)

    kept = store.attempts("attention")[0].result
    outputs = [kept["output"], *(check["output"] for check in kept["checks"])]

    assert outputs[0] == "x" * 5_000
    assert outputs[1] == "y" * 5_000 + "\n... (1000 more characters were not kept)"
    assert outputs[2] == outputs[3] == "\n... (6000 more characters were not kept)"


@settings(deadline=None, max_examples=30)
@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_any_text_of_a_learner_can_be_kept(text):
    """Output of any characters, NUL among them, comes back as it was; the wire lets no half characters in."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "p.db") as store:
        store.record_attempt(result(output=text), "", NOON)

        assert store.attempts("attention")[0].result["output"] == text


def test_times_keep_their_order_as_text(store):
    """The first solved time is the earliest, whatever fractions of a second are in it."""
    for seconds in (1.5, 1.0, 1.25):
        store.record_attempt(result(score=10.0), "", NOON + timedelta(seconds=seconds))

    assert store.summary()["attention"].solved_when == NOON + timedelta(seconds=1)


# ---- summary --------------------------------------------------------------------------------------------------------


def test_the_summary_tells_all_of_a_lesson(store):
    """Best, last, first solved, hints, solution and the last named mistakes come together.

    Tries and hints are counted until it is solved: who looks at it again has not needed more.
    """
    store.record_attempt(result(score=4.0, mistakes=(SCALE,)), "", later(0))
    store.record_attempt(result(score=10.0), "", later(1))
    store.record_attempt(result(score=10.0), "", later(2))
    store.record_attempt(result(score=7.5, mistakes=(MASK, SCALE)), "", later(3))
    store.record_hint("attention", "f", 1, NOON)
    store.record_hint("attention", "f", 2, later(2))
    store.record_solution_shown("attention", False, NOON)

    progress = store.summary()["attention"]

    assert progress == LessonProgress(
        lesson="attention",
        attempts=2,
        best_score=10.0,
        last_score=7.5,
        last_when=later(3),
        solved_when=later(1),
        hints_used=1,
        hints_taken=2,
        solution_seen=True,
        gave_up=False,
        last_mistakes=(MASK, SCALE),
    )
    assert progress.solved


def test_a_lesson_without_attempts_may_have_hints_or_a_solution(store):
    """Hints and a shown solution count before the first attempt."""
    store.record_hint("softmax", "softmax", 1, NOON)
    store.record_solution_shown("block", True, NOON)

    assert store.summary() == {
        "softmax": LessonProgress("softmax", hints_used=1, hints_taken=1),
        "block": LessonProgress("block", solution_seen=True, gave_up=True),
    }
    assert not store.summary()["block"].solved


def test_a_renamed_lesson_keeps_its_progress(path):
    """What was stored under a former name counts for the lesson of today, in every answer."""
    with Store.open(path) as before:
        before.record_attempt(result("masks", 10.0), "", later(0))
        before.record_hint("masks", "causal_mask", 1, NOON)
    with Store.open(path, aliases={"masks": "causal_mask", "other": "block"}) as store:
        store.record_attempt(result("causal_mask", 6.0, mistakes=(MASK,)), "", later(1))
        store.record_hint("causal_mask", "causal_mask", 1, NOON)
        store.record_hint("causal_mask", "causal_mask", store.next_hint("causal_mask", "causal_mask"), NOON)

        progress = store.summary()

        assert set(progress) == {"causal_mask"}
        assert len(store.attempts("causal_mask")) == 2 and progress["causal_mask"].attempts == 1
        assert progress["causal_mask"].hints_used == 2
        assert (progress["causal_mask"].best_score, progress["causal_mask"].last_score) == (10.0, 6.0)
    with Store.open(path) as plain:
        assert set(plain.summary()) == {"masks", "causal_mask"}


SCORES = st.lists(st.tuples(st.sampled_from(["a", "b", "old"]), st.sampled_from([None, 1.0, 5.5, 10.0])), max_size=12)


@settings(deadline=None, max_examples=40)
@given(SCORES)
def test_the_summary_agrees_with_the_attempts(attempts):
    """For any history the one query says what going through the attempts says."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "p.db", aliases={"old": "a"}) as store:
        for minute, (lesson, score) in enumerate(attempts):
            store.record_attempt(result(lesson, score), "", later(minute))

        for lesson, progress in store.summary().items():
            history = store.attempts(lesson)
            scores = [attempt.score for attempt in history if attempt.score is not None]
            solved = [attempt.when for attempt in history if attempt.passed]
            passed = [attempt.passed for attempt in history]
            assert progress.attempts == (passed.index(True) + 1 if any(passed) else len(history))
            assert (progress.last_score, progress.last_when) == (history[-1].score, history[-1].when)
            assert progress.best_score == max(scores, default=None)
            assert progress.solved_when == min(solved, default=None)


def test_recent_mistakes_come_once_and_the_latest_first(store):
    """A mistake made again is told once, with its last time."""
    store.record_attempt(result(mistakes=(SCALE,)), "", later(0))
    store.record_attempt(result(mistakes=(MASK,)), "", later(1))
    store.record_attempt(result("block", mistakes=(SCALE,)), "", later(2))
    store.record_attempt(result(mistakes=(SCALE,)), "", later(3))
    store.record_attempt(result(score=10.0), "", later(4))

    found = store.recent_mistakes(10)

    assert [(lesson, name, when) for lesson, name, _, when in found] == [
        ("attention", "at-no-scale", later(3)),
        ("block", "at-no-scale", later(2)),
        ("attention", "at-mask-polarity", later(1)),
    ]
    assert found[0][2] == SCALE.says
    assert store.recent_mistakes(1) == found[:1]


# ---- hints ----------------------------------------------------------------------------------------------------------


def test_each_function_has_its_own_ladder(store):
    """Rungs go up one by one for each function; a hint shown again is not counted again."""
    for _ in range(2):
        store.record_hint("multi_head", "split_heads", store.next_hint("multi_head", "split_heads"), NOON)
    store.record_hint("multi_head", "split_heads", 1, later(5))
    store.record_hint("multi_head", "merge_heads", 1, later(6))

    assert store.next_hint("multi_head", "split_heads") == 3
    assert store.next_hint("multi_head", "merge_heads") == 2
    assert store.next_hint("softmax", "softmax") == 1
    assert store.summary()["multi_head"].hints_used == 3


# ---- versions -------------------------------------------------------------------------------------------------------


def test_the_progress_of_a_newer_version_is_left_alone(store, path):
    """A newer schema is refused with the command to upgrade; the file stays as it is."""
    store.record_attempt(result(), "", NOON)
    sql(path, f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer version") as caught:
        Store.open(path)

    assert caught.value.next_step == "pip install --upgrade selfattend"
    assert path.read_bytes() == before


def test_an_older_file_is_brought_up_to_date(store, path, monkeypatch):
    """Only the steps that a file has not been through are run, and its rows stay."""
    store.record_attempt(result(), "", NOON)
    store.close()
    monkeypatch.setattr(
        migrations, "MIGRATIONS", (*MIGRATIONS, ("CREATE TABLE more (x)", "INSERT INTO more VALUES (1)"))
    )

    for _ in range(2):
        with Store.open(path) as newer:
            assert len(newer.attempts("attention")) == 1

    assert sql(path, "SELECT * FROM more") == [(1,)]
    assert sql(path, "PRAGMA user_version") == [(len(MIGRATIONS) + 1,)]


def test_a_step_that_fails_changes_nothing(store, path, monkeypatch):
    """A migration is whole or not at all."""
    store.record_attempt(result(), "", NOON)
    store.close()
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, ("CREATE TABLE more (x)", "CREATE TABLE attempts (x)")))
    with pytest.raises(StoreError, match="already exists"):
        Store.open(path)
    monkeypatch.undo()

    with Store.open(path) as same:
        assert len(same.attempts("attention")) == 1
    assert sql(path, "SELECT 1 FROM sqlite_master WHERE name = 'more'") == []


# ---- damage ---------------------------------------------------------------------------------------------------------


def test_a_file_that_is_no_database_is_set_aside(path):
    """Junk is kept under another name, a notice says so, and a fresh store works."""
    path.parent.mkdir()
    for number in (1, 2):
        path.write_bytes(b"junk" * 1000)
        with Store.open(path) as store:
            assert f"progress.db.damaged-{number}" in store.notices[0]
            store.record_attempt(result(), "", NOON)
            assert len(store.attempts("attention")) == 1

        aside = path.with_name(f"progress.db.damaged-{number}")
        assert aside.read_bytes() == b"junk" * 1000


def fill(path: Path) -> int:
    """Make a store of many pages; its size in bytes."""
    with Store.open(path) as store:
        for minute in range(50):
            store.record_attempt(result(output="x" * 3000), "", later(minute))
    return path.stat().st_size


def spoil(path: Path) -> None:
    """Destroy every page but the first."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))


def test_damage_found_while_writing_does_not_lose_the_attempt(path):
    """A file whose pages are destroyed is set aside when that shows, and what was to be written is written."""
    size = fill(path)
    spoil(path)
    with Store.open(path) as store:
        assert not store.notices

        store.record_attempt(result("softmax"), "", NOON)

        assert set(store.summary()) == {"softmax"}
        assert "damaged-1" in store.notices[0]
    assert path.with_name("progress.db.damaged-1").stat().st_size == size


def test_a_cut_file_is_set_aside(path):
    """A file that lost its end is found when it is read."""
    fill(path)
    os.truncate(path, 8192)
    with Store.open(path) as store:
        assert store.summary() == {}
        assert store.notices


def test_another_process_may_have_mended_the_file(path):
    """Of two stores that meet the same damage, the second does not throw away what the first began."""
    fill(path)
    with Store.open(path) as first, Store.open(path) as second:
        spoil(path)
        first.record_attempt(result("softmax"), "", NOON)

        assert set(second.summary()) == {"softmax"}
        assert (len(first.notices), len(second.notices)) == (1, 0)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.data())
def test_no_damage_at_all_gives_more_than_a_plain_error(data):
    """Whatever bytes of the file are spoilt, the store answers, begins anew or raises StoreError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "progress.db"
        with Store.open(path) as store:
            store.record_attempt(result(mistakes=(SCALE,)), "ab", NOON)
            store.record_hint("attention", "f", 1, NOON)
        content = bytearray(path.read_bytes())
        used = [place for place, byte in enumerate(content) if byte]
        for place in data.draw(st.lists(st.sampled_from(used), min_size=1, max_size=20)):
            content[place] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        try:
            with Store.open(path) as store:
                store.summary()
                store.attempts("attention")
                store.recent_mistakes(5)
                store.record_attempt(result(), "", NOON)
        except StoreError as error:
            assert error.next_step


def test_an_empty_file_is_a_fresh_store(path):
    """A file of no bytes is not damage."""
    path.parent.mkdir()
    path.touch()
    with Store.open(path) as store:
        store.record_attempt(result(), "", NOON)

        assert "was empty" in store.notices[0]
        assert len(store.summary()) == 1


# ---- processes ------------------------------------------------------------------------------------------------------

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from grader.model import LessonResult
from grader.store import Store
path, lesson, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with Store.open(path, busy_seconds=20) as store:
    for number in range(count):
        verdict = LessonResult(lesson, "graded", 5.0, False, "cpu", number, 0.1, output="x" * 9000)
        store.record_attempt(verdict, str(number), datetime.now(UTC))
        print(number, flush=True)
"""


def writer(path, lesson: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), lesson, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_two_processes_write_at_once(path):
    """Both begin with no file, and no attempt of either is lost."""
    processes = [writer(path, lesson, 40) for lesson in ("softmax", "attention")]
    try:
        for process in processes:
            _, complaints = process.communicate(timeout=60)
            assert (process.returncode, complaints) == (0, "")
    finally:
        for process in processes:
            process.kill()
            process.wait()

    with Store.open(path) as store:
        for lesson in ("softmax", "attention"):
            assert [attempt.source_sha256 for attempt in store.attempts(lesson)] == [str(n) for n in range(40)]


@pytest.mark.parametrize("seen", [1, 7, 23])
def test_a_kill_in_the_middle_loses_nothing_that_was_recorded(path, seen):
    """After kill -9 the store opens without a word and has every attempt that had been recorded."""
    process = writer(path, "softmax", 100_000)
    try:
        recorded = [process.stdout.readline() for _ in range(seen)][-1]
        process.send_signal(signal.SIGKILL)
        recorded = (process.stdout.read().split() or [recorded])[-1]
    finally:
        process.kill()
        process.communicate(timeout=20)

    with Store.open(path) as store:
        attempts = store.attempts("softmax")
        assert store.notices == ()
        assert len(attempts) - (int(recorded) + 1) in (0, 1)
        store.record_attempt(result(), "", NOON)


def test_a_locked_file_is_said_after_the_wait(path):
    """A lock that is held for too long is a plain error, and nothing is half-done."""
    waiting = Store.open(path, busy_seconds=0.05)
    waiting.record_attempt(result(), "", NOON)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        for act in (
            waiting.summary,
            lambda: waiting.record_attempt(result(), "", NOON),
            lambda: Store.open(path, busy_seconds=0.05),
        ):
            with pytest.raises(StoreError, match=r"another program has been using the file for 0\.05 seconds"):
                act()
    finally:
        holder.execute("ROLLBACK")
        holder.close()

    assert len(waiting.attempts("attention")) == 1
    waiting.close()


# ---- places that cannot be written ----------------------------------------------------------------------------------

AS_ANOTHER = """
import json, os, sqlite3, sys
import grader.store.sqlite
from datetime import UTC, datetime
from pathlib import Path
from grader.errors import StoreError
from grader.model import LessonResult
from grader.store import Store
os.setgroups([])
os.setuid(65534)
try:
    with Store.open(Path(sys.argv[1])) as store:
        print(sorted(store.summary()))
        store.record_attempt(LessonResult("softmax", "graded", 5.0, False, "cpu", 1, 0.1), "", datetime.now(UTC))
except StoreError as error:
    print(error.what)
    assert error.next_step and error.where
"""


def as_another(path: Path) -> list[str]:
    """What reading and then writing says to a user who owns nothing here."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user: run pytest as root")
    done = subprocess.run(
        [sys.executable, "-c", AS_ANOTHER, str(path)],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.fixture
def open_folder():
    """A folder that other users may look into; pytest's own are closed to them."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_folder_that_may_not_be_written_can_still_be_read(open_folder):
    """Progress in a read-only folder is shown; recording says that nothing was saved."""
    with Store.open(open_folder / "progress.db") as store:
        store.record_attempt(result(), "", NOON)
    (open_folder / "progress.db").chmod(0o644)  # by its owner, who lets others read it

    assert as_another(open_folder / "progress.db") == [
        "['attention']",
        "your progress could not be saved: the file or its folder may not be opened or written",
    ]


def test_a_store_cannot_begin_in_a_read_only_folder(open_folder):
    """Without a file, reading finds nothing and recording says that nothing was saved, in any depth of folders."""
    assert as_another(open_folder / "progress.db") == [
        "[]",
        "your progress could not be saved: the file or its folder may not be opened or written",
    ]
    assert as_another(open_folder / "sub" / "progress.db") == [
        "[]",
        "your progress could not be saved: Permission denied",
    ]


def test_a_closed_folder_is_said(open_folder):
    """A folder that may not even be searched gives a plain error."""
    (open_folder / "sub").mkdir(mode=0o700)

    (said,) = as_another(open_folder / "sub" / "progress.db")

    assert said == "your progress cannot be read: the file or its folder may not be opened or written"


def test_damage_in_a_read_only_folder_is_said(open_folder):
    """A damaged file that cannot be set aside stays, and the error is plain."""
    (open_folder / "progress.db").write_bytes(b"junk" * 1000)

    (said,) = as_another(open_folder / "progress.db")

    assert said.startswith("your progress cannot be read: ")
    assert [file.name for file in open_folder.iterdir()] == ["progress.db"]


def test_a_folder_in_the_place_of_the_file_is_said(path):
    """A folder called progress.db is a plain error."""
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match="may not be opened"):
        Store.open(path)


def test_a_full_disk_is_said_and_keeps_what_there_was(tmp_path):
    """On a full disk recording says that nothing was saved, and what was saved before can be read."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, timeout=10).returncode:
        pytest.skip("needs the right to mount a small disk: run pytest as root, outside of a container")
    try:
        with Store.open(disk / "progress.db") as store:
            store.record_attempt(result("softmax"), "", NOON)
            with pytest.raises(StoreError, match="your progress could not be saved: the disk") as caught:
                for minute in range(100):
                    store.record_attempt(result(output="x" * 9000), "", later(minute))
            saved = len(store.attempts("attention"))
            assert caught.value.next_step
        with Store.open(disk / "progress.db") as store:
            assert store.notices == ()
            assert len(store.attempts("attention")) == saved > 0
            assert store.summary()["softmax"].best_score == 5.5
    finally:
        subprocess.run(["umount", str(disk)], check=True, timeout=10)


# ---- the start-up path ----------------------------------------------------------------------------------------------


def test_a_fresh_folder_does_not_load_sqlite(path):
    """Asking for the summary where there is no file imports neither sqlite3 nor json."""
    program = (
        "import sys, pathlib; from grader.store import Store; print(Store.open(pathlib.Path(sys.argv[1])).summary(),"
        "{'sqlite3', 'json', 'torch', 'numpy', 'click', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    assert (done.stdout, done.stderr) == ("{} set()\n", "")
