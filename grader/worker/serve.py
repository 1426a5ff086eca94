"""What a worker does with its life: put on its limits, load one learner's source, answer calls until the end."""

from __future__ import annotations

import os
import socket
import sys
import warnings
from typing import Any

from grader.worker import isolation, wire
from grader.worker.arrays import pack, unpack
from grader.worker.loader import load
from grader.worker.operations import Actor, describe_error
from grader.worker.process_state import footprint, unchanged

RPC_FD = 3
RULES_FD = 4


def become_worker(rpc_fd: int, output_fd: int, policy: isolation.Policy, foresight: isolation.Foresight) -> None:
    """Arrange the descriptors, give up rights, serve, exit. Never returns."""
    code = 1
    try:
        foresight = _arrange_descriptors(rpc_fd, output_fd, foresight)
        os.environ.clear()
        sock = socket.socket(fileno=RPC_FD)
        try:
            in_force = isolation.apply(policy, foresight)
        except (OSError, ValueError) as error:  # half protected is unprotected: no learner's code runs
            wire.send(sock, {"refused": str(error)})
            raise EOFError from error
        wire.send(sock, {"layers": list(in_force)})
        serve(sock)
        code = 0
    except (EOFError, OSError, wire.ProtocolError):
        pass  # the judge went away
    finally:
        sys.stdout.flush()
        os._exit(code)


def read_policy(values: dict[str, Any]) -> isolation.Policy:
    """A policy that came as JSON, where a tuple is a list."""
    arguments: dict[str, Any] = {}
    for key, value in values.items():
        arguments[key] = tuple(value) if isinstance(value, list) else value
    return isolation.Policy(**arguments)


def _arrange_descriptors(rpc_fd: int, output_fd: int, foresight: isolation.Foresight) -> isolation.Foresight:
    """0 reads nothing, 1 and 2 are the pipe for what is printed, 3 the line to the judge; all else is closed, but for
    the Landlock rules, which are used up when the rights are given up."""
    null = os.open(os.devnull, os.O_RDONLY)
    wanted = {0: null, 1: output_fd, 2: output_fd, RPC_FD: rpc_fd}
    if foresight.rules is not None:
        wanted[RULES_FD] = foresight.rules
    # first out of the way, then into place: the numbers may overlap
    away = max(*wanted, *wanted.values()) + 1
    for target, fd in wanted.items():
        os.dup2(fd, away + target)
    for target in wanted:
        os.dup2(away + target, target)
    os.closerange(max(wanted) + 1, 65536)
    return isolation.Foresight(RULES_FD if RULES_FD in wanted else None, foresight.stays_root)


def serve(sock: socket.socket) -> None:
    """Answer requests until the judge closes the line (EOFError)."""
    # a warning of torch is shown as what it says: the file and line would be ours, or torch's own
    warnings.formatwarning = lambda message, category, *_more, **_named: f"{category.__name__}: {message}\n"
    actor, frames = Actor({}), wire.Frames()
    before = None
    while True:
        request = frames.receive(sock)
        if request["act"] == "load":
            actor.end()
            actor, now = Actor({}), footprint() if request["shared"] else {}
            if before is not None and not unchanged(before, now):
                reply: dict[str, Any] = {"unclean": True}
            else:
                before = before or now
                actor, reply = _load(request)
        elif request["act"] == "ahead":
            actor.forget()
            reply = {"replies": [_story(actor, asked) for asked in request["asked"]]}
        else:
            reply = _answer(actor, request)
        _flush()
        _send(sock, {"id": request["id"], **reply}, actor.files)


def _send(sock: socket.socket, reply: dict[str, Any], files: frozenset[str]) -> None:
    """Send a reply; one that cannot be sent, for its size or for what a learner put into it, is an error of theirs."""
    try:
        pieces = wire.pieces(reply, wire.REPLY)
    except Exception as error:
        described = describe_error(error, files)
        pieces = wire.pieces({"id": reply["id"], "error": described}, wire.REPLY)
    for piece in pieces:
        sock.sendall(piece)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # a learner may have replaced or closed it
            continue


def _load(request: dict[str, Any]) -> tuple[Actor, dict[str, Any]]:
    files = frozenset({request["path"], *(path for path, _ in request["siblings"].values())})
    try:
        namespace = load(*(request[key] for key in ("name", "path", "source", "siblings", "seed", "device")))
    except BaseException as error:  # whatever the module's top level raises, SystemExit too
        return Actor({}), {"error": describe_error(error, files)}
    actor = Actor(namespace, tuple(request["forbids"]), files)
    return actor, actor.act({"act": "names", "names": request["names"]})


def _story(actor: Actor, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Several requests at once, of objects that are made for them. After an error nothing more is called: whoever asks
    may then look what has become of them, but seldom goes on."""
    actor.forget()
    replies: list[dict[str, Any]] = []
    for request in asked:
        if request["act"] in ("call", "build") and any("error" in reply for reply in replies):
            break
        replies.append(_answer(actor, request))
    return replies


def _answer(actor: Actor, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return pack(actor.act(unpack(request, request.get("device"))))  # type: ignore[no-any-return]
    except BaseException as error:  # packing touches objects that a learner made
        return {"error": describe_error(error, actor.files)}
