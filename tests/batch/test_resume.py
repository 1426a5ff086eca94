"""grader.batch: a run that is killed loses nothing, grades nothing twice, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_server import run_command
from support.hand_ins import ANSWERS, SUMS, TINY, write
from support.learn_command import environment
from support.process_tree import all_end, descendants
from support.repeat import repeat

from grader.batch.processes.temp_folder import NEW_PREFIX, PREFIX, TempFolder, remove_stale_folders
from grader.batch.results import read_results

SECONDS = 60
SEED = 11

NONES = "def moving_average(x, window):\n    return None\n"
LOOPS = "def argmax_2d(x):\n    return x.argmax(), 0\n"


@pytest.fixture(scope="module")
def hand_ins(tmp_path_factory):
    """Twelve, of which a third is right."""
    files: dict[str, str | bytes] = {}
    for number in range(12):
        average, argmax = [(ANSWERS["moving_average"], ANSWERS["argmax_2d"]), (SUMS, LOOPS), (NONES, LOOPS)][number % 3]
        files |= {f"s{number}/moving_average.py": f"# {number}\n{average}", f"s{number}/argmax_2d.py": argmax}
    return write(tmp_path_factory.mktemp("class") / "in", files)


class Room:
    """Where runs are started: a results folder, and a folder for temporary files."""

    def __init__(self, hand_ins: Path, place: Path) -> None:
        self.hand_ins, self.out, self.temporary = hand_ins, place / "out", place / "tmp"
        self.temporary.mkdir(parents=True)

    def start(self, *options: str) -> subprocess.Popen[str]:
        """`grader run`, begun."""
        command = [sys.executable, "-m", "grader.cli.grader.group", "run", str(self.hand_ins), "--out", str(self.out)]
        return subprocess.Popen(
            [*command, "--course", str(TINY), "--seed", "5", "--jobs", "2", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "TMPDIR": str(self.temporary)},
        )  # fmt: skip

    def run(self, *options: str) -> str:
        """`grader run` to its end; what it said on standard error."""
        words = ["run", self.hand_ins, "--out", self.out, "--course", TINY, "--seed", "5", "--jobs", "2", *options]
        place = environment(TMPDIR=str(self.temporary))
        done = run_command("grader", *words, cwd=self.hand_ins, env=place, timeout=SECONDS)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def kept(self) -> dict[str, float]:
        """Every result that was ever kept: its number, and how long grading took."""
        store = self.out / "results.sqlite"
        if not store.exists():
            return {}
        connection = sqlite3.connect(store)
        try:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            rows = connection.execute("SELECT id, json_extract(record, '$.duration_s') FROM records").fetchall()
        except sqlite3.OperationalError:  # it was killed before there were tables
            return {}
        finally:
            connection.close()
        assert len(dict(rows)) == len(rows), "a hand-in was graded twice"
        return dict(rows)

    def results(self) -> str:
        """The records without the time that they took."""
        records = [record.to_json() for record in read_results(self.out)[1]]
        for record in records:
            record["duration_s"] = 0
            for lesson in record["lessons"].values():
                lesson["duration_s"] = 0
        return json.dumps(records)


def kill_when(process: subprocess.Popen[str], is_time: Callable[[], bool]) -> bool:
    """Kill a run at its moment, with nothing that it could do about it; False if it ended before."""
    while process.poll() is None and not is_time():
        time.sleep(0.001)
    children = descendants(process.pid)
    ended = process.poll() is not None
    process.kill()
    process.communicate(timeout=SECONDS)
    assert all_end(children), "its processes live on"
    return not ended


def moments(room: Room, duration: float) -> list[tuple[str, Callable[[], bool]]]:
    """When to kill: at a random time; in the middle of a commit; between the files of a learner and their row."""
    begun = time.monotonic()
    feedback = len(list((room.out / "feedback").glob("*.json")))
    delay = random.uniform(0.02, duration)
    more = random.randint(1, 4)
    journal = room.out / "results.sqlite-journal"
    return [
        ("time", lambda: time.monotonic() - begun > delay),
        ("commit", lambda: journal.exists() and len(list((room.out / "feedback").glob("*.json"))) >= feedback + more),
        ("files", lambda: len(list((room.out / "feedback").glob("*.json"))) >= feedback + more),
    ]


@repeat(usual=2, soak=20)
def test_kills_lose_nothing_and_do_nothing_twice(hand_ins, tmp_path, times):
    """Killed at any moment and gone on with, a class has the results of an undisturbed run, each graded once."""
    random.seed(SEED)
    calm = Room(hand_ins, tmp_path / "calm")
    begun = time.monotonic()
    process = calm.start()  # like those that are killed
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, said
    duration = time.monotonic() - begun
    expected = calm.results()
    kills, rounds = 0, 0
    while kills < times:
        rounds += 1
        room = Room(hand_ins, tmp_path / f"round-{rounds}")
        before: dict[str, float] = {}
        while kills < times:
            process = room.start("--resume")
            _, is_time = random.choice(moments(room, duration))
            was_killed = kill_when(process, is_time)
            now = room.kept()
            assert now.items() >= before.items(), "a result was lost or graded again"
            before = now
            if not was_killed:
                break
            kills += 1
        room.run("--resume")
        assert room.kept().items() >= before.items() and len(room.kept()) == 12
        assert room.results() == expected
        assert json.loads((room.out / "results.json").read_text())["complete"]
        assert not list(room.temporary.iterdir()), "temporary files were left"
        assert not list(room.out.rglob("*.tmp"))
        assert "Grading 0 submissions" in room.run("--resume")


def test_a_grading_process_ends_with_its_owner(hand_ins, tmp_path):
    """Where the command dies while a submission hangs, its process ends at once, and so does the submission."""
    hangs = "import time\n\n\ndef moving_average(x, window):\n    time.sleep(1.5)\n    return x\n"
    slow = write(tmp_path / "in", {f"a{number}/moving_average.py": hangs for number in range(4)})
    room = Room(slow, tmp_path)
    process = room.start("--lessons", "moving_average")
    begun = time.monotonic()
    assert kill_when(process, lambda: len(descendants(process.pid)) >= 4 and time.monotonic() - begun > 1.5)
    assert not list(room.temporary.iterdir())


@pytest.mark.slow
def test_a_stop_from_the_cluster_keeps_what_is_done(hand_ins, tmp_path):
    """SIGTERM, which says that the machine is taken away, ends a run in order, as Ctrl-C does."""
    room = Room(hand_ins, tmp_path)
    process = room.start()
    while not room.kept():
        assert process.poll() is None
        time.sleep(0.005)
    children = descendants(process.pid)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=SECONDS)

    assert process.returncode == 130 and "--resume" in said
    assert all_end(children)
    assert json.loads((room.out / "results.json").read_text())["submissions"]


def test_folders_of_the_dead_are_taken_away_and_no_others(tmp_path, monkeypatch):
    """A folder that a killed process has left goes; one that is in use, or is somebody else's, stays."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"{PREFIX}dead/inside").mkdir(parents=True)
    (tmp_path / f"{NEW_PREFIX}begun").mkdir()
    (tmp_path / "selfattend-other").mkdir()
    mine = TempFolder()
    remove_stale_folders()

    left = {path.name for path in tmp_path.iterdir()}
    assert left == {mine.root.name, f"{NEW_PREFIX}begun", "selfattend-other"}
    mine.remove()
    mine.remove()
    assert not mine.root.exists()


def test_nobodys_files_are_written_in_the_place_of_anothers(tmp_path):
    """`Ann Lee` of one run keeps her files where `Ann_Lee` and `ANN LEE` come later, and all can be read."""
    right = ANSWERS["argmax_2d"]
    room = Room(write(tmp_path / "a", {"Ann Lee/argmax_2d.py": right}), tmp_path / "place")
    room.run("--lessons", "argmax_2d")
    later = write(tmp_path / "b", {"Ann_Lee/argmax_2d.py": LOOPS, "ANN LEE/argmax_2d.py": LOOPS})
    for room.hand_ins in (later, write(later, {"Ann Lee/argmax_2d.py": right})):
        room.run("--lessons", "argmax_2d", "--resume")

    records = list(read_results(room.out)[1])
    assert {one.id: one.score == 10.0 for one in records} == {"Ann Lee": True, "Ann_Lee": False, "ANN LEE": False}
    files = {one.id: one.feedback for one in records}
    assert files["Ann Lee"] == "Ann_Lee" and len({name.casefold() for name in files.values()}) == 3
    for one in records:
        told = json.loads((room.out / "feedback" / f"{one.feedback}.json").read_text())
        assert told["id"] == one.id
