"""Run a piece of code as a learner's, in a real worker, and see what it could do."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from grader.course.load_course import load
from grader.judge.processes.isolation_policy import policy_for
from grader.judge.processes.launcher import ForkServerLauncher, Launcher, start_launcher
from grader.model import Course

SECONDS = 60.0  # the most that one piece of code may take, and that anything here is waited for


def tiny(call_seconds: float = SECONDS) -> Course:
    """Load the tiny course, which uses numpy, so that workers start fast."""
    course = load(Path(__file__).parents[1] / "courses/tiny")
    return dataclasses.replace(course, limits=dataclasses.replace(course.limits, call_seconds=call_seconds))


@contextmanager
def launched(course: Course, *, sandbox: bool, **options: Any) -> Iterator[ForkServerLauncher]:
    """Start a fork server, in bubblewrap or not, whose workers have all layers; stop it at the end of the block."""
    launcher = start_launcher(course.arrays, policy_for(course, "cpu"), course.limits, sandbox=sandbox, **options)
    assert isinstance(launcher, ForkServerLauncher)
    try:
        yield launcher
    finally:
        launcher.close()


def load_request(source: str, *names: str) -> dict[str, Any]:
    """Return the request that loads `source` as a module and asks for these names."""
    return {
        "name": "work", "path": "work.py", "source": source, "siblings": {}, "names": list(names),
        "forbids": [], "device": "cpu", "shared": False,
    }  # fmt: skip


def run(launcher: Launcher, source: str, *args: Any, policy: Mapping[str, Any] | None = None) -> Any:
    """Return the result of the function `f` of `source` in a fresh worker; fail if it raises."""
    with closing(launcher.lease(policy)) as worker:
        loaded = worker.request("load", **load_request(source, "f"))
        assert "error" not in loaded, loaded["error"]
        reply = worker.request("call", target="f", args=list(args), kwargs={})
        assert "value" in reply, reply
        return reply["value"]


def without(launcher: Launcher, *layers: str) -> dict[str, Any]:
    """Return the launcher's policy without these layers, or without any layer if none is named."""
    kept = [layer for layer in launcher.policy["layers"] if layers and layer not in layers]
    return {**launcher.policy, "layers": kept}


def within(condition: Callable[[], bool], seconds: float = SECONDS) -> bool:
    """Wait for a condition; return False if it does not hold in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
