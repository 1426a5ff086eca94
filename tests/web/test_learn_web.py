"""`learn web`: real processes, real saves, and nothing left behind."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from support.browser import Visitor
from support.learn_command import START, TINY, answer, environment, learn, start_workspace
from support.process_tree import all_end, descendants
from support.quiz_workspace import Workspace

WRONG = "def argmax_2d(grid):\n    return 0, int(grid.argmax())\n"
SHIFTED = "import numpy\n\n\ndef moving_average(series, width):\n    return numpy.ones(len(series) - width + 1)\n"
ENDLESS = "import time\n\n\ndef argmax_2d(grid):\n    while True:\n        time.sleep(0.01)\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A fresh workspace of the tiny course."""
    return start_workspace(tmp_path / "work")


@pytest.fixture
def running(workspace: Path) -> Iterator[tuple[subprocess.Popen[str], Visitor]]:
    """`learn web` on wrong work, and a browser at it."""
    answer(workspace, "argmax_2d", WRONG)
    with run_web(workspace) as started:
        yield started


@contextmanager
def run_web(workspace: Path, course: Path = TINY) -> Iterator[tuple[subprocess.Popen[str], Visitor]]:
    """`learn web` in a workspace, and a browser at it."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, "web", "--no-open"], cwd=workspace, env=environment(course),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        visitor = Visitor(process.stdout.readline().split()[1])
        visitor.enter()
        yield process, visitor
    finally:
        process.kill()
        process.communicate()


def test_each_save_is_an_event(workspace: Path, running: tuple[subprocess.Popen[str], Visitor]) -> None:
    """Opened, work that is begun is judged; a save has its verdict; one in the middle of another overtakes it."""
    process, visitor = running
    visitor.read("/lesson/argmax_2d")
    with visitor.events("argmax_2d") as events:
        assert "of 10" in events.next("failed")["html"]
        answer(workspace, "argmax_2d", ENDLESS)
        events.next("working")
        answer(workspace, "argmax_2d")
        assert "before: " in events.next("passed", "failed", "trouble")["html"]
        answer(workspace, "argmax_2d", "\x00")
        events.next("failed", "trouble")
    visitor.read("/lesson/moving_average")
    with visitor.events("moving_average") as events:
        events.next("new")
        answer(workspace, "moving_average", SHIFTED)
        again = events.next("failed")
        if "pictures" not in again:  # the verdict first, then with what takes longer, unless both wait to be read
            again = events.next("failed")
        assert again["pictures"].count("<svg") and "expected" in again["pictures"]

    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert process.stderr.read().strip() == "Stopped."
    lessons = json.loads(learn("progress", "--json", cwd=workspace).stdout)["lessons"]
    assert {known["lesson"]: known["attempts"] for known in lessons} == {
        "argmax_2d": 2,  # until it was solved
        "moving_average": 1,
    }


def test_a_link_to_itself_has_its_page_and_the_others_are_judged(workspace: Path) -> None:
    """One file that leads in a circle keeps no other lesson from its verdict."""
    answer(workspace, "argmax_2d")
    loop = workspace / "basics/moving_average.py"
    loop.unlink()
    loop.symlink_to(loop.name)
    with run_web(workspace) as (_, visitor):
        assert os.strerror(errno.ELOOP) in visitor.read("/lesson/moving_average")
        visitor.read("/lesson/argmax_2d")
        with visitor.events("argmax_2d") as events:
            events.next("passed")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_it_leaves_no_process(
    workspace: Path, running: tuple[subprocess.Popen[str], Visitor], number: signal.Signals
) -> None:
    """Not even a worker in the middle of code that does not end."""
    process, visitor = running
    visitor.read("/lesson/argmax_2d")
    with visitor.events("argmax_2d") as events:
        events.next("failed")
        answer(workspace, "argmax_2d", ENDLESS)
        events.next("working")
        started = descendants(process.pid)
        assert started
        time.sleep(1.0)  # then it is in the middle of a check
        os.kill(process.pid, number)
        process.wait(30)
        assert all_end(started)


def test_a_port_that_is_taken_is_told(workspace: Path, running: tuple[subprocess.Popen[str], Visitor]) -> None:
    """With the command that takes a free one."""
    port = running[1].host.rpartition(":")[2]
    done = learn("web", "--no-open", "--port", port, cwd=workspace)

    assert done.returncode == 2
    assert "Next:  learn web" in done.stderr


def test_started_again_it_is_found_where_it_was(workspace: Path) -> None:
    """Pages and bookmarks keep their address; the old key opens nothing, and is told what does. A second one moves."""
    with run_web(workspace) as (process, before):
        with run_web(workspace) as (_, beside):
            assert beside.host != before.host
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    with run_web(workspace) as (_, after):
        assert after.host == before.host
        refused = before.ask("GET", "/")
        assert refused.status == 403 and "`learn web` was started again" in refused.body.decode()
        assert after.ask("GET", "/").status == 200


def test_killed_between_two_questions_it_loses_no_answer(tmp_path: Path) -> None:
    """What was answered is in the store before its mark is shown: the terminal goes on with the next question."""
    quiz = Workspace(tmp_path, every_kind=True)
    with run_web(quiz.folder, quiz.course) as (process, visitor):
        begun = visitor.ask("POST", "/quiz", "topic=every_kind&begin=yes")
        address = str(begun.headers["location"])
        asked = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', visitor.read(address)))
        assert visitor.ask("POST", address, urlencode({**asked, "certainty": "?"})).status == 303
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
    assert [answer.family for answer in quiz.log()] == [asked["family"]]
    [first, *_] = quiz.events("quiz", "every_kind", stdin="?\n")
    assert first["resumed"] and first["answered"] == 1
