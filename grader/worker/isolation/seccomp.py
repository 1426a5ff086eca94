"""Filter with seccomp which system calls a process may make, some by their arguments (seccomp(2)).

The filter lists what is allowed, so that calls which a newer kernel adds are refused. A refused call returns EPERM,
which Python code sees as a PermissionError.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from functools import lru_cache

from grader.worker.isolation import process, syscall_numbers

# linux/audit.h: the machine whose system call table a process uses
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000  # set in the numbers of x86-64's 32-bit table

# linux/seccomp.h
_SET_MODE_FILTER, _GET_ACTION_AVAIL = 1, 2
KILL, ERRNO, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
REFUSED = ERRNO | errno.EPERM
UNKNOWN = ERRNO | errno.ENOSYS

# linux/filter.h; a filter examines struct seccomp_data: number, machine, address, six arguments
LOAD, EQUAL, GREATER_EQUAL, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
AT_NUMBER, AT_MACHINE, AT_ARGUMENTS = 0, 4, 16

# One condition on an argument: (which, mask, values); it holds when argument & mask is one of the values.
# Only the low 32 bits are compared: to the kernel each of these arguments is an int.
Condition = tuple[int, int, tuple[int, ...]]
_WORD = 0xFFFFFFFF

_CHANGES_FILE = 0o3 | 0o100 | 0o1000  # O_ACCMODE, O_CREAT, O_TRUNC
_FCNTL = (0, 1, 2, 3, 4, 1030, 1032)  # F_DUPFD, F_[GS]ETFD, F_[GS]ETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ; never F_SETOWN
_IOCTL = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS, TCGETS2, TIOCGWINSZ, FION*, FIO*CLEX
_PRCTL = (2, 15, 16, 23, 39)  # PR_GET_PDEATHSIG, PR_[SG]ET_NAME, PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS
_ARCH_PRCTL = (0x1021, 0x1022, 0x1023)  # asking for the AMX tiles, which bfloat16 products use
_SEND = 0x40 | 0x4000  # MSG_DONTWAIT, MSG_NOSIGNAL; never MSG_OOB: such a byte is announced and cannot be read
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE = 1, 1, 0xF


def conditions(pid: int) -> dict[str, tuple[Condition, ...]]:
    """Return the calls that are allowed with some arguments only; all conditions of a call must hold."""
    own = (0, _WORD, (pid,))
    return {
        "open": ((1, _CHANGES_FILE, (0,)),),
        "openat": ((2, _CHANGES_FILE, (0,)),),
        "kill": (own,),
        "tgkill": (own,),
        "prlimit64": ((0, _WORD, (0, pid)),),
        "fcntl": ((1, _WORD, _FCNTL),),
        "ioctl": ((1, _WORD, _IOCTL),),
        "prctl": ((0, _WORD, _PRCTL),),
        "arch_prctl": ((0, _WORD, _ARCH_PRCTL),),
        # A pair of *datagram* sockets could still send to any other socket by its address.
        "socketpair": ((0, _WORD, (_AF_UNIX,)), (1, _SOCK_TYPE, (_SOCK_STREAM,))),
        "sendto": ((3, _WORD & ~_SEND, (0,)),),
        "sendmsg": ((2, _WORD & ~_SEND, (0,)),),
    }


@lru_cache(maxsize=1)
def machine() -> str:
    """Return the machine whose system call table this process uses; "" if it is not known here."""
    if not process.LINUX or sys.maxsize < 2**32:
        return ""
    name = os.uname().machine
    return name if name in ARCHITECTURES else ""


@lru_cache(maxsize=1)
def why_unavailable() -> str:
    """Say why a filter cannot be installed here; "" if it can."""
    if not process.LINUX:
        return "only Linux has seccomp"
    if not machine():
        return f"the system calls of {os.uname().machine} are not known to this program"
    try:
        process.syscall(_number("seccomp"), _GET_ACTION_AVAIL, 0, struct.pack("=I", KILL))
    except OSError as error:
        return f"this kernel or container does not let a seccomp filter be set: {error.strerror}"
    return ""


def make_filter(pid: int, on: str | None = None) -> bytes:
    """Build the filter for process *pid* as the kernel's array of 8-byte instructions, by default for this machine."""
    name = on or machine()
    code = _unconditional(name)
    for call, wanted in conditions(pid).items():
        number = syscall_numbers.number(call, name)
        if number is not None:
            code += _conditional(number, wanted)
    return code + _step(RETURN, REFUSED)


def install(code: bytes) -> None:
    """Install the filter for the calling thread and all that it starts, for good. Raises OSError."""
    import ctypes

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    program = Program(len(code) // 8, code)
    process.syscall(_number("seccomp"), _SET_MODE_FILTER, 0, ctypes.byref(program))


@lru_cache(maxsize=2)
def _unconditional(name: str) -> bytes:
    """Build the part shared by all processes: foreign machines, newer calls, calls with any arguments."""
    code = _step(LOAD, AT_MACHINE) + _step(EQUAL, ARCHITECTURES[name], 1, 0) + _step(RETURN, KILL)
    code += _step(LOAD, AT_NUMBER)
    if name == "x86_64":
        code += _step(GREATER_EQUAL, _X32, 0, 1) + _step(RETURN, KILL)
    code += _step(GREATER_EQUAL, syscall_numbers.NEWEST + 1, 0, 1) + _step(RETURN, UNKNOWN)
    actions = dict.fromkeys(syscall_numbers.ALLOWED, ALLOW) | dict.fromkeys(syscall_numbers.PRETEND_UNKNOWN, UNKNOWN)
    for call, action in actions.items():
        number = syscall_numbers.number(call, name)
        if number is not None:
            code += _step(EQUAL, number, 0, 1) + _step(RETURN, action)
    return code


def _conditional(number: int, wanted: tuple[Condition, ...]) -> bytes:
    """Build the part for one call that is allowed if all conditions hold, and refused otherwise."""
    tests = b""
    for argument, mask, values in wanted:
        tests += _step(LOAD, AT_ARGUMENTS + 8 * argument) + _step(AND, mask)
        for left, value in zip(range(len(values), 0, -1), values, strict=True):
            tests += _step(EQUAL, value, left, 0)  # skip the values left and the refusal
        tests += _step(RETURN, REFUSED)
    tests += _step(RETURN, ALLOW)
    return _step(EQUAL, number, 0, len(tests) // 8) + tests


def _step(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, if_true, if_false, value)


def _number(call: str) -> int:
    number = syscall_numbers.number(call, machine())
    assert number is not None  # called for calls that both machines have
    return number
