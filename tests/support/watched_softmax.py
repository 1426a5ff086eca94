"""Files of a learner's in which `softmax` is forbidden, as the judge reads them and a worker loads them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import partial
from typing import Any

from grader.judge.processes.launcher import Launcher
from grader.source.forbidden_calls import ForbiddenCall, find_forbidden_calls
from grader.worker.watch.call_monitor import matches

FORBIDS = ("softmax",)
ANSWER = "def softmax(x, dim=-1):\n    return x\n"


def find(files: Mapping[str, str]) -> ForbiddenCall | None:
    """The first call that hides something, in reach of the lesson's function, for whoever reads the source."""
    others = {name: (f"{name}.py", text) for name, text in files.items() if name != "softmax"}
    found = find_forbidden_calls(files["softmax"], ["softmax"], partial(matches, forbids=FORBIDS), others, "softmax")
    return found.get("softmax")


def load(launcher: Launcher, files: Mapping[str, str]) -> dict[str, Any]:
    """What a worker of its own replies where it is to load the lesson's file."""
    siblings = {name: [f"{name}.py", text] for name, text in files.items() if name != "softmax"}
    what: Any = {"name": "softmax", "path": "softmax.py", "source": files["softmax"], "siblings": siblings}
    with contextlib.closing(launcher.lease()) as worker:
        return worker.request("load", **what, forbids=[*FORBIDS], names=["softmax"], device="cpu", shared=False)


def complete(case: Any, before: str = "") -> dict[str, str]:
    """The learner's files, of which the lesson's has an answer; *case* is its text, or all texts by their names."""
    files = {"softmax": case} if isinstance(case, str) else case
    return {name: f"{before}{text}{ANSWER if name == 'softmax' else ''}" for name, text in files.items()}
