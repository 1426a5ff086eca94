"""The escape attempts of `doctor`: this text is sent to a worker as a learner's file and runs with the worker's rights.

It imports nothing else of this program. `run_attempts(facts)` returns for each layer what got through, "" if all was
refused. The facts are what an attempt aims at:

    {"pid": the judge's, "tcp" and "udp": ports, "local" and "abstract": addresses, "folder": one that all may write in,
     "secret": a file in it, "memory": bytes, "files": how many, "threads": more than any limit of a worker}
"""

# an attempt is one system call, which pathlib would hide
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
TIMEOUT_SECONDS = 1.0


def run_attempts(facts: dict[str, Any]) -> dict[str, str]:
    """Run every attempt; return what got through by the layer that is there to refuse it."""
    return {
        "process-group": _check_process_group(),
        "limits": _take_memory(facts["memory"]) or _open_files(facts["files"]) or _start_threads(facts["threads"]),
        "no-new-privileges": _name_successes(
            {"gain rights by a program that it starts": lambda: _prctl(PR_GET_NO_NEW_PRIVS) == 0}
        ),
        "unprivileged-user": _name_successes(_use_root()),
        "landlock": _name_successes(_touch_files(facts)),
        "seccomp": _name_successes(_reach_outside(facts)),
        "namespaces": _name_successes(_leave_sandbox(facts)),
    }


def _name_successes(attempts: dict[str, Callable[[], object]]) -> str:
    """Name the attempts that were not refused."""
    names = [name for name, attempt in attempts.items() if _succeeds(attempt)]
    return f"it could {', '.join(names)}" if names else ""


def _succeeds(attempt: Callable[[], object]) -> bool:
    """Return False if the attempt raised a system error or found nothing."""
    try:
        answer = attempt()
        return answer is None or bool(answer)
    except (OSError, AttributeError):  # AttributeError: this system has no such call
        return False


def _prctl(option: int) -> int | None:
    """Ask Linux about this process; None if it does not answer."""
    answer = ctypes.CDLL(None).prctl(option, 0, 0, 0, 0) if sys.platform == "linux" else -1
    return None if answer < 0 else int(answer)


def _check_process_group() -> str:
    if hasattr(os, "getsid") and os.getsid(0) != os.getpid():
        return "it stayed in our session"
    if _prctl(PR_GET_DUMPABLE) == 1:
        return "another process of its user could look into it"
    if sys.platform == "linux":
        answer = ctypes.c_int(0)
        ctypes.CDLL(None).prctl(PR_GET_PDEATHSIG, ctypes.byref(answer), 0, 0, 0)
        return "" if answer.value == signal.SIGKILL else "it would outlive its parent"
    return ""


def _take_memory(allowed: int) -> str:
    try:
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        mmap.mmap(-1, allowed + mmap.PAGESIZE, flags=kind).close()
    except OSError:
        return ""
    return f"it took more memory than its {allowed >> 20} MiB"


def _open_files(allowed: int) -> str:
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


def _start_threads(allowed: int) -> str:
    if os.geteuid() == 0:  # the kernel holds no such limit against root
        return ""
    import resource  # Windows has none

    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]  # counted when it was set: others' tasks come and go
    if not 0 <= limit <= allowed:
        return f"it may start more than {allowed} threads"
    threading.stack_size(SMALL_STACK)
    enough, started = threading.Event(), 0
    try:
        while started <= limit:
            threading.Thread(target=enough.wait, args=(TIMEOUT_SECONDS,), daemon=True).start()
            started += 1
    except RuntimeError:  # "can't start new thread"
        return ""
    finally:
        enough.set()
    return f"it started more than the {limit} threads of its limit"


def _use_root() -> dict[str, Callable[[], object]]:
    return {
        "change its root folder": lambda: os.chroot("/"),
        "become root": lambda: os.setuid(0),
        "be root": lambda: os.geteuid() == 0,
    }


def _touch_files(facts: dict[str, Any]) -> dict[str, Callable[[], object]]:
    return {
        "read a file": lambda: _open(facts["secret"], os.O_RDONLY),
        "read /etc/passwd": lambda: _open("/etc/passwd", os.O_RDONLY),
        "list a folder": lambda: os.listdir(facts["folder"]),
        "change a file": lambda: _open(facts["secret"], os.O_WRONLY),
        "write a file": lambda: _write(f"{facts['folder']}/written"),
    }


def _open(path: str, flags: int) -> bool:
    os.close(os.open(path, flags))
    return True


def _write(path: str) -> bool:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(path)
    return True


def _reach_outside(facts: dict[str, Any]) -> dict[str, Callable[[], object]]:
    return _reach_network(facts) | {
        "send by UDP": lambda: _connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", facts["udp"])),
        "start a process": _fork,
        # the file does not exist: a filter refuses before the kernel looks for it
        "run a program": _run_program,
        "signal its parent": lambda: os.kill(os.getppid(), 0),
        "signal us": lambda: os.kill(facts["pid"], 0),
    }


def _reach_network(facts: dict[str, Any]) -> dict[str, Callable[[], object]]:
    local = [facts[kind] for kind in ("local", "abstract") if kind in facts]
    return {
        "reach us by TCP": lambda: _connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", facts["tcp"])),
        "reach us by a local socket": lambda: any(_succeeds(_connect_to(address)) for address in local),
    }


def _connect_to(address: str) -> Callable[[], bool]:
    return lambda: _connect(socket.AF_UNIX, socket.SOCK_STREAM, address)


def _connect(family: int, kind: int, address: Any) -> bool:
    with socket.socket(family, kind) as client:
        client.settimeout(TIMEOUT_SECONDS)
        client.connect(address)
        return True


def _fork() -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _run_program() -> bool:
    try:
        os.execv("/nonexistent/program", ["program"])
    except PermissionError:
        return False
    except FileNotFoundError:
        return True


def _leave_sandbox(facts: dict[str, Any]) -> dict[str, Callable[[], object]]:
    return _reach_network(facts) | {
        "find out that a file exists": lambda: os.stat(facts["secret"]),
        "write a file": lambda: _write(f"/tmp/written-by-{facts['pid']}"),
        "see other processes": lambda: [pid for pid in os.listdir("/proc") if pid.isdigit() and _is_a_stranger(pid)],
    }


def _is_a_stranger(pid: str) -> bool:
    """Return True for a process that is neither the sandbox's first one nor a child of that."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1]) not in (0, 1)
    except (FileNotFoundError, ProcessLookupError):  # it has ended since it was listed
        return False
