"""The limits of one process: memory, processor time, size of a file, number of open files, processes and threads."""

from __future__ import annotations

import importlib
import os
import sys

# Darwin takes the limit on address space and does not keep it.
MEMORY_IS_LIMITED = sys.platform == "linux"

# What no worker needs at all; the names are looked up because not every system has all of them.
_NOTHING_OF = ("RLIMIT_CORE", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_RTPRIO", "RLIMIT_NICE")


def why_not() -> str:
    """Why limits cannot be put on here; "" if they can."""
    if os.name != "posix":
        return "Windows has no limits that a process puts on itself"
    if not MEMORY_IS_LIMITED:
        return "this system does not enforce a memory limit; processor time, file size and open files are limited"
    return ""


def load() -> None:
    """Imports what `impose` needs, so that each worker need not (Windows has no such module)."""
    if os.name == "posix":
        importlib.import_module("resource")


def impose(memory_bytes: int | None, cpu_seconds: int, file_bytes: int, open_files: int, processes: int) -> None:
    """Limits this process for good, each limit counted from what it has used already.

    Past `cpu_seconds` comes SIGXCPU, which ends a process that does nothing about it; one second later SIGKILL.
    `processes` counts threads too. The kernel holds no such limit against root.
    Nothing is ever raised: a lower limit that holds already stays. Errors: OSError.
    """
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = round(used.ru_utime + used.ru_stime) + cpu_seconds  # the kernel counts whole seconds
    for name in _NOTHING_OF:
        if hasattr(resource, name):
            _lower(getattr(resource, name), 0, 0)
    if memory_bytes is not None and MEMORY_IS_LIMITED:
        room = _address_space() + memory_bytes
        _lower(resource.RLIMIT_AS, room, room)
    _lower(resource.RLIMIT_FSIZE, file_bytes, file_bytes)
    _lower(resource.RLIMIT_NOFILE, open_files, open_files)
    _lower(resource.RLIMIT_CPU, seconds, seconds + 1)
    running = tasks()
    if running is not None:
        _lower(resource.RLIMIT_NPROC, running + processes, running + processes)


def tasks() -> int | None:
    """How many processes and threads the whole machine has now; None where it does not say.

    The kernel counts those of one user, all over the machine; this is at least as many, and can be asked at once.
    """
    try:
        file = os.open("/proc/loadavg", os.O_RDONLY)
    except OSError:
        return None
    try:
        return int(os.read(file, 256).split()[3].partition(b"/")[2])
    finally:
        os.close(file)


def _lower(which: int, soft: int, hard: int) -> None:
    import resource

    _, ceiling = resource.getrlimit(which)
    if ceiling != resource.RLIM_INFINITY:
        hard = min(hard, ceiling)
    try:
        resource.setrlimit(which, (min(soft, hard), hard))
    except ValueError as cause:  # what Python makes of EINVAL and of some EPERM
        raise OSError(f"limit {which} cannot be set to {soft}: {cause}") from cause


def _address_space() -> int:
    """Bytes of address space that this process has now."""
    file = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        return int(os.read(file, 256).split()[0]) * os.sysconf("SC_PAGE_SIZE")
    finally:
        os.close(file)
