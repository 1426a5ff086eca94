"""Limit one process: memory, processor time, size of files, open files, processes and threads."""

from __future__ import annotations

import os
import sys

# Darwin accepts the limit on address space and does not enforce it.
MEMORY_IS_LIMITED = sys.platform == "linux"

# Limits set to 0, on those systems that have them.
_ZERO_LIMITS = ("RLIMIT_CORE", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_RTPRIO", "RLIMIT_NICE")


def why_unavailable() -> str:
    """Say why limits cannot be applied here; "" if they can."""
    if os.name != "posix":
        return "Windows has no limits that a process puts on itself"
    if not MEMORY_IS_LIMITED:
        return "this system does not enforce a memory limit; processor time, file size and open files are limited"
    return ""


def apply(memory_bytes: int | None, cpu_seconds: int, file_bytes: int, open_files: int, processes: int) -> None:
    """Limit this process for good, counting from what it has used already. Raises OSError.

    After `cpu_seconds` comes SIGXCPU, which ends a process that does not handle it; one second later SIGKILL.
    `processes` counts threads too; the kernel does not enforce it for root. No limit is ever raised.
    """
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = round(used.ru_utime + used.ru_stime) + cpu_seconds  # the kernel counts whole seconds
    for name in _ZERO_LIMITS:
        if hasattr(resource, name):
            _lower(getattr(resource, name), 0, 0)
    if memory_bytes is not None and MEMORY_IS_LIMITED:
        pages = int(_read_fields("/proc/self/statm")[0])  # of address space, now
        address_space = pages * os.sysconf("SC_PAGE_SIZE") + memory_bytes
        _lower(resource.RLIMIT_AS, address_space, address_space)
    _lower(resource.RLIMIT_FSIZE, file_bytes, file_bytes)
    _lower(resource.RLIMIT_NOFILE, open_files, open_files)
    _lower(resource.RLIMIT_CPU, seconds, seconds + 1)
    running = tasks()
    if running is not None:
        _lower(resource.RLIMIT_NPROC, running + processes, running + processes)


def tasks() -> int | None:
    """Count the processes and threads of the whole machine; None if it does not say.

    The kernel counts those of one user for its limit; this is at least as many, and cheap to read.
    """
    try:
        return int(_read_fields("/proc/loadavg")[3].partition(b"/")[2])
    except OSError:
        return None


def _lower(which: int, soft: int, hard: int) -> None:
    import resource

    _, ceiling = resource.getrlimit(which)
    if ceiling != resource.RLIM_INFINITY:
        hard = min(hard, ceiling)
    try:
        resource.setrlimit(which, (min(soft, hard), hard))
    except ValueError as cause:  # Python's for EINVAL and some EPERM
        raise OSError(f"limit {which} cannot be set to {soft}: {cause}") from cause


def _read_fields(path: str) -> list[bytes]:
    """Read the first line of a small file in /proc without pathlib, which each worker would pay for."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 256).split()
    finally:
        os.close(file)
