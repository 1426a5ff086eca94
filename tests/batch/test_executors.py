"""grader.batch: executors, of this machine and of a cluster with real Dask processes."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command_server import run_command
from support.dask_cluster import Cluster
from support.hand_ins import ANSWERS, SUMS, TINY, learner_of, make_zip, write
from support.learn_command import environment
from support.process_tree import all_end, descendants

from grader.batch.cluster import dask_task
from grader.batch.executors import make_executor
from grader.batch.make_record import GradedHandIn
from grader.batch.results import read_results
from grader.batch.settings import make_settings
from grader.course import load
from grader.errors import UsageError
from grader.intake.hand_in import HandIn, read_hand_in
from grader.record import Record

SECONDS = 90
LIBRARY = "distributed"


# --- what is sent -----------------------------------------------------------------------------------------------------


@given(
    st.dictionaries(st.text(st.characters(), min_size=1), st.binary()), st.lists(st.text(st.characters(codec="utf-8"))),
    st.text(st.characters(codec="utf-8")),
)  # fmt: skip
def test_a_hand_in_arrives_as_it_was_sent(files, notes, problem):
    """Content, names of any bytes, notes and digest are the same on the other side of a line of JSON."""
    files = {os.fsdecode(name.encode("utf-8", "replace")): content for name, content in files.items()}
    hand_in = HandIn(files, notes, problem)
    there = HandIn.from_dict(json.loads(json.dumps(hand_in.to_dict())))

    assert (there.files, there.notes, there.problem, there.digest) == (files, notes, problem, hand_in.digest)


def test_a_result_arrives_as_it_was_sent():
    """The record, the fingerprints and the layers of protection."""
    for graded in (GradedHandIn(Record("ä", "ä"), {"softmax": [1]}, ("seccomp",)), GradedHandIn(Record("b", "b"))):
        assert dask_task.from_message(dask_task.to_message("x", graded)) == ("x", graded)


def test_a_course_is_sent_whole(tmp_path):
    """What a worker unpacks is the course: it loads, and verdicts depend on the same content."""
    import io
    import zipfile

    course = load(TINY)
    packed = dask_task.pack_course(course)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path)
    copy = load(tmp_path)
    headers = [
        make_settings(one, list(one.lessons.values()), 1, "cpu", "1").to_header() for one in (course, copy)
    ]  # fmt: skip

    assert headers[0] == headers[1]
    assert len(packed) < 1 << 20
    assert pickle.loads(pickle.dumps(dask_task.describe())) == dask_task.describe()


# --- what cannot be ---------------------------------------------------------------------------------------------------


def ask_for(where: str) -> None:
    course = load(TINY)
    make_executor(where, course, make_settings(course, list(course.lessons.values()), 1, "cpu", "1"), 1, 1)


@pytest.mark.parametrize("where", ["slurm://x", "dask://", "somewhere", ""])
def test_an_unknown_engine_is_refused(where):
    """The message names the two that exist."""
    with pytest.raises(UsageError, match="no engine") as caught:
        ask_for(where)
    assert "dask://HOST" in caught.value.next_step


def test_a_cluster_without_its_library_is_said(monkeypatch):
    """The cluster is optional; what to install is said."""
    monkeypatch.setitem(sys.modules, LIBRARY, None)
    with pytest.raises(UsageError, match="needs the package") as caught:
        ask_for("dask://127.0.0.1:9")
    assert "selfattend[cluster]" in caught.value.next_step


# --- a cluster --------------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster(tmp_path) -> Iterator[Cluster]:
    pytest.importorskip(LIBRARY, reason="needs distributed: pip install -e .[cluster]")
    made = Cluster(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def hand_ins(tmp_path_factory):
    """Some of everything: folders, files, archives, and what cannot be read."""
    folder = tmp_path_factory.mktemp("class") / "in"
    for number in range(14):
        average = (ANSWERS["moving_average"], SUMS)[number % 2]
        write(folder, {f"s{number}/moving_average.py": f"# {number}\n{average}",
                       f"s{number}/argmax_2d.py": ANSWERS["argmax_2d"]})  # fmt: skip
    write(folder, {"alone.py": ANSWERS["argmax_2d"], "broken.zip": "no archive"})
    make_zip(folder / "packed.zip", {f"{name}.py": text for name, text in ANSWERS.items()})
    return folder


def command(hand_ins: Path, out: Path, *options: str, patience: float = 15.0) -> list[str]:
    """`grader run`; `patience` is for schedulers that do not answer."""
    words = ["grader", "run", str(hand_ins), "--out", str(out), "--seed", "5", "--course", str(TINY), *options]
    start = f"import grader.batch.cluster.dask_executor as executor; executor.CONNECT_SECONDS = {patience}; "
    return [
        sys.executable,
        "-c",
        f"import sys; sys.argv[:] = {words!r}; {start}from grader.cli.grader.group import main; main()",
    ]


def results(out: Path) -> str:
    """The records without the time that they took, and what else a run comes to."""
    head, records = read_results(out)
    found = [record.to_json() for record in records]
    for record in found:
        record["duration_s"] = 0
        for lesson in record["lessons"].values():
            lesson["duration_s"] = 0
    return json.dumps([found, head["isolation"], head["similar"], head["complete"]])


def graded_here(hand_ins: Path, out: Path) -> str:
    done = grade_here(hand_ins, out)
    assert done.returncode == 0, done.stderr
    return results(out)


def grade_here(hand_ins: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `grader run` on this machine."""
    words = ["run", hand_ins, "--out", out, "--seed", "5", "--course", TINY, *options]
    return run_command("grader", *words, cwd=hand_ins, env=environment(), timeout=SECONDS)


