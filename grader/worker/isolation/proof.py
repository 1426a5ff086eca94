"""Tries the layers: can they be put on here, and do they refuse what they are there to refuse?"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable

from grader.worker.isolation import LAYERS, Policy, apply, landlock, limits, process, seccomp, user

_PATIENCE_S = 10.0
_NOBODY = 65534
_NO_FORK = "this system starts no process by fork, so a worker cannot give up its rights"

# A file that everybody may read and no worker has any use for.
_FORBIDDEN_FILES = ("/etc/passwd", "/etc/group", "/proc/version")

# linux/mman.h; not in `mmap` before Python 3.13
_MAP_NORESERVE = 0x4000


def available() -> dict[str, str]:
    """See the package."""
    if not hasattr(os, "fork"):
        return dict.fromkeys(LAYERS, _NO_FORK)
    reasons = {
        "process-group": "",
        "limits": limits.why_not(),
        "no-new-privileges": "",
        "landlock": landlock.why_not(),
        "seccomp": seccomp.why_not(),
        "unprivileged-user": _why_not_unprivileged(None, (os.__file__,)),
    }
    tried = _in_a_child(_try_each)
    return {layer: reasons[layer] or tried.get(layer, "") or tried.get("child", "") for layer in LAYERS}


def prove(policy: Policy) -> dict[str, str]:
    """See the package."""
    reasons = available()
    if not hasattr(os, "fork"):
        return reasons
    if user.is_root():
        reasons["unprivileged-user"] = _why_not_unprivileged(policy.uid, policy.readable)
    found = _in_a_child(lambda: _attempts(policy))
    return {layer: _finding(layer, policy, reasons, found) for layer in LAYERS}


def _finding(layer: str, policy: Policy, reasons: dict[str, str], found: dict[str, str]) -> str:
    if "child" in found:
        return found["child"]
    if layer not in policy.layers:
        return "not asked for" + (f": {found[layer]}" if found[layer] else "")
    return reasons[layer] or found[layer]


def _why_not_unprivileged(uid: int | None, readable: tuple[str, ...]) -> str:
    if not user.is_root():
        return ""
    return user.why_not_become(_NOBODY if uid is None else uid, readable)


def _try_each() -> dict[str, str]:
    """Puts on what only a try can show; the last that fails does not hide the others."""
    steps: dict[str, Callable[[], None]] = {
        "process-group": process.detach,
        "no-new-privileges": _try_no_new_privileges,
        "landlock": lambda: landlock.restrict(landlock.ruleset((), ())),
        "seccomp": lambda: seccomp.install(seccomp.program(os.getpid(), writes=False)),
    }
    failures = {}
    for layer, step in steps.items():
        try:
            step()
        except OSError as error:
            failures[layer] = f"it cannot be put on here: {error.strerror or error}"
    return failures


def _try_no_new_privileges() -> None:
    if not process.LINUX:
        raise OSError(errno.ENOSYS, "only Linux has it")
    process.forbid_new_privileges()


def _attempts(policy: Policy) -> dict[str, str]:
    """In the child: under the policy, one attempt or more against each layer."""
    parent = os.getppid()
    apply(policy)
    return {
        "process-group": _stays_in_the_group(),
        "limits": _takes_too_much(policy),
        "no-new-privileges": _may_gain_rights(),
        "landlock": _reads_a_file(policy.readable),
        "seccomp": _reaches_out(parent),
        "unprivileged-user": _has_privileges(),
    }


def _stays_in_the_group() -> str:
    if os.getsid(0) != os.getpid():
        return "it stayed in the session of its parent"
    if process.LINUX:
        import ctypes

        answer = ctypes.c_int()
        process.checked(process.libc().prctl(process.PR_GET_PDEATHSIG, ctypes.byref(answer), 0, 0, 0))
        if answer.value != signal.SIGKILL:
            return "it would outlive its parent"
    return ""


def _takes_too_much(policy: Policy) -> str:
    import mmap  # imported by `_in_a_child` before the rights went

    if policy.memory_bytes is not None and process.LINUX:
        try:
            kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
            mmap.mmap(-1, policy.memory_bytes + mmap.PAGESIZE, flags=kind).close()
            return f"it took more memory than its {policy.memory_bytes} bytes"
        except OSError:
            pass
    return _opens_too_many(policy.open_files)


def _opens_too_many(allowed: int) -> str:
    opened: list[int] = []
    try:
        while len(opened) <= allowed:
            opened.extend(os.pipe())
        return f"it opened more than {allowed} files"
    except OSError:
        return ""
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _may_gain_rights() -> str:
    if not process.LINUX:
        return "only Linux has it"
    return "" if process.prctl(process.PR_GET_NO_NEW_PRIVS) == 1 else "a program it starts could gain rights"


def _reads_a_file(readable: tuple[str, ...]) -> str:
    for path in _FORBIDDEN_FILES:
        if path not in readable:
            try:
                os.close(os.open(path, os.O_RDONLY))
                return f"it read {path}"
            except (PermissionError, FileNotFoundError):
                continue
    return ""


def _reaches_out(parent: int) -> str:
    through = [name for name, attempt in _outward(parent).items() if not _is_refused(attempt)]
    return f"it could {', '.join(through)}" if through else ""


def _outward(parent: int) -> dict[str, Callable[[], object]]:
    import socket  # imported by `_in_a_child` before the rights went

    return {
        "open a socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
        "start a process": _fork_and_reap,
        # The file is not there: a filter refuses before anybody looks for it.
        "run a program": lambda: os.execv("/nonexistent/program", ["program"]),
        "signal its parent": lambda: os.kill(parent, 0),
    }


def _is_refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _fork_and_reap() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _has_privileges() -> str:
    if user.is_root():
        return "it is still root"
    if process.LINUX and any(user.capabilities()):
        return "it still has capabilities"
    return ""


def _in_a_child(work: Callable[[], dict[str, str]]) -> dict[str, str]:
    """What `work` returns in a forked child, which is reaped; {"child": what went wrong} if it returned nothing."""
    import mmap
    import socket

    del mmap, socket  # only so that the child has them: it may not be able to import them later
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        # Python >= 3.12 warns when there are threads. The child runs a few system calls and nothing that takes a lock.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _answer(writer, work)
    os.close(writer)
    try:
        text = _read_until_end(reader)
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)  # it has answered or is late; a child that has ended is not reaped yet
        os.waitpid(child, 0)
    return json.loads(text) if text else {"child": "the process that tried it ended without an answer"}


def _answer(writer: int, work: Callable[[], dict[str, str]]) -> None:
    """Never returns. Whatever happens in the child, its parent gets one JSON object or nothing."""
    process.remember_zygote()  # this child is nobody's worker, so no zygote has to be alive
    try:
        try:
            answer = work()
        except Exception as error:
            answer = {"child": f"the layers could not be put on: {error}"}
        os.write(writer, json.dumps(answer).encode())
    finally:
        os._exit(0)


def _read_until_end(reader: int) -> bytes:
    """What the child writes until it ends, or until patience does."""
    text = b""
    deadline = time.monotonic() + _PATIENCE_S
    while select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(reader, 1 << 16)
        if not part:
            break
        text += part
    return text
