"""One process's own standing: raw system calls, its session, its death with its parent, who may look into it."""

from __future__ import annotations

import errno
import os
import sys
from functools import lru_cache

TYPE_CHECKING = False  # not from `typing`, which takes 2 ms to import
if TYPE_CHECKING:
    import ctypes

LINUX = sys.platform == "linux"

# linux/prctl.h
PR_SET_PDEATHSIG = 1
PR_GET_PDEATHSIG = 2
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39

_CLOSE_RANGE = 436  # the same number on every machine
_SIGKILL = 9

_fork_server: int | None = None


@lru_cache(maxsize=1)
def libc() -> ctypes.CDLL:
    """The C library of this process. Errors: OSError where there is none to load (Windows)."""
    import ctypes

    try:
        library = ctypes.CDLL(None, use_errno=True)
    except TypeError as cause:  # Windows has no "this process" as a library
        raise OSError(errno.ENOSYS, "no C library with system calls") from cause
    library.syscall.restype = ctypes.c_long
    return library


def call(number: int, *arguments: object) -> int:
    """Makes one system call by its number. Integers are passed as machine words. Errors: OSError with the errno."""
    import ctypes

    words = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return checked(libc().syscall(ctypes.c_long(number), *words))


def checked(result: int) -> int:
    """The result of a C call, or the OSError that it left behind."""
    import ctypes

    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def prctl(option: int, value: int = 0) -> int:
    """prctl(2) with one value. Errors: OSError."""
    import ctypes

    return checked(libc().prctl(option, *(ctypes.c_ulong(word) for word in (value, 0, 0, 0))))


def remember_fork_server() -> None:
    """Notes which process the workers will be children of, so that `detach` sees when it died before them."""
    global _fork_server
    _fork_server = os.getpid()


def detach() -> None:
    """Leaves the terminal's session, dies with the parent, and is closed to its own user's eyes.

    The death signal comes when the *thread* that made this process ends.
    Errors: OSError, also when the fork server has gone already.
    """
    if os.getsid(0) != os.getpid():
        os.setsid()
    os.umask(0o077)
    if LINUX:
        refuse_inspection()
        die_with_parent()
        if _fork_server not in (None, os.getpid(), os.getppid()):
            raise ProcessLookupError(errno.ESRCH, "the fork server died before its worker began")


def die_with_parent() -> None:
    """Asks for SIGKILL when the parent ends. A change of user clears this, so it is asked for again after one."""
    prctl(PR_SET_PDEATHSIG, _SIGKILL)


def refuse_inspection() -> None:
    """No process of the same user may trace this one, read its memory or take its descriptors. It leaves no core."""
    prctl(PR_SET_DUMPABLE, 0)


def forbid_new_privileges() -> None:
    """From here on no program that this process might start gains a right by its file (set-user-id and the like)."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def close_from(first: int) -> None:
    """Closes every descriptor from `first` on, whatever their number."""
    if LINUX:
        try:
            call(_CLOSE_RANGE, first, 0x7FFFFFFF, 0)
            return
        except OSError:  # before Linux 5.9
            pass
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def thread_count() -> int:
    """How many threads this process has, those outside Python included. Errors: OSError without a /proc."""
    with os.scandir("/proc/self/task") as threads:
        return sum(1 for _ in threads)
