"""Measure `learn watch` and `learn web`: from the write of a file to its verdict on the screen, and to its event in a
browser; and what they cost while nobody saves.

python benchmarks/live.py

The limits are for two idle cores. Each save is of right work that differs in a comment.
"""

from __future__ import annotations

import http.client
import json
import os
import pty
import select
import signal
import statistics
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from measure import LESSONS, ROOT, describe_machine, learn, process_tree, tree_pss, workspace

from grader.web.exercise import version_of

LIMITS = {lesson: 0.15 if lesson == "training" else 0.04 for lesson in LESSONS}  # seconds
MEMORY_LIMIT = 600  # MiB
IDLE_LIMIT = 0.01  # of a core
ROUNDS = 15
SECONDS = 60.0
SECONDS_BEHIND = 3.0  # for the shapes that come behind the last verdict
WORKING, DONE = "checking ...", " solved"  # what the last lines say


class Watching:
    """A running `learn watch`, and the bytes that it writes."""

    def __init__(self, root: Path) -> None:
        self.terminal, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        environment = {**os.environ, "TERM": "xterm"}
        self.process = subprocess.Popen(learn("watch"), cwd=root, stdin=theirs, stdout=theirs, env=environment)
        os.close(theirs)
        self._text = ""
        self.wait_for(DONE)

    def wait_for(self, wanted: str) -> float:
        """Return the time at which a text had appeared, after what was waited for before."""
        deadline = time.perf_counter() + SECONDS
        while wanted not in self._text:
            if time.perf_counter() > deadline:
                raise TimeoutError(self._text)
            if select.select([self.terminal], [], [], 0.5)[0]:
                self._text += os.read(self.terminal, 1 << 16).decode(errors="replace")
        self._text = self._text.partition(wanted)[2]
        return time.perf_counter()

    def save(self, root: Path, lesson: str, number: int) -> float:
        """Return the seconds from a save to its verdict."""
        begun = write(root, lesson, number)
        self.wait_for(WORKING)
        return self.wait_for(DONE) - begun

    def end(self) -> None:
        os.write(self.terminal, b"q")
        self.process.wait(SECONDS)


class Browsing:
    """A running `learn web`, and the events that a page of it gets."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            learn("web", "--no-open"), cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout
        link = urlsplit(self.process.stdout.readline().split()[1])
        self._host, self._cookie = link.netloc, ""
        entered = self._ask(f"/?{link.query}")
        self._cookie = str(entered.headers["set-cookie"]).partition(";")[0]
        self._lesson, self._events = "", entered
        self._last: dict[str, Any] = {}

    def save(self, root: Path, lesson: str, number: int) -> float:
        """Return the seconds from a save to the event of its verdict."""
        if lesson != self._lesson:
            self._lesson = lesson
            self._ask(f"/lesson/{lesson}").read()
            self._events = self._ask(f"/events/{lesson}")
            self._wait_for(lambda event: event["state"] == "passed" and "pictures" in event)
        begun = write(root, lesson, number)
        version = version_of((root / f"core/{lesson}.py").read_bytes())
        arrived = self._wait_for(lambda event: event["state"] == "passed" and event["version"] == version)
        if "pictures" not in self._last:  # they come behind it
            self._wait_for(lambda event: "pictures" in event)
        return arrived - begun

    def end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(SECONDS)

    def _ask(self, path: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self._host, timeout=SECONDS)
        connection.request("GET", path, headers={"Cookie": self._cookie})
        return connection.getresponse()

    def _wait_for(self, is_wanted: Callable[[dict[str, Any]], bool]) -> float:
        while line := self._events.readline():
            arrived = time.perf_counter()
            if line.startswith(b"data: "):
                self._last = json.loads(line[6:])
                if is_wanted(self._last):
                    return arrived
        raise EOFError("learn web has ended")


def write(root: Path, lesson: str, number: int) -> float:
    """Write right work that differs in a comment, and return when that began."""
    source = (ROOT / f"solutions/core/{lesson}.py").read_text()
    begun = time.perf_counter()
    (root / f"core/{lesson}.py").write_text(f"{source}# {number}\n")
    return begun


def processor_seconds(process: subprocess.Popen[Any]) -> float:
    """Return what a process and all below it have used."""
    ticks = 0
    for pid in process_tree(process.pid):
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(root: Path, name: str, live: Watching | Browsing) -> bool:
    """Print a table, and end what is measured; False if a limit is passed."""
    good = True
    print(f"\n{name:<34}{'median':>10}{'largest':>10}{'limit':>10}")
    for lesson, limit in LIMITS.items():
        times = []
        for number in range(ROUNDS + 1):
            times.append(live.save(root, lesson, number))
            time.sleep(0.1)
        median = statistics.median(times[1:])
        good &= median <= limit
        print(f"{lesson:<34}{median * 1000:>7.0f} ms{max(times[1:]) * 1000:>7.0f} ms{limit * 1000:>7.0f} ms")
    time.sleep(SECONDS_BEHIND)
    before = processor_seconds(live.process)
    time.sleep(5.0)
    idle = (processor_seconds(live.process) - before) / 5.0
    memory = tree_pss(live.process.pid)
    live.end()
    print(f"Idle: {idle:.1%} of a core (limit {IDLE_LIMIT:.0%}); memory {memory:.0f} MiB (limit {MEMORY_LIMIT})")
    return good and idle <= IDLE_LIMIT and memory <= MEMORY_LIMIT


def main() -> int:
    """Print the tables; 1 if a limit is passed."""
    describe_machine()
    with workspace() as root:
        good = measure(root, "From save to verdict, on the screen", Watching(root))
    with workspace() as root:
        good &= measure(root, "From save to event, in the browser", Browsing(root))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
