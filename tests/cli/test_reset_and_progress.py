"""`learn reset` and `learn progress`: the stub comes back and the work is kept; where one stands."""

from __future__ import annotations

import json
import re

import pytest
from support.learn_command import answer, learn, solve, start_workspace


@pytest.fixture
def workspace(tmp_path):
    """A fresh workspace of the tiny course."""
    return start_workspace(tmp_path / "work")


def test_reset_keeps_the_work_and_says_where(workspace):
    """The stub comes back, the work lies beside it under the name that was printed."""
    answer(workspace, "argmax_2d", "mine")

    done = learn("reset", "argmax_2d", "--yes", cwd=workspace)

    assert done.returncode == 0
    assert "argmax_2d.py.bak-1" in done.stdout
    assert (workspace / "basics/argmax_2d.py.bak-1").read_text() == "mine"
    assert "not written yet" in (workspace / "basics/argmax_2d.py").read_text()


@pytest.mark.parametrize(("typed", "changed"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_reset_asks(workspace, typed, changed):
    """Only a yes changes anything."""
    file = answer(workspace, "argmax_2d", "mine")

    assert learn("reset", "argmax_2d", cwd=workspace, stdin=typed).returncode == 0
    assert (file.read_text() != "mine") is changed


def test_reset_does_not_guess_an_answer(workspace):
    """Where nobody can be asked, nothing is changed, and the option that answers is named."""
    file = answer(workspace, "argmax_2d", "mine")
    done = learn("reset", "argmax_2d", cwd=workspace)

    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert file.read_text() == "mine"


def test_progress_shows_every_lesson_and_the_next_thing(workspace):
    """Best score, attempts and hints stand beside each lesson; named mistakes and the next step below."""
    learn("hint", "argmax_2d", cwd=workspace)
    answer(workspace, "argmax_2d", "def argmax_2d(grid):\n    return None\n")
    learn("check", "argmax_2d", cwd=workspace)
    said = learn("progress", cwd=workspace).stdout

    assert re.search(r"argmax_2d +\d\.\d .* 1 +1/\d+ +just now", said)
    assert "[returned-none]" in said
    assert "learn hint argmax_2d" in said
    assert max(map(len, said.splitlines())) <= 80


def test_mistakes_of_solved_lessons_are_history(workspace):
    """A mistake is shown until its lesson is solved."""
    answer(workspace, "argmax_2d", "def argmax_2d(grid):\n    return None\n")
    learn("check", "argmax_2d", cwd=workspace)
    assert "Latest mistakes" in learn("progress", cwd=workspace).stdout

    solve(workspace, "argmax_2d")
    assert "Latest mistakes" not in learn("progress", cwd=workspace).stdout


def test_progress_needs_a_workspace(tmp_path):
    """Elsewhere there is nothing to show, which is said."""
    done = learn("progress", cwd=tmp_path)

    assert done.returncode == 2
    assert "learn start" in done.stderr


def test_progress_as_json(workspace):
    """`progress --json` prints one object: totals, tracks, lessons, mistakes and what is next."""
    solve(workspace, "moving_average")
    progress = json.loads(learn("progress", "--json", cwd=workspace).stdout)

    assert (progress["solved"], progress["total"]) == (1, 2)
    assert progress["lessons"][0]["best_score"] == 10.0
    assert progress["lessons"][0]["solved_when"]
    assert progress["next"]["lesson"] == "argmax_2d"


def test_a_damaged_progress_file_is_set_aside_with_a_word(workspace):
    """Nothing is lost in silence: the learner is told where the damaged file is."""
    solve(workspace, "moving_average")
    (workspace / ".selfattend/progress.db").write_bytes(b"no database" * 500)
    done = learn("progress", cwd=workspace)

    assert done.returncode == 0
    assert "damaged" in done.stderr
