"""Try every layer of the protection: a worker under that layer alone attempts what the layer is there to refuse, and
one under all of them attempts everything. Nothing here is assumed of the machine: what is not tried is not claimed.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import GraderError, IsolationError
from grader.judge.processes.isolation_policy import LAYERS, Layer, accept_for, in_container, policy_for, reasons_missing
from grader.judge.processes.launcher import Launcher, start_launcher
from grader.judge.session import with_workers
from grader.model import Course
from grader.worker.isolation import Policy, drop_privileges, limits

ATTEMPTS = Path(__file__).with_name("escape_attempts.py")
NEEDED_FIRST = {"landlock": ("no-new-privileges",), "seccomp": ("no-new-privileges",)}
_FILE: dict[str, Any] = {
    "name": "attempts", "path": ATTEMPTS.name, "siblings": {}, "seed": 0, "forbids": [], "names": ["against"],
    "device": "cpu", "shared": False,
}  # fmt: skip
SLACK = 64  # threads that others may start meanwhile


@dataclass(frozen=True)
class Trial:
    """One layer: `missing` says why it cannot be had here, `through` what got through where it is on; "" is good.
    `found`: what was seen instead of tried."""

    layer: Layer
    missing: str = ""
    through: str = ""
    found: str = ""


@dataclass(frozen=True)
class Together:
    """All layers of one command at once: those in force, what got through, and what was not as it was meant to be."""

    layers: tuple[str, ...]
    through: str = ""
    without: str = ""


class Trials:
    """Workers to try the layers with: `plain` as `learn check` has them, `boxed` as `grader run`; see `with_trials`."""

    def __init__(self, course: Course, plain: Launcher, boxed: Launcher, device: str, facts: Mapping[str, Any]) -> None:
        self.plain, self.boxed, self.device = plain, boxed, device
        self._policy, self._facts = policy_for(course, "cpu"), dict(facts)
        self._reasons = reasons_missing()

    def each(self) -> Iterator[Trial]:
        """Every layer by itself, in the order of LAYERS."""
        for layer in LAYERS:
            if layer.name == "container":
                yield Trial(layer, self._reasons["container"], found=f"this runs in {in_container()}")
            elif layer.name == "namespaces":
                yield self._alone(layer, self.boxed, ())
            else:
                yield self._alone(layer, self.plain, (*NEEDED_FIRST.get(layer.name, ()), layer.name))

    def learn_check(self) -> Together:
        """As `learn check` runs a learner's code."""
        return self._together(self.plain)

    def grader_run(self) -> Together:
        """As `grader run` does. Raises IsolationError where it would."""
        together = self._together(self.boxed)
        accept_for("required")(together.layers)
        return together

    def _alone(self, layer: Layer, launcher: Launcher, layers: tuple[str, ...]) -> Trial:
        try:
            in_force, through = self._attempt(launcher, layers)
        except IsolationError as error:
            return Trial(layer, f"it cannot be put on: {error.what}")
        if layer.name in in_force:
            return Trial(layer, "", through[layer.name])
        return Trial(layer, self._why_missing(layer.name))

    def _why_missing(self, name: str) -> str:
        if name == "unprivileged-user" and drop_privileges.is_root():
            reason = drop_privileges.why_not(self._policy["readable"])
            inside = "unprivileged-user" in self._attempt(self.boxed, (name,))[0]
            return f"{reason}{'; in bubblewrap it is in force' if inside else ''}"
        if name == "namespaces":
            return getattr(self.boxed, "no_sandbox", self._reasons[name])
        return self._reasons[name]

    def _together(self, launcher: Launcher) -> Together:
        layers, through = self._attempt(launcher, tuple(self._policy["layers"]))
        what = [through[name] for name in layers if through.get(name)]
        return Together(layers, "; ".join(what), getattr(launcher, "no_sandbox", ""))

    def _attempt(self, launcher: Launcher, layers: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Which layers are in force round a worker that was told to put these on, and what got through to it."""
        facts = {**self._facts, "threads": (limits.tasks() or 0) + Policy.processes + SLACK}
        with closing(launcher.lease({**self._policy, "layers": list(layers)})) as worker:
            loaded = worker.request("load", **_FILE, source=ATTEMPTS.read_text("utf-8"))
            reply = loaded if "error" in loaded else worker.request("call", target="against", args=[facts], kwargs={})
            if "value" not in reply:
                raise GraderError(f"The attempts on the isolation ended early: {reply.get('error')}")
            return worker.layers or (), reply["value"]


@contextmanager
def with_trials(course: Course) -> Iterator[Trials]:
    """Start workers of both kinds, and what they are to reach for. All is gone when the context ends."""
    with ExitStack() as stack:
        policy = policy_for(course, "cpu")
        boxed = start_launcher(course.arrays, policy, course.limits, sandbox=True)
        stack.callback(boxed.close)
        facts = stack.enter_context(_targets()) | {"memory": policy["memory_bytes"], "files": policy["open_files"]}
        plain, device = stack.enter_context(with_workers(course))
        yield Trials(course, plain, boxed, device, facts)


@contextmanager
def _targets() -> Iterator[dict[str, Any]]:
    """A folder that everybody may write in, a file in it, and sockets of ours; no worker should get at one of them."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="selfattend-")))
        folder.chmod(0o777)
        secret = folder / "secret"
        secret.write_text("for nobody")
        secret.chmod(0o666)
        facts: dict[str, Any] = {"pid": os.getpid(), "folder": str(folder), "secret": str(secret)}
        for name, (family, kind, address) in _addresses(folder).items():
            server = stack.enter_context(socket.socket(family, kind))
            server.bind(address)
            if kind == socket.SOCK_STREAM:
                server.listen()
            facts[name] = server.getsockname()[1] if isinstance(address, tuple) else address
        yield facts


def _addresses(folder: Path) -> dict[str, tuple[int, int, Any]]:
    """Where we can be reached: family, kind and address of a socket, by name."""
    loopback = ("127.0.0.1", 0)
    found: dict[str, tuple[int, int, Any]] = {
        "tcp": (socket.AF_INET, socket.SOCK_STREAM, loopback),
        "udp": (socket.AF_INET, socket.SOCK_DGRAM, loopback),
    }
    if hasattr(socket, "AF_UNIX"):
        found["local"] = (socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "socket"))
    if sys.platform == "linux":
        found["abstract"] = (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{folder}")
    return found
