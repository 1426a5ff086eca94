"""`learn watch`: in a real terminal with a real judge, a verdict on each save, and keys without Enter."""

from __future__ import annotations

import json
import os
import pty
import queue
import re
import select
import shutil
import signal
import sqlite3
import termios
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from support.command_server import start_command
from support.learn_command import TINY, answer, environment, learn, start_workspace

from grader.live.saved_files import SavedFiles
from grader.terminal.screen import Screen
from grader.terminal.text import clean

SECONDS, RESEND_SECONDS = 60.0, 5.0
WRONG = "def argmax_2d(grid):\n    return 0, int(grid.argmax())\n"
ENDLESS = "import time\n\n\ndef argmax_2d(grid):\n    while True:\n        time.sleep(0.01)\n"
RIGHT = "10.0 / 10"


class Watching:
    """A running `learn watch` in a terminal of its own."""

    def __init__(
        self, workspace: Path, *arguments: str, terminal: str = "xterm", course: Path = TINY, **more: str
    ) -> None:
        self.ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        self.before = termios.tcgetattr(theirs)
        self.theirs = theirs
        variables = environment(course, TERM=terminal, **more)
        self.process = start_command("learn", ("watch", *arguments), workspace, variables, (theirs,) * 3, terminal=True)
        self.text = ""

    def type(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def wait_for(self, wanted: str) -> str:
        """Wait until something appears after what was waited for before, and return all up to it."""
        deadline = time.monotonic() + SECONDS
        while not (found := re.search(wanted, self.text)):
            assert time.monotonic() < deadline, self.text
            self._read(0.5)
        seen, self.text = self.text[: found.end()], self.text[found.end() :]
        return seen

    def end(self, number: signal.Signals | None = None) -> int:
        """Wait for its end and return the exit code. `number`: sent until then, as Python can lose one."""
        deadline = time.monotonic() + SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            if number:
                self.process.send_signal(number)
            until = time.monotonic() + RESEND_SECONDS
            while self.process.poll() is None and time.monotonic() < until:
                self._read(0.2)
        while self._read(0.0):  # what it has shown last
            pass
        return self.process.wait(1)

    def interrupt_until(self, wanted: str) -> None:
        """Press Ctrl-C until something appears: Python can lose one while it imports."""
        deadline = time.monotonic() + SECONDS
        while not re.search(wanted, self.text) and time.monotonic() < deadline:
            os.killpg(self.process.pid, signal.SIGINT)  # as Ctrl-C in its terminal does
            until = time.monotonic() + 2 * RESEND_SECONDS
            while not re.search(wanted, self.text) and time.monotonic() < until:
                self._read(0.2)
        self.wait_for(wanted)

    def _read(self, seconds: float) -> bool:
        """Read what is shown within so many seconds; return False if nothing is."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return False
        self.text += os.read(self.ours, 1 << 16).decode(errors="replace")
        return True

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # what it has called, too
        self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A fresh workspace of the tiny course."""
    return start_workspace(tmp_path / "work")


@pytest.fixture
def watching(workspace: Path) -> Iterator[Watching]:
    """`learn watch` on wrong work, once its first verdict is there."""
    answer(workspace, "argmax_2d", WRONG)
    running = Watching(workspace)
    try:
        assert " -v" not in running.wait_for(r"checks failed[\s\S]*: c lists them[\s\S]*q quit")
        yield running
    finally:
        running.close()


def test_what_was_saved_last_is_watched_first(workspace: Path) -> None:
    """Not the lesson that comes next, where another's file was saved and not checked since."""
    answer(workspace, "moving_average")
    running = Watching(workspace)
    try:
        running.wait_for(r"basics/moving_average.py[\s\S]*" + RIGHT)
    finally:
        running.close()


def test_who_leaves_waits_for_no_check(workspace: Path, watching: Watching) -> None:
    """In the middle of one that does not end, q ends it."""
    answer(workspace, "argmax_2d", ENDLESS)
    watching.wait_for("checking")
    watching.type("q")

    assert watching.end() == 0
    assert "No answer within" not in watching.text


def test_a_file_that_is_taken_away_is_told(workspace: Path, watching: Watching) -> None:
    """Also where a picture or prints are asked for; no score stands beside that; judged again once it is back."""
    (workspace / "basics/argmax_2d.py").unlink()
    watching.wait_for(r"there is no such file[\s\S]*q quit")
    for key in "wp":
        watching.type(key)
        watching.wait_for(r"there is no such file[\s\S]*m- / 10 [\s\S]*q back")
    answer(workspace, "argmax_2d")

    watching.wait_for(RIGHT)


def test_a_folder_in_the_place_of_a_file_is_told(workspace: Path, watching: Watching) -> None:
    """Also once it was told that the file is gone; judged again once the file is back."""
    file = workspace / "basics/argmax_2d.py"
    file.unlink()
    watching.wait_for(r"there is no such file[\s\S]*q quit")
    file.mkdir()
    watching.wait_for(r"this is a folder[\s\S]*move it away[\s\S]*q quit")
    file.rmdir()
    answer(workspace, "argmax_2d")

    watching.wait_for(RIGHT)


def test_each_save_has_its_verdict_and_what_was_shown_comes_back(workspace: Path, watching: Watching) -> None:
    """Saved right it passes, with the score before and marks; another is followed when saved; q gives all back."""
    answer(workspace, "argmax_2d")
    said = watching.wait_for(RIGHT + r"[\s\S]*?passed[^\n]*\n\S*✓[\s\S]*?q quit")
    assert "before: " in said and "Learned: " in said
    answer(workspace, "moving_average")
    assert "basics/moving_average.py" in watching.wait_for(RIGHT + r"[\s\S]*?q quit")
    watching.type("q")

    assert watching.end() == 0
    assert watching.text.endswith("\x1b[?1049l")
    assert termios.tcgetattr(watching.theirs) == watching.before
    lessons = json.loads(learn("progress", "--json", cwd=workspace).stdout)["lessons"]
    assert {known["lesson"]: known["attempts"] for known in lessons} == {"argmax_2d": 2, "moving_average": 1}


def test_a_newer_save_overtakes_code_that_does_not_end(tmp_path: Path) -> None:
    """The verdict on the newer save comes long before the time limit of the older one; a hint comes at once, too."""
    course = shutil.copytree(TINY, tmp_path / "course")
    limits = (course / "course.toml").read_text().replace("_seconds = 2", "_seconds = 600")
    (course / "course.toml").write_text(limits)
    workspace = start_workspace(tmp_path / "work", course)
    answer(workspace, "argmax_2d", WRONG)
    watching = Watching(workspace, course=course)
    try:
        screen = watching.wait_for(r"checks failed[\s\S]*q quit")
        assert "h hint" in screen and "learn hint" not in screen  # no command where there is a key
        answer(workspace, "argmax_2d", ENDLESS)
        watching.wait_for("checking")
        time.sleep(0.5)
        watching.type("h")  # which waits for no verdict
        watching.wait_for("Enter goes back")
        watching.type("\n")
        watching.wait_for("checking")  # again what the key has overtaken
        watching.wait_for("still running: one call may take 600 s")
        answer(workspace, "argmax_2d")
        seen = watching.wait_for(RIGHT)
    finally:
        watching.close()

    assert "timed out" not in seen
    assert "did not finish" not in seen


def test_a_score_is_shown_while_its_mistake_is_looked_for(workspace: Path, watching: Watching) -> None:
    """The verdict comes behind it, with the same score."""
    answer(workspace, "argmax_2d", WRONG.replace("argmax()", "argmin()"))
    watching.wait_for(r"\b([\d.]+) / 10, looking for the mistake[\s\S]*\n[^\n]*\b\1 / 10[\s\S]*of 2 solved")


def test_what_names_a_mistake_is_found_while_nobody_saves(workspace: Path, tmp_path: Path) -> None:
    """After a verdict the answers of all known mistakes are found and kept: the next one is named without waiting."""
    answer(workspace, "argmax_2d", WRONG)
    watching = Watching(workspace, XDG_CACHE_HOME=str(tmp_path / "cache"))
    try:
        watching.wait_for("checks failed")
        deadline = time.monotonic() + SECONDS
        while not any(map(holds_every_mistake, tmp_path.glob("cache/**/argmax_2d.*.json"))):
            assert time.monotonic() < deadline
            watching._read(0.2)
        answer(workspace, "argmax_2d")
        watching.wait_for(RIGHT)
    finally:
        watching.close()


def holds_every_mistake(path: Path) -> bool:
    """Return True if a file holds what every known mistake by itself answers to every probe."""
    kept = json.loads(path.read_text())
    known = {(probe, mistakes) for probe, mistakes, *_ in kept["marks"]}
    singles = [1 << number for number in range(len(kept["mistakes"]))]
    return all((probe, one & reached) in known for probe, reached in enumerate(kept["reached"]) for one in singles)


def test_keys_call_commands_and_come_back(workspace: Path, watching: Watching) -> None:
    """A hint is shown where the screen was; Enter leads back to it; `c` shows all checks, a page at a time."""
    watching.type("h")
    watching.wait_for(r"learn hint argmax_2d[\s\S]*Enter goes back")
    watching.type("\n")
    watching.wait_for(r"checks failed[\s\S]*q quit")
    watching.type("c")
    watching.wait_for(r"1 more page[\s\S]*c goes on[\s\S]*q back")
    watching.type("c")
    watching.wait_for(r"Weaknesses[\s\S]*c back[\s\S]*q back")
    watching.type("c")
    watching.wait_for(r"checks failed[\s\S]*q quit")
    watching.type("?x")  # no keys
    watching.type("\x04")

    assert watching.end() == 0


def test_what_a_key_shows_stays_until_it_is_read(watching: Watching) -> None:
    """Enter typed before it is there does not lead back, nor does Ctrl-Z, after which the way back is told again."""
    watching.type("h\n")
    watching.wait_for(r"learn hint argmax_2d[\s\S]*Enter goes back to the screen")
    time.sleep(0.5)  # by then it reads what is typed
    os.kill(watching.process.pid, signal.SIGTSTP)
    assert "\x1b[?1049h" not in watching.wait_for("Enter goes back to the screen")
    watching.type("\n")
    watching.wait_for(r"checks failed[\s\S]*q quit")


@pytest.mark.parametrize(("key", "quits"), [("x", False), ("q", True), ("\x04", True)])
def test_a_key_leads_back_from_a_page_and_q_ends_it_all(watching: Watching, key: str, quits: bool) -> None:
    """No key is shown there, and what quits on the screen quits there, too."""
    watching.type("h")
    watching.wait_for(r"learn hint argmax_2d[\s\S]*Enter goes back to the screen, q quits ")
    time.sleep(0.5)  # by then it reads what is typed
    watching.type(key)
    if not quits:
        assert key not in watching.wait_for(r"\x1b\[\?1049h")
        watching.wait_for(r"checks failed[\s\S]*q quit")
        watching.type("q")

    assert watching.end() == 0
    assert "Traceback" not in watching.text and termios.tcgetattr(watching.theirs) == watching.before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_terminal_is_given_back_whatever_ends_it(watching: Watching, number: signal.Signals) -> None:
    """Ctrl-C and a signal leave the screen and the terminal as they were."""
    assert watching.end(number) in (130, 143)
    assert "\x1b[?1049l" in watching.text
    assert termios.tcgetattr(watching.theirs) == watching.before


def test_without_a_screen_each_verdict_is_a_text(workspace: Path) -> None:
    """In a dumb terminal nothing is redrawn: verdicts come below each other."""
    answer(workspace, "argmax_2d", WRONG)
    running = Watching(workspace, "argmax_2d", terminal="dumb")
    try:
        running.wait_for(r"checks failed[\s\S]*: learn check\s+argmax_2d -v\s+lists them")
        answer(workspace, "argmax_2d")
        assert "\x1b[" not in running.wait_for(RIGHT)
    finally:
        running.close()


def test_a_link_to_itself_in_the_place_of_another_lesson_is_passed_over(workspace: Path) -> None:
    """The lessons beside it are watched as ever."""
    loop = workspace / "basics/moving_average.py"
    loop.unlink()
    loop.symlink_to(loop.name)
    running = Watching(workspace, "argmax_2d", terminal="dumb")
    try:
        running.wait_for("is not written yet")
        answer(workspace, "argmax_2d")
        running.wait_for(RIGHT)
    finally:
        running.close()


def test_what_is_saved_before_the_system_tells_of_it_is_seen(tmp_path: Path) -> None:
    """On a busy machine events begin late: a first save was lost, and watched in vain."""
    file, seen = tmp_path.resolve() / "a.py", queue.Queue[Path]()
    file.write_text("one")
    watched = SavedFiles(tmp_path, [file], seen.put)
    file.write_text("two")
    with watched:
        assert seen.get(timeout=SECONDS) == file


def test_where_nothing_can_be_kept_it_says_so(workspace: Path, watching: Watching) -> None:
    """Above the verdict, until an attempt is stored again."""
    with closing(sqlite3.connect(workspace / ".selfattend/progress.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # another command that does not end
        answer(workspace, "argmax_2d")
        watching.wait_for(r"! Your progress could not be saved[\s\S]*" + RIGHT)
    answer(workspace, "argmax_2d", WRONG)

    assert (
        "could not be saved"
        not in watching.wait_for(r"checking[\s\S]*q quit[\s\S]*checks failed").rpartition("q quit")[2]
    )


def test_outside_of_a_workspace_it_says_what_to_do(tmp_path: Path) -> None:
    """There is nothing to watch."""
    done = learn("watch", cwd=tmp_path)

    assert done.returncode == 2
    assert "learn start" in done.stderr


def test_pictures_and_prints_take_the_place_of_the_verdict(workspace: Path, watching: Watching) -> None:
    """`w` draws what is answered, and draws it anew after a save; `p` shows what was printed; both lead back."""
    answer(workspace, "moving_average")
    watching.wait_for(RIGHT + r"[\s\S]*?q quit")
    watching.type("w")
    watching.wait_for(r"A step, smoothed[\s\S]*is the reference's answer[\s\S]*q back")
    answer(workspace, "moving_average", "def moving_average(values, window):\n    print('hello', window)\n")
    watching.wait_for(r"A step, smoothed[\s\S]*returned None[\s\S]*2.2 / 10[\s\S]*q back")
    watching.type("w")
    watching.wait_for(r"returns None[\s\S]*c lists them[\s\S]*q quit")
    watching.type("p")
    watching.wait_for(r"Printed by your code[\s\S]*hello[\s\S]*q back")
    watching.type("q")
    watching.wait_for(r"returns None[\s\S]*c lists them[\s\S]*q quit")
    watching.type("q")

    assert watching.end() == 0


def test_what_is_longer_than_the_screen_is_shown_a_page_at_a_time(workspace: Path, watching: Watching) -> None:
    """Long lines are folded; a save leads back from prints to its verdict; what cannot be loaded is said."""
    answer(workspace, "moving_average", "def moving_average(values, window):\n    print('hello ' * 99)\n")
    watching.wait_for(r"returns None[\s\S]*c lists them[\s\S]*q quit")
    watching.type("p")
    watching.wait_for(r"Printed by your code[\s\S]*more[\s\S]*p goes on[\s\S]*q back")
    watching.type("p")
    watching.wait_for(r"hello[\s\S]*q back")
    answer(workspace, "moving_average")
    watching.wait_for(RIGHT + r"[\s\S]*?q quit")
    watching.type("p")
    watching.wait_for(r"Your code printed nothing[\s\S]*q back")
    answer(workspace, "moving_average", "def moving_average(values, window:\n")
    watching.wait_for(r"never closed[\s\S]*q quit")
    watching.type("p")
    watching.wait_for(r"could not be loaded, so none of it was run[\s\S]*q back")
    watching.type("q")
    watching.wait_for(r"never closed[\s\S]*q quit")
    watching.type("q")

    assert watching.end() == 0


def test_a_link_takes_no_room_on_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a terminal does not show of a line is no reason to fold it."""
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((40, 10)))
    linked = f"Line \x1b]8;id=1;file:///{'long/' * 20}\x1b\\softmax.py\x1b]8;;\x1b\\ \x1b[31mred\x1b[0m"

    wide = "\n".join([" ".join(["wide"] * 8), "wide wide"])
    assert Screen().cut(f"{linked}\n{'wide ' * 10}", "q quit") == [f"{linked}\n{wide}"]
    assert [page.count("\n") for page in Screen().cut("line\n" * 20, "q quit")] == [7, 7, 3]


def test_in_a_narrow_window_the_lesson_stays_at_the_top(workspace: Path) -> None:
    """What is wider than the window is folded between words, a long word behind a sign, and counted as it is shown."""
    answer(workspace, "argmax_2d", f"def argmax_2d(grid):\n    print('{'many, ' * 20}many({'nested,' * 20})')\n")
    watching = Watching(workspace, COLUMNS="40")
    try:
        screen = watching.wait_for(r"more lines: c shows all[\s\S]*q quit").rpartition("\x1b[H")[2]
    finally:
        watching.close()
    lines = clean(screen.replace("\r", "")).split("\n")

    assert lines[0] == "The largest entry of a grid"
    assert len(lines) <= 24 and max(map(len, lines)) <= 40
    assert "  many(nested,nested,nested,nested," in lines


def test_the_next_lesson_is_the_one_behind_this_that_is_not_solved(workspace: Path, watching: Watching) -> None:
    """Also while this one is not solved; after the last it says so."""
    watching.type("n")
    watching.wait_for(r"moving_average[\s\S]*q quit")
    tried = json.loads(learn("progress", "--json", cwd=workspace).stdout)["lessons"]
    assert [known["attempts"] for known in tried] == [0, 1]  # whoever only looks has not tried
    answer(workspace, "argmax_2d")
    watching.wait_for(RIGHT + r"[\s\S]*?q quit")
    watching.type("n")
    watching.wait_for(r"moving_average[\s\S]*q quit")
    answer(workspace, "moving_average")
    watching.wait_for(RIGHT + r"[\s\S]*?q quit")
    watching.type("n")
    watching.wait_for(r"no other lesson[\s\S]*n back[\s\S]*q back")
    watching.type("n")
    watching.wait_for(RIGHT + r"[\s\S]*?q quit")
    watching.type("q")

    assert watching.end() == 0


def test_the_browser_takes_over_until_ctrl_c(workspace: Path, watching: Watching) -> None:
    """`b` serves the pages of the lesson; Ctrl-C ends them alone, and the next save has its verdict on the screen."""
    watching.type("b")
    watching.wait_for(r"Open  http://127.0.0.1:\d+/\S+[\s\S]*Ctrl-C ends the pages")
    watching.interrupt_until("Enter goes back")
    watching.type("\n")
    watching.wait_for("q quit")
    answer(workspace, "argmax_2d")
    watching.wait_for(RIGHT + r"[\s\S]*?q quit")
    watching.type("q")

    assert watching.end() == 0
