"""Control this process: system calls by number, its session, its death with its parent, who may inspect it."""

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
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38

_SIGKILL = 9

_fork_server: int | None = None


@lru_cache(maxsize=1)
def libc() -> ctypes.CDLL:
    """Load the C library of this process. Raises OSError if there is none (Windows)."""
    import ctypes

    try:
        library = ctypes.CDLL(None, use_errno=True)
    except TypeError as cause:  # Windows has no "this process" as a library
        raise OSError(errno.ENOSYS, "no C library with system calls") from cause
    library.syscall.restype = ctypes.c_long
    return library


def syscall(number: int, *arguments: object) -> int:
    """Make one system call; integers are passed as machine words. Raises OSError with the errno."""
    import ctypes

    words = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return check_result(libc().syscall(ctypes.c_long(number), *words))


def check_result(result: int) -> int:
    """Return the result of a C call, or raise the OSError that it left in errno."""
    import ctypes

    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def prctl(option: int, value: int = 0) -> int:
    """Call prctl(2) with one value. Raises OSError."""
    import ctypes

    return check_result(libc().prctl(option, *(ctypes.c_ulong(word) for word in (value, 0, 0, 0))))


def remember_fork_server() -> None:
    """Remember this process as the workers' parent, so that `detach` notices if it has died."""
    global _fork_server
    _fork_server = os.getpid()


def detach() -> None:
    """Leave the terminal's session, die with the parent, and refuse inspection by processes of the same user.

    The death signal comes when the parent's *thread* that forked this process ends. Raises OSError, also if the fork
    server has died already.
    """
    if os.getsid(0) != os.getpid():
        os.setsid()
    os.umask(0o077)
    refuse_inspection()
    if LINUX:
        die_with_parent()
        if _fork_server not in (None, os.getpid(), os.getppid()):
            raise ProcessLookupError(errno.ESRCH, "the fork server died before its worker began")


def die_with_parent() -> None:
    """Ask for SIGKILL when the parent ends. A change of user clears this: ask again afterwards."""
    prctl(PR_SET_PDEATHSIG, _SIGKILL)


def refuse_inspection() -> None:
    """Let no process of the same user trace this one, read its memory or take its descriptors; leave no core."""
    if LINUX:
        prctl(PR_SET_DUMPABLE, 0)


def thread_count() -> int:
    """Count the threads of this process, those outside Python too. Raises OSError without a /proc."""
    with os.scandir("/proc/self/task") as threads:
        return sum(1 for _ in threads)
