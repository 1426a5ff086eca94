"""A seccomp filter: which system calls a process may still make, some by their arguments (seccomp(2)).

It is a list of what is allowed, so that calls which a newer kernel adds are refused without this file knowing them.
A refused call answers EPERM, and the code that made it sees an ordinary PermissionError.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from functools import lru_cache

from grader.worker.isolation import process, syscall_numbers

# linux/audit.h: what the kernel calls the machine whose calls a process makes
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000  # set in the numbers of x86-64's second, 32-bit table

# linux/seccomp.h
_SET_MODE_FILTER, _GET_ACTION_AVAIL = 1, 2
KILL, ERRNO, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
REFUSED = ERRNO | errno.EPERM
UNKNOWN = ERRNO | errno.ENOSYS

# linux/filter.h; the layout of what a filter looks at is struct seccomp_data: number, machine, address, six arguments
LOAD, EQUAL, GREATER_EQUAL, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
AT_NUMBER, AT_MACHINE, AT_ARGUMENTS = 0, 4, 16

# Allowed whatever their arguments are.
_ALWAYS = (
    "read", "write", "readv", "writev", "pread64", "pwrite64", "lseek", "close", "close_range", "dup", "dup2", "dup3",
    "pipe", "pipe2", "fstat",
    "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
    "getdents64", "getcwd",
    "brk", "mmap", "munmap", "mremap", "mprotect", "madvise",
    "poll", "ppoll", "select", "pselect6", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2",
    "recvfrom", "recvmsg", "sendto", "sendmsg", "shutdown", "getsockname", "getpeername", "getsockopt",
    "futex", "set_robust_list", "rseq", "sched_yield", "sched_getaffinity", "getcpu", "exit", "exit_group",
    "restart_syscall",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend",
    "sigaltstack", "pause",
    "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "times", "getitimer",
    "setitimer", "alarm",
    "getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
    "getpgid", "getpgrp", "getsid",
    "getrusage", "getrlimit", "uname", "sysinfo", "getrandom", "umask", "capget",
)  # fmt: skip

# Only where there is a place to write, which Landlock then confines.
_CHANGES = (
    "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2",
    "ftruncate", "fallocate", "fsync", "fdatasync",
)  # fmt: skip

# "No such call" rather than "not permitted": the C library then takes the older call, whose arguments can be seen.
_OLDER_INSTEAD = ("clone3",)

# One condition on an argument: (which, mask, values); it holds when argument & mask is one of the values.
# Only the low 32 bits are compared: each of these arguments is an int to the kernel, which ignores the rest.
Condition = tuple[int, int, tuple[int, ...]]
_WORD = 0xFFFFFFFF

_O_ACCMODE, _O_WRONLY, _O_RDWR, _O_CREAT, _O_TRUNC = 0o3, 0o1, 0o2, 0o100, 0o1000
_CLONE_THREAD = 0x00010000
_CLONE_ELSE = 0x7E020000 | 0x0080F000  # new namespaces; a pidfd, traced, vfork, the same parent, untraced
_FCNTL = (0, 1, 2, 3, 4, 1030, 1032)  # F_DUPFD, F_[GS]ETFD, F_[GS]ETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ; never F_SETOWN
_IOCTL = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS, TCGETS2, TIOCGWINSZ, FION*, FIO*CLEX
_PRCTL = (2, 15, 16, 23, 39)  # PR_GET_PDEATHSIG, PR_[SG]ET_NAME, PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS
_ARCH_PRCTL = (0x1021, 0x1022, 0x1023)  # asking for the AMX tiles, which bfloat16 products use
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE = 1, 1, 0xF


def conditions(pid: int, writes: bool) -> dict[str, tuple[Condition, ...]]:
    """The calls that are allowed for some arguments only; all conditions of a call must hold."""
    own = (0, _WORD, (pid,))
    flags = _flags_of_open(writes)
    return {
        "open": ((1, *flags),),
        "openat": ((2, *flags),),
        "clone": ((0, _CLONE_THREAD | _CLONE_ELSE, (_CLONE_THREAD,)),),
        "kill": (own,),
        "tgkill": (own,),
        "prlimit64": ((0, _WORD, (0, pid)),),
        "fcntl": ((1, _WORD, _FCNTL),),
        "ioctl": ((1, _WORD, _IOCTL),),
        "prctl": ((0, _WORD, _PRCTL),),
        "arch_prctl": ((0, _WORD, _ARCH_PRCTL),),
        # A pair of *datagram* sockets could still send to any other socket by its address.
        "socketpair": ((0, _WORD, (_AF_UNIX,)), (1, _SOCK_TYPE, (_SOCK_STREAM,))),
    }


def _flags_of_open(writes: bool) -> tuple[int, tuple[int, ...]]:
    """Mask and values of the flags with which a file may be opened."""
    if not writes:
        return _O_ACCMODE | _O_CREAT | _O_TRUNC, (0,)
    # Before ABI 3, Landlock lets a file that is opened for *reading* be emptied by O_TRUNC, and asks for no right
    # at all when both bits of the mode are set.
    return _O_ACCMODE | _O_TRUNC, (0, _O_WRONLY, _O_RDWR, _O_WRONLY | _O_TRUNC, _O_RDWR | _O_TRUNC)


@lru_cache(maxsize=1)
def machine() -> str:
    """The machine whose table of calls this process uses; "" if this package does not know it."""
    if not process.LINUX or sys.maxsize < 2**32:
        return ""
    name = os.uname().machine
    return name if name in ARCHITECTURES else ""


@lru_cache(maxsize=1)
def why_not() -> str:
    """Why a filter cannot be put on here; "" if it can."""
    if not process.LINUX:
        return "only Linux has seccomp"
    if not machine():
        return f"the system calls of {os.uname().machine} are not known to this program"
    try:
        process.call(_number("seccomp"), _GET_ACTION_AVAIL, 0, struct.pack("=I", KILL))
    except OSError as error:
        return f"this kernel or container does not let a seccomp filter be set: {error.strerror}"
    return ""


def program(pid: int, writes: bool, on: str | None = None) -> bytes:
    """The filter for process `pid`, as the kernel's array of 8-byte instructions.

    `writes`: whether files may be changed at all. `on`: the machine, this one unless told.
    """
    name = on or machine()
    body = _unconditional(name, writes)
    for call, wanted in conditions(pid, writes).items():
        number = syscall_numbers.number(call, name)
        if number is not None:
            body += _conditional(number, wanted)
    return body + _step(RETURN, REFUSED)


def install(code: bytes) -> None:
    """Puts the filter on the calling thread and all that it starts, for good. Errors: OSError."""
    import ctypes

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    whole = Program(len(code) // 8, code)
    process.call(_number("seccomp"), _SET_MODE_FILTER, 0, ctypes.byref(whole))


@lru_cache(maxsize=4)
def _unconditional(name: str, writes: bool) -> bytes:
    """The part that is the same for every process: foreign machines, newer calls, calls with any arguments."""
    code = _step(LOAD, AT_MACHINE) + _step(EQUAL, ARCHITECTURES[name], 1, 0) + _step(RETURN, KILL)
    code += _step(LOAD, AT_NUMBER)
    if name == "x86_64":
        code += _step(GREATER_EQUAL, _X32, 0, 1) + _step(RETURN, KILL)
    code += _step(GREATER_EQUAL, syscall_numbers.NEWEST + 1, 0, 1) + _step(RETURN, UNKNOWN)
    answers = dict.fromkeys([*_ALWAYS, *(_CHANGES if writes else ())], ALLOW) | dict.fromkeys(_OLDER_INSTEAD, UNKNOWN)
    for call, answer in answers.items():
        number = syscall_numbers.number(call, name)
        if number is not None:
            code += _step(EQUAL, number, 0, 1) + _step(RETURN, answer)
    return code


def _conditional(number: int, wanted: tuple[Condition, ...]) -> bytes:
    """One call that is allowed when all conditions hold, and refused otherwise."""
    tests = b""
    for argument, mask, values in wanted:
        tests += _step(LOAD, AT_ARGUMENTS + 8 * argument) + _step(AND, mask)
        for left, value in zip(range(len(values), 0, -1), values, strict=True):
            tests += _step(EQUAL, value, left, 0)  # over the values left and the refusal
        tests += _step(RETURN, REFUSED)
    tests += _step(RETURN, ALLOW)
    return _step(EQUAL, number, 0, len(tests) // 8) + tests


def _step(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, if_true, if_false, value)


def _number(call: str) -> int:
    number = syscall_numbers.number(call, machine())
    assert number is not None  # called for calls that both machines have
    return number
