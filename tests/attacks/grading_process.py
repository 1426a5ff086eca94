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
        self.own: set[int] = set()  # the processes that belong to it while no submission runs

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
        record: dict[str, Any] = reply["record"]
        return record

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the grading process died with {self.process.wait(END_SECONDS)}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def wait_steady(self, seconds: float = 0.5) -> set[int]:
        """Wait until its descendants have been the same for so long; return them."""
        found, since = descendants(self.process.pid), time.monotonic()
        while time.monotonic() - since < seconds:
            time.sleep(0.05)
            if (now := descendants(self.process.pid)) != found:
                found, since = now, time.monotonic()
        return found

    def wait_settled(self, seconds: float = 5.0) -> set[int]:
        """Wait until it has no more descendants than at first, or time is up; return them."""
        deadline = time.monotonic() + seconds
        while len(found := descendants(self.process.pid)) > len(self.own) > 0 and time.monotonic() < deadline:
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
    if not config["watched"]:
        setattr(course_files.Unchanged, "require", lambda _: None)  # noqa: B010
    return process_main.main(Settings.from_dict(config["settings"]))


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
