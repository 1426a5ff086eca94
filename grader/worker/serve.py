"""Worker main loop: apply limits, load one submission, answer requests until the judge disconnects."""

from __future__ import annotations

import gc
import os
import select
import socket
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn

from grader.worker import isolation, wire
from grader.worker.arrays import pack, unpack
from grader.worker.loader import hide_unreadable as hide_unreadable
from grader.worker.loader import load, seed_generators
from grader.worker.models import factories
from grader.worker.operations import ModuleHost, Reply, Request, describe_error
from grader.worker.process_state import is_unchanged, read_process_state
from grader.worker.warm_up import warm_up
from grader.worker.watch.audit_hook import guard_watch
from grader.worker.watch.call_monitor import AUTOGRAD, ForbiddenCall, changed_torch
from grader.worker.watch.call_record import CallRecord
from grader.worker.watch.cut_off import cut_off
from grader.worker.watch.own_lookups import OwnLookups
from grader.worker.watch.watched_import import CallsForbidden, WatchedImport

RPC_FD = 3
RULES_FD = 4
MAX_FD = 65536


def run_worker(
    rpc_fd: int,
    output_fd: int,
    policy: isolation.Policy,
    prepared: isolation.PreparedPolicy,
    warm_for: Sequence[str] | None = None,
) -> None:
    """Arrange the descriptors, warm up if nobody waits, give up rights, serve, exit. Never returns.

    Args:
        warm_for: What the lesson forbids that is likely to come; None: do not warm up.
    """
    code = 1
    try:
        prepared = _arrange_descriptors(rpc_fd, output_fd, prepared)
        os.environ.clear()
        sock = socket.socket(fileno=RPC_FD)
        if warm_for is not None and not select.select([sock], [], [], 0)[0]:
            warm_up(tuple(warm_for))
        try:
            in_force = isolation.apply(policy, prepared)
        except (OSError, ValueError) as error:  # half protected is unprotected: no learner's code runs
            wire.send(sock, {"refused": str(error)})
            raise EOFError from error
        wire.send(sock, {"layers": list(in_force)})
        hide_modules()
        sys.breakpointhook = cut_off()(_refuse_breakpoint)
        factories.progress_fd = sys.stdout.fileno()
        serve(sock)
        code = 0
    except (EOFError, OSError, wire.ProtocolError):
        pass  # the judge disconnected
    finally:
        sys.stdout.flush()
        os._exit(code)


def _refuse_breakpoint(*_arguments: object, **_named: object) -> NoReturn:
    """Raise an error in place of the debugger, which would run whatever text `sys.stdin` gives."""
    raise RuntimeError("breakpoint() stops nowhere here")


def hide_modules() -> None:
    """Take our modules out of `sys.modules`: what is imported or patched under their names is no longer in use."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("grader", "__mp_main__")]:
        del sys.modules[name]  # the other is the main program's second name
    sys.modules["__main__"] = ModuleType("__main__")


def read_policy(values: dict[str, Any]) -> isolation.Policy:
    """Read a policy from JSON, where a tuple is a list."""
    arguments: dict[str, Any] = {}
    for key, value in values.items():
        arguments[key] = tuple(value) if isinstance(value, list) else value
    return isolation.Policy(**arguments)


def _arrange_descriptors(rpc_fd: int, output_fd: int, prepared: isolation.PreparedPolicy) -> isolation.PreparedPolicy:
    """Set up the worker's descriptors and close all others.

    0 reads nothing, 1 and 2 are the pipe for printed output, 3 is the line to the judge; the Landlock rules are closed
    when they are applied.
    """
    null = os.open(os.devnull, os.O_RDONLY)
    wanted = {0: null, 1: output_fd, 2: output_fd, RPC_FD: rpc_fd}
    if prepared.rules is not None:
        wanted[RULES_FD] = prepared.rules
    # first out of the way, then into place: the numbers may overlap
    away = max(*wanted, *wanted.values()) + 1
    for target, fd in wanted.items():
        os.dup2(fd, away + target)
    for target in wanted:
        os.dup2(away + target, target)
    os.closerange(max(wanted) + 1, MAX_FD)
    for name in ("stdout", "stderr"):
        _renew_stream(name)
    return isolation.PreparedPolicy(RULES_FD if RULES_FD in wanted else None, prepared.root_reason)


def _renew_stream(name: str) -> None:
    """Make a stream anew as Python does, for a pipe: the one made for another file believes that it can seek."""
    old = getattr(sys, name)
    lines = 1 if old.line_buffering else -1
    new: Any = open(old.fileno(), "w", lines, old.encoding, old.errors, newline="\n", closefd=False)  # noqa: SIM115
    new.buffer.raw.name = old.name
    setattr(sys, name, new)
    setattr(sys, f"__{name}__", new)


def serve(sock: socket.socket) -> None:
    """Answer requests until the judge closes the line (EOFError)."""
    # show what a warning of torch says, not the file and line, which would be this program's or torch's
    warnings.formatwarning = "{1.__name__}: {0}\n".format  # leads to nothing of ours, as a function would
    host, frames = ModuleHost({}), wire.FrameReader(decode=wire.decode_trusted)
    before = None
    while True:
        request = frames.receive(sock)
        bounds = wire.reply_bounds(request["room"], frames.taken)
        if request["operation"] == "load":
            host.close()
            host, now = ModuleHost({}), read_process_state() if request["shared"] else {}
            if before is not None and not is_unchanged(before, now):
                reply: Reply = {"unclean": True}
            else:
                before = before or now
                host, reply = _load(request)
                if "found" in reply:
                    reply |= _answer_sequences(host, request, bounds)
        elif request["operation"] == "batch":
            reply = _answer_sequences(host, request, bounds)
        else:
            reply = _answer(host, request, bounds)
        _flush()
        _send(sock, {"id": request["id"], **reply}, host.files, bounds)


def _send(sock: socket.socket, reply: Reply, files: frozenset[str], bounds: wire.Bounds) -> None:
    """Send a reply; if it cannot be sent, for its size or its content, send that as the learner's error."""
    try:
        pieces = wire.frame_pieces(reply, bounds)
    except Exception as error:
        pieces = wire.frame_pieces({"id": reply["id"], "error": describe_error(error, files)}, bounds)
    for piece in pieces:
        sock.sendall(piece)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # a learner may have replaced or closed it
            continue


