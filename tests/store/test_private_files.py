"""What says how somebody does is for its owner alone, on a machine that others use too."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from support.learn_command import TINY

from grader.cli.grader.group import grader
from grader.store import Store

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def open_to_others(folder):
    """The files and folders in one that others or the group may read, change or search."""
    paths = [path for path in folder.rglob("*") if stat.S_IMODE(path.stat().st_mode) & 0o077]
    return [str(path.relative_to(folder)) for path in paths]


@pytest.fixture(autouse=True)
def _an_open_umask():
    old = os.umask(0)
    yield
    os.umask(old)


def test_nobody_else_reads_the_results_of_a_class(tmp_path):
    """Neither the store nor a report or a page of code; a folder that we make is closed as a whole."""
    for name in ("ann", "bo"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "argmax_2d.py").write_bytes((TINY / "solutions/basics/argmax_2d.py").read_bytes())
    results = tmp_path / "made" / "results"
    words = ["run", str(tmp_path / "class"), "--out", str(results), "--lessons", "argmax_2d", "--junit", "--gradescope"]
    words += ["--course", str(TINY), "--jobs", "1"]
    done = CliRunner().invoke(grader, words)

    assert done.exit_code == 0, done.output
    assert {"results.sqlite", "report.html", "gradebook.csv", "feedback", "code"} <= {
        path.name for path in results.iterdir()
    }
    assert open_to_others(tmp_path / "made") == []


def test_nobody_else_reads_a_learners_progress(tmp_path):
    """Nor looks into its folder, where the program makes that."""
    with Store.open(tmp_path / "state" / "progress.db") as store:
        store.record_hint("softmax", "softmax", 1, NOW)

    assert (tmp_path / "state" / "progress.db").exists()
    assert open_to_others(tmp_path) == []


def test_an_old_database_is_closed_to_others_when_it_is_opened(tmp_path):
    """A file of an earlier version has the mode that the umask gave it; what is in it stays."""
    path = tmp_path / "progress.db"
    with Store.open(path) as store:
        store.record_hint("softmax", "softmax", 1, NOW)
    path.chmod(0o644)
    with Store.open(path) as store:
        assert store.hints("softmax") == {("softmax", 1)}

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
