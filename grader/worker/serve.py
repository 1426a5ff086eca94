"""What a worker does with its life: put on its limits, load one learner's source, answer calls until the end."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

from grader.worker import isolation, wire
from grader.worker.acts import Actor, describe_error
from grader.worker.arrays import pack, unpack
from grader.worker.loader import load

RPC_FD = 3


def become_worker(rpc_fd: int, output_fd: int, policy: dict[str, Any]) -> None:
    """Arrange the descriptors, give up rights, serve, exit. Never returns."""
    code = 1
    try:
        _arrange_descriptors(rpc_fd, output_fd)
        os.environ.clear()
        in_force = isolation.apply(isolation.Policy(**{k: _tuple(v) for k, v in policy.items()}))
        sock = socket.socket(fileno=RPC_FD)
        wire.send(sock, {"layers": list(in_force)})
        serve(sock)
        code = 0
    except (EOFError, OSError, wire.ProtocolError):
        pass  # the judge went away, or a layer failed: an unprotected learner must not run
    finally:
        sys.stdout.flush()
        os._exit(code)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _arrange_descriptors(rpc_fd: int, output_fd: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    # first out of the way, then into place: the numbers may overlap
    rpc, output = os.dup(rpc_fd), os.dup(output_fd)
    high = max(rpc, output, null, 10) + 1
    rpc_high, output_high = high, high + 1
    os.dup2(rpc, rpc_high)
    os.dup2(output, output_high)
    os.dup2(null, 0)
    os.dup2(output_high, 1)
    os.dup2(output_high, 2)
    os.dup2(rpc_high, RPC_FD)
    os.closerange(RPC_FD + 1, 65536)


def serve(sock: socket.socket) -> None:
    """Answer requests until the judge closes the line (EOFError)."""
    actor = Actor({})
    while True:
        request = wire.receive(sock)
        if request["act"] == "load":
            actor, reply = _load(request)
        else:
            reply = _answer(actor, request)
        _flush()
        wire.send(sock, {"id": request["id"], **reply})


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # a learner may have replaced or closed it
            continue


def _load(request: dict[str, Any]) -> tuple[Actor, dict[str, Any]]:
    files = frozenset({request["path"], *(path for path, _ in request["siblings"].values())})
    try:
        namespace = load(request["name"], request["path"], request["source"], request["siblings"], request["seed"])
    except BaseException as error:  # whatever the module's top level raises, SystemExit too
        return Actor({}), {"error": describe_error(error, files)}
    actor = Actor(namespace, tuple(request["forbids"]), files)
    return actor, actor.act({"act": "names", "names": request["names"]})


def _answer(actor: Actor, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return pack(actor.act(unpack(request, request.get("device"))))  # type: ignore[no-any-return]
    except BaseException as error:  # packing touches objects that a learner made
        return {"error": describe_error(error, actor.files)}
