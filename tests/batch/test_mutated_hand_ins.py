"""grader.batch: `grader run` over mutated hand-ins ends with a result for each, whatever was handed in."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.command_server import run_command
from support.hand_ins import ANSWERS, SUMS, TINY, write
from support.learn_command import environment
from support.mutated_hand_ins import make_class_zip, make_clones, make_hand_ins
from support.repeat import repeat

from grader.batch.results import read_results
from grader.record import Record

SECONDS_A_HAND_IN = 2.0
STARTING_SECONDS = 60.0


def run(hand_ins: Path, count: int, *options: str) -> subprocess.CompletedProcess[str]:
    """`grader run`, to its end."""
    place = hand_ins.parent
    (place / "tmp").mkdir(exist_ok=True)
    return run_command(
        "grader", "run", hand_ins, "--out", place / "out", "--course", TINY, "--seed", 5, "--jobs", 2, *options,
        cwd=place, env=environment(TMPDIR=str(place / "tmp")), errors="replace",
        timeout=STARTING_SECONDS + SECONDS_A_HAND_IN * count,
    )  # fmt: skip


def results_of(hand_ins: Path, count: int) -> dict[str, Record]:
    """Grade hand-ins, and go on with `--resume`, which has nothing left to do; every record by its id."""
    done = run(hand_ins, count)
    assert done.returncode == 0, done.stderr
    records = {record.id: record for record in read_results(hand_ins.parent / "out")[1]}
    again = run(hand_ins, count, "--resume")
    assert again.returncode == 0, again.stderr
    assert "Grading 0 submissions" in again.stderr, again.stderr
    for record in records.values():
        assert not record.grader_failed, (record.id, record.problem)
        assert record.problem or record.score is not None, record.id
    assert not list((hand_ins.parent / "tmp").iterdir())
    return records


@repeat(24, 500)
def test_every_mutated_hand_in_has_a_result(tmp_path, times):
    """Archives, notebooks, files and folders: each gets its scores or its problem, and none ends the run."""
    ids = make_hand_ins(tmp_path / "in", times, 0)
    records = results_of(tmp_path / "in", times)

    assert sorted(records) == ids
    assert any(record.score is not None for record in records.values())
    assert any(record.problem for record in records.values())


@repeat(4, 100)
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git: install it")
def test_every_damaged_clone_has_a_result(tmp_path, times):
    """A clone whose objects, refs or configuration are damaged has a problem, or what can still be read of it."""
    repository = write(tmp_path / "first", {"moving_average.py": SUMS, "basics/argmax_2d.py": ANSWERS["argmax_2d"]})
    settings = ("-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "work")):
        subprocess.run(["git", *settings, *command], cwd=repository, check=True, timeout=30)
    records = results_of(make_clones(tmp_path / "in", repository, times), times)

    assert len(records) == times


@repeat(1, 4)
def test_a_class_with_odd_members_has_its_results(tmp_path, times):
    """In the .zip of a whole class, odd members cost themselves: everybody's own file is graded."""
    for seed in range(times):
        make_class_zip(tmp_path / f"{seed}" / "all.zip", 12, seed)
        records = results_of(tmp_path / f"{seed}" / "all.zip", 12)

        assert all(records[f"s{number:05d}"].lessons["moving_average"].score == 10.0 for number in range(12))


@repeat(1, 12)
def test_a_damaged_class_has_its_results_or_a_sentence(tmp_path, times):
    """An archive of a class with damaged bytes is graded as far as it can be read, or refused in words."""
    for seed in range(times):
        make_class_zip(tmp_path / f"{seed}" / "all.zip", 3, seed, damaged=True)
        done = run(tmp_path / f"{seed}" / "all.zip", 3)

        assert done.returncode in (0, 2), done.stderr
        assert done.returncode == 0 or "Next:" in done.stderr
