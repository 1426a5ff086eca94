"""Run every escape attempt under every layer and report what gets through.

A worker under one layer alone attempts what that layer is there to refuse, and a worker under all layers attempts
everything. Nothing is assumed of the machine: what is not tried is not claimed.
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
LOAD_REQUEST: dict[str, Any] = {
    "name": "attempts",
    "path": ATTEMPTS.name,
    "siblings": {},
    "forbids": [],
    "names": ["run_attempts"],
    "device": "cpu",
    "shared": False,
}
SPARE_THREADS = 4096  # that other processes may start until a worker counts them for its limit


@dataclass(frozen=True)
class LayerResult:
    """One layer by itself."""

    layer: Layer
    missing: str = ""  # why it cannot be had here
    escapes: str = ""  # what got through; "" is good
    observed: str = ""  # what was seen instead of tried


@dataclass(frozen=True)
class CombinedResult:
    """All layers of one command at once."""

    layers: tuple[str, ...]  # in force
    escapes: str = ""  # what got through; "" is good
    no_sandbox: str = ""  # why they are not in bubblewrap


class Selftest:
    """Try the layers with workers of both kinds; `prepare_selftest` starts them.

    `plain` starts workers as `learn check` does, `boxed` as `grader run` does.
    """

    def __init__(self, course: Course, plain: Launcher, boxed: Launcher, device: str, facts: Mapping[str, Any]) -> None:
        self.plain, self.boxed, self.device = plain, boxed, device
        self._policy, self._facts = policy_for(course, "cpu"), dict(facts)
        self._reasons = reasons_missing()

    def try_each_layer(self) -> Iterator[LayerResult]:
        """Try every layer by itself, in the order of LAYERS."""
        for layer in LAYERS:
            if layer.name == "container":
                yield LayerResult(layer, self._reasons["container"], observed=f"this runs in {in_container()}")
            elif layer.name == "namespaces":
                yield self._try_alone(layer, self.boxed, ())
            else:
                yield self._try_alone(layer, self.plain, (*NEEDED_FIRST.get(layer.name, ()), layer.name))

    def try_learn_check(self) -> CombinedResult:
        """Try all layers as `learn check` applies them."""
        return self._try_all(self.plain)

    def try_grader_run(self) -> CombinedResult:
        """Try all layers as `grader run` applies them. Raises IsolationError where it would."""
        result = self._try_all(self.boxed)
        accept_for("required")(result.layers)
        return result

    def _try_alone(self, layer: Layer, launcher: Launcher, layers: tuple[str, ...]) -> LayerResult:
        try:
            in_force, escapes = self._run_attempts(launcher, layers)
        except IsolationError as error:
            return LayerResult(layer, f"it cannot be put on: {error.what}")
        if layer.name in in_force:
            return LayerResult(layer, "", escapes[layer.name])
        return LayerResult(layer, self._why_missing(layer.name))

    def _why_missing(self, name: str) -> str:
        if name == "unprivileged-user" and drop_privileges.is_root():
            reason = drop_privileges.why_unavailable(self._policy["readable"])
            inside = "unprivileged-user" in self._run_attempts(self.boxed, (name,))[0]
            return f"{reason}{'; in bubblewrap it is in force' if inside else ''}"
        if name == "namespaces":
            return getattr(self.boxed, "no_sandbox", self._reasons[name])
        return self._reasons[name]

    def _try_all(self, launcher: Launcher) -> CombinedResult:
        layers, escapes = self._run_attempts(launcher, tuple(self._policy["layers"]))
        found = [escapes[name] for name in layers if escapes.get(name)]
        return CombinedResult(layers, "; ".join(found), getattr(launcher, "no_sandbox", ""))

    def _run_attempts(self, launcher: Launcher, layers: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Start a worker with these layers; return those that are in force, and what got through by layer."""
        facts = {**self._facts, "threads": (limits.tasks() or 0) + Policy.processes + SPARE_THREADS}
        with closing(launcher.lease({**self._policy, "layers": list(layers)})) as worker:
            reply = worker.request("load", **LOAD_REQUEST, source=ATTEMPTS.read_text("utf-8"))
            if "error" not in reply:
                reply = worker.request("call", target="run_attempts", args=[facts], kwargs={})
            if "value" not in reply:
                raise GraderError(f"The attempts on the isolation ended early: {reply.get('error')}")
            return worker.layers or (), reply["value"]


@contextmanager
def prepare_selftest(course: Course) -> Iterator[Selftest]:
    """Start workers of both kinds, and the files and sockets that they try to reach; stop all at the end."""
    with ExitStack() as stack:
        policy = policy_for(course, "cpu")
        boxed = start_launcher(course.arrays, policy, course.limits, sandbox=True)
        stack.callback(boxed.close)
        facts = stack.enter_context(_targets()) | {"memory": policy["memory_bytes"], "files": policy["open_files"]}
        plain, device = stack.enter_context(with_workers(course))
        yield Selftest(course, plain, boxed, device, facts)


@contextmanager
def _targets() -> Iterator[dict[str, Any]]:
    """Make a folder that every user may write in, a file in it, and sockets; no worker should reach any of them."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="selfattend-")))
        folder.chmod(0o777)
        secret = folder / "secret"
        secret.write_text("for nobody")
        secret.chmod(0o666)
        facts: dict[str, Any] = {"pid": os.getpid(), "folder": str(folder), "secret": str(secret)}
        for name, (family, kind, address) in _socket_addresses(folder).items():
            server = stack.enter_context(socket.socket(family, kind))
            server.bind(address)
            if kind == socket.SOCK_STREAM:
                server.listen()
            facts[name] = server.getsockname()[1] if isinstance(address, tuple) else address
        yield facts


def _socket_addresses(folder: Path) -> dict[str, tuple[int, int, Any]]:
    """Return family, kind and address of each socket to listen on, by name."""
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
