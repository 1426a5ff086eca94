"""Workers that lie: they answer in a thread of this process, and their replies are changed on the way."""

from __future__ import annotations

import math
import os
import random
import socket
import threading
from collections.abc import Callable
from typing import Any

from grader.judge.processes.connection import Worker
from grader.model import Limits
from grader.worker import wire
from grader.worker.arrays import pack, unpack
from grader.worker.operations import ModuleHost
from grader.worker.wire import Array, Handle, Opaque

Pieces = tuple  # of bytes, which are sent as they are
Lie = Callable[[str, dict[str, Any]], Any]  # of an operation and its true reply: plain data, or the pieces of a frame


def _array(dtype: str, *shape: int, kind: str = "torch") -> Array:
    return Array(kind, dtype, shape, bytes(math.prod(shape) * wire.ITEM_SIZES[dtype]), "cpu")


# What a reply may hold in any place: of every type, at the edges of what is let through and beyond.
# fmt: off
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 7, 2**62, -(2**62), 1.5, -0.0, 1e308, math.nan, math.inf, -math.inf,
    "", "passed", "x" * 5000, "\x1b[2J\r\x00", "\u202e", "raised", [], [[]], [None] * 50, [0.0] * 300, {}, {"a": 1}, (),
    (1, 2), ((((),),),), Handle(1), Handle(-5), Opaque("Tensor", "<script>"), Opaque("", "x" * 60_000),
    _array("float32"), _array("float32", 0), _array("float32", 2, 3), _array("float64", 3, 5), _array("float16", 3, 5),
    _array("bfloat16", 3, 5), _array("complex64", 3, 5), _array("complex128", 5, 5), _array("bool", 3, 5),
    _array("int64", 3, 5), _array("uint8", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), _array("int8", 300, 300),
    _array("float32", 3, 5, kind="numpy"), _array("float16", 3, 5, kind="numpy"), _array("bool", 2, kind="numpy"),
)
# fmt: on


def changed(value: Any, chance: random.Random, share: float = 0.15) -> Any:
    """Plain data with something in it exchanged, left out, doubled or put one deeper; often nothing."""
    if chance.random() < share:
        return _other(value, chance)
    if isinstance(value, dict):
        return {key: changed(item, chance, share) for key, item in value.items() if chance.random() > share / 4}
    if isinstance(value, list | tuple):
        return type(value)(changed(item, chance, share) for item in value)
    return value


def changed_values(reply: Any, chance: random.Random, share: float = 0.5) -> Any:
    """Change the values in a reply of the right form: what a call returned, a gradient, a parameter."""
    if not isinstance(reply, dict):
        return reply
    wrong = {key: changed(reply[key], chance, share) for key in ("value",) if key in reply}
    for key in ("grads", "state"):
        if isinstance(reply.get(key), dict):
            wrong[key] = {name: _bent(value, chance) for name, value in reply[key].items()}
    return reply | wrong


def _other(value: Any, chance: random.Random) -> Any:
    ways: tuple[Callable[[], Any], ...] = (
        lambda: chance.choice(VALUES),
        lambda: chance.choice(VALUES),
        lambda: [value],
        lambda: {"value": value},
        lambda: [value, value],
        lambda: _bent(value, chance),
    )
    return chance.choice(ways)()


def _bent(value: Any, chance: random.Random) -> Any:
    """Return an array with the same bytes in another form, or a number far off."""
    if isinstance(value, Array):
        dtype = chance.choice([name for name, size in wire.ITEM_SIZES.items() if size == wire.ITEM_SIZES[value.dtype]])
        shape = chance.choice([value.shape, value.shape[::-1], (1, *value.shape), (math.prod(value.shape),)])
        return Array(chance.choice(("torch", "numpy")) if dtype != "bfloat16" else "torch", dtype, shape, value.data)
    return -value if isinstance(value, int | float) else value


