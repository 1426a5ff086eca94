"""What `doctor` has a worker try against its layers. Its text is sent to the worker as a learner's file would be: it
imports nothing of ours, and everything in it runs with the worker's rights.

`against(facts)` answers, for each layer, what got through: "" where all was refused. `facts` says where we are:

    {"pid": ours, "tcp" and "udp": ports, "local" and "abstract": addresses, "folder": one that all may write in,
     "secret": a file in it, "memory": bytes, "files": how many, "threads": how many the whole machine may have}
"""

# An attempt is one call to the system, not what pathlib makes of it.
# ruff: noqa: PTH108, PTH116, PTH123, PTH208

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS = 2, 3, 39
MAP_NORESERVE = 0x4000  # linux/mman.h; not in `mmap` before Python 3.13
SMALL_STACK = 64 << 10
SECONDS = 1.0


def against(facts: dict[str, Any]) -> dict[str, str]:
    """Every attempt, by the layer that is there to refuse it."""
    return {
        "process-group": _process_group(),
        "limits": _limits(facts),
        "no-new-privileges": _got_through(_privileges()),
        "unprivileged-user": _got_through(_as_root()),
        "landlock": _got_through(_files(facts)),
        "seccomp": _got_through(_outward(facts)),
        "namespaces": _got_through(_elsewhere(facts)),
    }


def _got_through(attempts: dict[str, Callable[[], object]]) -> str:
    """The names of those that were not refused."""
    through = [name for name, attempt in attempts.items() if _succeeds(attempt)]
    return f"it could {', '.join(through)}" if through else ""


def _succeeds(attempt: Callable[[], object]) -> bool:
    """Whether it did what it tried: not if the system raised an error, or if its answer is that there is nothing."""
    try:
        answer = attempt()
        return answer is None or bool(answer)
    except (OSError, AttributeError):  # AttributeError: this system has no such call
        return False


def _prctl(option: int) -> int | None:
    """What Linux says of this process; None if it does not say."""
    answer = ctypes.CDLL(None).prctl(option, 0, 0, 0, 0) if sys.platform == "linux" else -1
    return None if answer < 0 else int(answer)


def _process_group() -> str:
    if hasattr(os, "getsid") and os.getsid(0) != os.getpid():
        return "it stayed in our session"
    if _prctl(PR_GET_DUMPABLE) == 1:
        return "another process of its user could look into it"
    if sys.platform == "linux":
        answer = ctypes.c_int(0)
        ctypes.CDLL(None).prctl(PR_GET_PDEATHSIG, ctypes.byref(answer), 0, 0, 0)
        return "" if answer.value == signal.SIGKILL else "it would outlive its parent"
    return ""


def _limits(facts: dict[str, Any]) -> str:
    return _takes_memory(facts["memory"]) or _opens_files(facts["files"]) or _starts_threads(facts["threads"])


def _takes_memory(allowed: int) -> str:
    try:
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        mmap.mmap(-1, allowed + mmap.PAGESIZE, flags=kind).close()
    except OSError:
        return ""
    return f"it took more memory than its {allowed >> 20} MiB"


def _opens_files(allowed: int) -> str:
    opened: list[int] = []
    try:
        while len(opened) <= allowed:
            opened.extend(os.pipe())
    except OSError:
        return ""
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return f"it opened more than {allowed} files"


def _starts_threads(allowed: int) -> str:
    if os.geteuid() == 0:  # the kernel holds no such limit against root
        return ""
    threading.stack_size(SMALL_STACK)
    enough, started = threading.Event(), 0
    try:
        while started <= allowed:
            threading.Thread(target=enough.wait, args=(SECONDS,), daemon=True).start()
            started += 1
    except RuntimeError:  # "can't start new thread"
        return ""
    finally:
        enough.set()
    return f"it started more than {allowed} threads"


def _privileges() -> dict[str, Callable[[], object]]:
    return {"gain rights by a program that it starts": lambda: _prctl(PR_GET_NO_NEW_PRIVS) == 0}


def _as_root() -> dict[str, Callable[[], object]]:
    return {
        "change its root folder": lambda: os.chroot("/"),
        "become root": lambda: os.setuid(0),
        "be root": lambda: os.geteuid() == 0,
    }


def _files(facts: dict[str, Any]) -> dict[str, Callable[[], object]]:
    return {
        "read a file": lambda: _opened(facts["secret"], os.O_RDONLY),
        "read /etc/passwd": lambda: _opened("/etc/passwd", os.O_RDONLY),
        "list a folder": lambda: os.listdir(facts["folder"]),
        "change a file": lambda: _opened(facts["secret"], os.O_WRONLY),
        "write a file": lambda: _wrote(f"{facts['folder']}/written"),
    }


def _opened(path: str, flags: int) -> bool:
    os.close(os.open(path, flags))
    return True


def _wrote(path: str) -> bool:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(path)
    return True


def _outward(facts: dict[str, Any]) -> dict[str, Callable[[], object]]:
    return _network(facts) | {
        "send by UDP": lambda: _connected(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", facts["udp"])),
        "start a process": _forked,
        # The file is not there: a filter refuses before anybody looks for it.
        "run a program": _ran_a_program,
        "signal its parent": lambda: os.kill(os.getppid(), 0),
        "signal us": lambda: os.kill(facts["pid"], 0),
    }


def _network(facts: dict[str, Any]) -> dict[str, Callable[[], object]]:
    local = [facts[kind] for kind in ("local", "abstract") if kind in facts]
    return {
        "reach us by TCP": lambda: _connected(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", facts["tcp"])),
        "reach us by a local socket": lambda: any(_succeeds(_to(address)) for address in local),
    }


def _to(address: str) -> Callable[[], bool]:
    return lambda: _connected(socket.AF_UNIX, socket.SOCK_STREAM, address)


def _connected(family: int, kind: int, address: Any) -> bool:
    with socket.socket(family, kind) as client:
        client.settimeout(SECONDS)
        client.connect(address)
        return True


def _forked() -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _ran_a_program() -> bool:
    try:
        os.execv("/nonexistent/program", ["program"])
    except PermissionError:
        return False
    except FileNotFoundError:
        return True


def _elsewhere(facts: dict[str, Any]) -> dict[str, Callable[[], object]]:
    return _network(facts) | {
        "find out that a file exists": lambda: os.stat(facts["secret"]),
        "write a file": lambda: _wrote(f"/tmp/written-by-{facts['pid']}"),
        "see other processes": lambda: [pid for pid in os.listdir("/proc") if pid.isdigit() and _is_a_stranger(pid)],
    }


def _is_a_stranger(pid: str) -> bool:
    """Neither the first process of its own little machine, nor a child of that one."""
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1]) not in (0, 1)