def wait_for_results(process: subprocess.Popen[str], out: Path, count: int) -> None:
    """Wait until a run has so many, and no more than it can still lose a node over."""
    while (seen := len(list((out / "feedback").glob("*.json")))) < count:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    assert seen < 17


@pytest.mark.slow
def test_a_cluster_that_loses_its_nodes_gives_the_same_results(cluster, hand_ins, tmp_path):
    """Two workers grade as this machine does, even if one is killed, then the last, and another comes; they leave no
    process and no file."""
    cluster.add_workers(2)
    out = tmp_path / "out"
    process = subprocess.Popen(command(hand_ins, out, "--engine", cluster.url), stderr=subprocess.PIPE, text=True)
    try:
        wait_for_results(process, out, 4)
        busiest, last = sorted(cluster.workers, key=lambda one: -len(descendants(one.pid)))
        for count, node in ((4, busiest), (7, last)):
            wait_for_results(process, out, count)
            children = descendants(node.pid)
            node.kill()
            assert all_end(children), "what a dead node has started lives on"
        cluster.add_workers(1)
        _, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()

    assert process.returncode == 0, said
    assert "Traceback" not in said
    assert results(out) == graded_here(hand_ins, tmp_path / "here")
    assert all_end(descendants(cluster.workers[-1].pid)), "grading processes stay on a node after the run"
    assert not [path for path in cluster.temporary.iterdir() if path.name.startswith("selfattend")]


@pytest.mark.slow
def test_a_course_that_changes_on_a_node_ends_the_run(cluster, hand_ins, tmp_path):
    """No verdict is written that was made with other files than the instructor's, and the reason is said."""
    cluster.add_workers(1)
    out = tmp_path / "out"
    process = subprocess.Popen(command(hand_ins, out, "--engine", cluster.url), stderr=subprocess.PIPE, text=True)
    try:
        while not (found := list(cluster.temporary.glob("selfattend-*/solutions/basics/test_argmax_2d.py"))):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        while found[0].read_bytes() != (TINY / "solutions/basics/test_argmax_2d.py").read_bytes():
            time.sleep(0.01)  # until it is unpacked
        with found[0].open("a") as file:  # it may be loaded before it is hashed again: it stays a file of checks
            file.write("# changed\n")
        _, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()

    assert process.returncode == 3, said
    assert "the course's files were changed" in said and "Traceback" not in said


@pytest.mark.slow
def test_a_scheduler_that_goes_away_keeps_what_is_done(cluster, hand_ins, tmp_path):
    """The error says how to go on; --resume on this machine does the rest."""
    cluster.add_workers(1)
    cluster.wait_for_nodes()  # `patience` is also the longest that the run waits for one
    out = tmp_path / "out"
    words = command(hand_ins, out, "--engine", cluster.url, patience=5.0)
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        wait_for_results(process, out, 3)
        cluster.scheduler.kill()
        _, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()

    assert process.returncode == 3, said
    assert "has gone away" in said and "--resume" in said
    assert "Traceback" not in said and "distributed.client" not in said
    kept = len(list(read_results(out)[1]))
    assert kept >= 2
    done = grade_here(hand_ins, out, "--resume")
    assert f"{kept} submissions graded before" in done.stderr, done.stderr


@pytest.mark.slow
def test_a_cluster_that_cannot_be_used_is_said(cluster, hand_ins, tmp_path):
    """No scheduler, no workers, and workers with another program: each is wrong usage, with what to do."""

    def refused(url: str) -> str:
        words = command(hand_ins, tmp_path / "out", "--engine", url, patience=3.0)
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    assert "no scheduler answers" in refused("dask://127.0.0.1:9")
    assert "has no nodes" in refused(cluster.url)
    other = write(tmp_path / "other", {"grader/batch/cluster/dask_task.py": changed_node(), "grader/__init__.py": "",
                                       "grader/batch/__init__.py": "", "grader/errors.py": ""})  # fmt: skip
    cluster.add_workers(1, PYTHONPATH=str(other))
    assert "another version" in refused(cluster.url)


def changed_node() -> str:
    """A program that says it is another one."""
    return "def describe():\n    return {'code': 'other', 'host': 'h', 'python': '3'}\n"


def test_content_is_read_where_the_files_are(tmp_path):
    """A hand-in is sent as content: a worker need not see the folder of submissions."""
    write(tmp_path, {"ann/moving_average.py": SUMS})
    hand_in = HandIn.from_dict(read_hand_in(learner_of(tmp_path / "ann", "folder")).to_dict())
    assert hand_in.files == {"moving_average.py": SUMS.encode()}