# Values of so many bytes, by their kind; first that of which Python's own objects would be largest.
HUGE: dict[str, Callable[[int], Any]] = {
    "bytes": lambda size: _array("int8", size),
    "a list of many": lambda size: [_array("int8", size // 300)] * 300,
    "a list of one": lambda size: [_array("int8", size)],
    "half numbers": lambda size: _array("float16", size // 2),
    "a row of numbers": lambda size: _array("float32", 1, size // 4),
    "numbers of numpy": lambda size: _array("float32", size // 4, kind="numpy"),
    "places without values": lambda size: _array("int8", size, 0),
    "places of numpy": lambda size: [_array("float32", 0, 1, size // 4, kind="numpy")] * 300,
    "a list of numbers": lambda size: [0.5] * 19_000,
    "a tuple": lambda size: (_array("int8", size // 2), [1.5] * 9_000),
    "names": lambda size: {f"n{number}": 1 for number in range(1_900)},
}


def enlarged(reply: Any, make: Callable[[int], Any], room: int, keys: tuple[str, ...]) -> Any:
    """Change a reply of the right form: what it holds under these keys becomes as large as there is room for."""
    if not isinstance(reply, dict):
        return reply
    present = [key for key in keys if reply.get(key) and reply[key] != [[], {}]]
    size = room // max(1, len(present))
    wrong: dict[str, Any] = {key: make(size) for key in present if key == "value"}
    for key in {"grads", "state"} & {*present}:
        wrong[key] = {name: _array("int8", size // len(reply[key])) for name in reply[key]}
    if "after" in present:
        wrong["after"] = [[make(size // len(reply["after"][0])) for _ in reply["after"][0]], {}]
    if "events" in present:
        wrong["events"] = [["step", {"p": _array("int8", size // 20)}]] * 20
    return reply | wrong


class LooseWorker(Worker):
    """Our end of a line that no process is at the other end of; that end is `theirs`."""

    def __init__(self, limits: Limits) -> None:
        ours, self.theirs = socket.socketpair()
        reading, self._printing = os.pipe()
        super().__init__(0, None, ours, reading, limits, lambda _pid: None)

    def kill(self) -> None:
        if self.alive:
            self.alive = False
            self.rpc.shutdown(socket.SHUT_RDWR)

    def close_output(self) -> None:
        """Close the other end of the pipe for what is printed."""
        if self._printing >= 0:
            os.close(self._printing)
        self._printing = -1

    def hang_up(self) -> None:
        """Close all other ends."""
        self.theirs.close()
        self.close_output()


class LyingWorker(LooseWorker):
    """Our end of the line to a thread that answers for `source`."""

    def __init__(self, source: str, limits: Limits, lie: Lie) -> None:
        super().__init__(limits)
        self._thread = threading.Thread(target=self._serve, args=(source, lie), daemon=True)
        self._thread.start()

    def _serve(self, source: str, lie: Lie) -> None:
        host, frames = ModuleHost({}), wire.FrameReader()
        try:
            wire.send(self.theirs, {"layers": []}, wire.REPLY)
            while True:
                request = frames.receive(self.theirs)
                operation = request["operation"]
                if operation == "load":
                    host = ModuleHost(_run(source))
                    request = {"operation": "names", "names": request["names"]}
                reply = lie(operation, pack(host.perform(unpack(request))))
                if isinstance(reply, dict):
                    reply = {"id": self._next_id, **reply}
                for piece in reply if isinstance(reply, Pieces) else wire.encode(reply, wire.REPLY):
                    self.theirs.sendall(piece)
        except (OSError, EOFError, wire.TooLarge):
            pass
        finally:
            self.hang_up()

    def kill(self) -> None:
        super().kill()
        self._thread.join(10)


def _run(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "lesson"}
    exec(compile(source, "lesson.py", "exec"), namespace)
    return namespace


class LyingLauncher:
    """Gives out lying workers, all for the same source."""

    def __init__(self, source: str, limits: Limits, lie: Lie) -> None:
        self.source, self.limits, self.lie = source, limits, lie

    def lease(self, _policy: Any = None) -> Worker:
        return LyingWorker(self.source, self.limits, self.lie)

    def fork_ahead(self) -> None:
        """Fork none: each worker is made when it is leased."""
