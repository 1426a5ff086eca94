"""Start a real grading process for attacks, and talk to it.

    python -P grading_process.py {"settings": ..., "without": [layers], "watched": true}

It runs `grader.batch.processes.process_main` as `grader run` does, without the layers that it is told to leave out, and
unless it is `watched` without a look at whether the course's files have changed: that would end it.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grader.judge.processes.launcher import ForkServerLauncher

ENGINE = Path(__file__).resolve().parents[2]
START_SECONDS, GRADE_SECONDS, END_SECONDS = 120.0, 60.0, 10.0


class GradingProcess:
    """One grading process, asked as the batch asks it."""

    def __init__(
        self, settings: dict[str, Any], without: Iterable[str] = (), watched: bool = True, **environment: str
    ) -> None:
        config = json.dumps({"settings": settings, "without": list(without), "watched": watched})
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).resolve()), config],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment, "PYTHONPATH": str(ENGINE), "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )
        self.own: set[int] = set()  # the processes that are always there: the fork server, and bubblewrap round it
        self.ahead: set[int] = set()  # the worker that is forked before it is asked for

    def begin(self) -> None:
        """Wait until it is ready."""
        reply = self._receive()
        assert reply == {"ready": True}, reply

    def grade(self, learner: dict[str, Any]) -> dict[str, Any]:
        """Grade one learner, given as `Learner.to_dict()`, and return the record."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"learner": learner}).encode() + b"\n")
        self.process.stdin.flush()
        while "step" in (reply := self._receive()):
            pass
        assert "record" in reply, reply
        self.ahead = set(reply["workers"])
        record: dict[str, Any] = reply["record"]
        return record

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the grading process died with {self.process.wait(END_SECONDS)}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def note_own(self) -> None:
        """Note the processes that belong to it, once the worker of the submission before has ended."""
        deadline = time.monotonic() + END_SECONDS
        while (found := descendants(self.process.pid)) != self.own:
            assert time.monotonic() < deadline, f"{found} do not settle"
            self.own = found
            time.sleep(0.1)
        self.own -= self.ahead

    def strangers(self, seconds: float = 5.0) -> set[int]:
        """Return the processes that are neither its own nor its next worker and do not end in time."""
        deadline = time.monotonic() + seconds
        while (found := descendants(self.process.pid) - self.own - self.ahead) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found

    def close(self) -> None:
        """End it and everything that it started."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def descendants(pid: int) -> set[int]:
    """Return the descendants of a process that have not ended."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
                parents |= {int(folder.name): int(parent)} if state not in "ZX" else {}
    found: set[int] = set()
    new = {pid}
    while new := {child for child, parent in parents.items() if parent in new}:
        found |= new
    return found


def held_workers() -> list[int]:
    """Return the workers that this process holds a pidfd of, by the numbers that its own folder in /proc gives."""
    found = []
    for path in Path("/proc/self/fdinfo").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += [int(line[4:]) for line in path.read_text().splitlines() if line.startswith("Pid:")]
    return found


def lease_and_wait(self: Any, policy: Any = None, lease: Any = ForkServerLauncher.lease) -> Any:
    """Lease a worker, and wait until the fork server has told which process is the next one."""
    worker = lease(self, policy)
    while self._ahead is not None and self._ahead.job not in self._born:
        self._read(time.monotonic() + START_SECONDS)
    return worker


def main(config: dict[str, Any]) -> int:
    """Run as that process."""
    from grader.batch.processes import process_main
    from grader.batch.settings import Settings
    from grader.course import course_files
    from grader.judge import session
    from grader.judge.processes.isolation_policy import policy_for

    if config["without"]:
        left_out = config["without"]
        fewer = lambda course, device, without=(): policy_for(course, device, {*without, *left_out})
        setattr(session, "policy_for", fewer)  # noqa: B010
    setattr(ForkServerLauncher, "lease", lease_and_wait)  # noqa: B010
    send = process_main._send
    tell = lambda replies, told: send(replies, told | ({"workers": held_workers()} if "record" in told else {}))
    setattr(process_main, "_send", tell)  # noqa: B010
    if not config["watched"]:
        setattr(course_files.Unchanged, "require", lambda _: None)  # noqa: B010
    return process_main.main(Settings.from_dict(config["settings"]))


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