def _load(request: Request) -> tuple[ModuleHost, Reply]:
    name, path, source, siblings = (request[key] for key in ("name", "path", "source", "siblings"))
    forbids = tuple(request["forbids"])
    without = {(file, line): called for file, line, called in request.get("without", [])}
    files, sources = map(frozenset, zip((path, source), *siblings.values(), strict=True))
    host = ModuleHost({}, forbids, files)
    # what is called here can be kept for later: a table of it, a trace
    is_watched = forbids and (AUTOGRAD in forbids or not request.get("runs_nothing", False))
    importing = WatchedImport(forbids, without, host.blocker.seen) if is_watched else None
    (gc.disable if importing else gc.enable)()  # a lesson before this one may have left it off
    passed: list[str] = []
    guard_watch(files, passed if forbids else None)
    lookups = OwnLookups(forbids, host.blocker.seen, passed) if forbids else None
    reply: Reply = {}
    try:
        is_traced = request.get("watched", False)
        host.namespace = load(name, path, source, siblings, request["device"], is_traced, importing, lookups)
    except CallsForbidden as refused:
        reply = {"calls": list(refused.args)}
    except BaseException as error:  # whatever the module's top level raises, SystemExit too
        reply = {"error": describe_error(error, files)}
    if forbids and not reply and (name := changed_torch() or host.blocker.lifted()):
        passed.append(name)
    if not reply and (passed := [*passed, *host.blocker.seen]):  # and whatever it raised was caught
        reply = {"error": describe_error(ForbiddenCall(passed[0]), files)}
    if reply:
        host.close()
        return ModuleHost({}), reply
    if AUTOGRAD not in forbids:
        gc.enable()
    guard_watch(files, host.blocker.seen if forbids else None)
    if lookups:
        lookups.doors = host.blocker.seen
    host.keeps_garbage = bool(forbids)
    host.draws_by_torch_alone = not any("numpy" in text or "random" in text for text in sources)
    return host, host.perform({"operation": "names", "names": request["names"]})


def _answer_sequences(host: ModuleHost, request: Request, bounds: wire.Bounds) -> Reply:
    """Answer sequences of requests; the replies to each are a frame, which the judge need not decode.

    A frame that cannot be sent is empty. They come for code without side effects alone: its calls are only noted. If
    one may be forbidden the reply is "suspect" and nothing else: all has to be asked again and watched, by a process
    that has not been asked before, where nothing can have been kept from the first time.
    """
    sequences = request.get("sequences", [])
    for requests, seed in zip(sequences, request.get("seeds", []), strict=False):
        for first in requests[:1]:
            first["seed"] = seed
    host.record = record = CallRecord() if host.forbids else None
    frames = _answer_each(host, sequences, bounds)
    host.record = None
    return {"suspect": True} if record and record.may_hold(host.forbids) else {"replies": frames}


def _answer_each(host: ModuleHost, sequences: list[list[Request]], bounds: wire.Bounds) -> list[wire.Array]:
    frames, left = [], bounds.body
    for requests in sequences:
        replies = _answer_sequence(host, requests, bounds)
        record, host.record = host.record, None
        if record and any("error" in reply for reply in replies):  # watched, a call may end in another error
            replies = _answer_sequence(host, requests, bounds)
        host.record = record
        try:
            frame = b"".join(wire.encode({"replies": replies}, bounds))
        except Exception:  # as in `_send`
            frame = b""
        frame = frame if len(frame) <= left else b""
        left -= len(frame)
        frames.append(wire.Array("numpy", "uint8", (len(frame),), frame))
    host.forget_objects()
    return frames


def _answer_sequence(host: ModuleHost, requests: list[Request], bounds: wire.Bounds) -> list[Reply]:
    """Answer requests that share the objects they make.

    After an error that the reference does not give only questions about the objects are answered: a check seldom calls
    anything more then.
    """
    host.forget_objects()
    replies: list[Reply] = []
    for request in requests:
        errors = sum("error" in reply for reply in replies)
        if request["operation"] in ("call", "build") and errors > request.get("expects", 0):
            break
        replies.append(_answer(host, request, bounds))
    return replies


def _answer(host: ModuleHost, request: Request, bounds: wire.Bounds) -> Reply:
    forbidden: list[str] = []
    try:
        if "seed" in request:
            seed_generators(request.get("device", "cpu"), request["seed"], host.draws_by_torch_alone)
        with host.watching(forbidden):
            asked = unpack(request, request.get("device"))  # lives until the answer is bytes: code could wait for that
        reply = host.perform(asked)
        with host.watching(forbidden):
            reply = pack(reply, bounds)
    except BaseException as error:  # packing touches objects that a learner made
        reply = {"error": describe_error(error, host.files)}
    try:
        return host.refuse(forbidden, reply)
    finally:
        if host.keeps_garbage and AUTOGRAD not in host.forbids:  # there, what garbage does at its end may be kept
            gc.enable()
