"""The Linux system calls that this package names: their numbers by machine, grouped by what the filter does with them.

Sources: the kernel's `arch/x86/entry/syscalls/syscall_64.tbl` and, for aarch64, `include/uapi/asm-generic/unistd.h`.
A number, once given, never changes; None stands for a call that the machine does not have.
"""

from __future__ import annotations

Calls = dict[str, tuple[int | None, int | None]]

# The columns of the tables; `seccomp.py` has their numbers in audit records.
MACHINES = ("x86_64", "aarch64")

# The newest call of Linux 5.17, the kernel that a worker sees: later calls return "no such call" (ENOSYS), and the C
# library falls back to older ones.
NEWEST = 450

# fmt: off
# Allowed with any arguments.
ALLOWED: Calls = {
    # open files
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "pwrite64": (18, 68), "lseek": (8, 62), "close": (3, 57), "close_range": (436, 436), "dup": (32, 23),
    "dup2": (33, None), "dup3": (292, 24), "pipe": (22, None), "pipe2": (293, 59), "fstat": (5, 80),
    # inspecting files
    "stat": (4, None), "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291), "access": (21, None),
    "faccessat": (269, 48), "faccessat2": (439, 439), "readlink": (89, None), "readlinkat": (267, 78),
    "getdents64": (217, 61), "getcwd": (79, 17),
    # memory
    "brk": (12, 214), "mmap": (9, 222), "munmap": (11, 215), "mremap": (25, 216), "mprotect": (10, 226),
    "madvise": (28, 233),
    # waiting
    "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None), "epoll_pwait": (281, 22),
    "eventfd2": (290, 19),
    # open sockets
    "recvfrom": (45, 207), "recvmsg": (47, 212), "shutdown": (48, 210), "getsockname": (51, 204),
    "getpeername": (52, 205), "getsockopt": (55, 209),
    # waiting for each other; no thread is started, since nobody would watch it
    "futex": (202, 98), "set_robust_list": (273, 99), "rseq": (334, 293), "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123), "getcpu": (309, 168), "exit": (60, 93), "exit_group": (231, 94),
    "restart_syscall": (219, 128),
    # signals; no handler is set, since it could run within the call monitor, which does not watch itself
    "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132), "pause": (34, None),
    # time
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101), "gettimeofday": (96, 169), "time": (201, None), "times": (100, 153),
    "getitimer": (36, 102),
    # identity and limits
    "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getuid": (102, 174),
    "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getresuid": (118, 148),
    "getresgid": (120, 150), "getgroups": (115, 158), "getpgid": (121, 155), "getpgrp": (111, None),
    "getsid": (124, 156), "getrusage": (98, 165), "getrlimit": (97, 163), "uname": (63, 160),
    "sysinfo": (99, 179), "getrandom": (318, 278), "umask": (95, 166), "capget": (125, 90),
}

# Allowed with some arguments: `seccomp.conditions`.
CONDITIONAL: Calls = {
    "open": (2, None), "openat": (257, 56), "kill": (62, 129), "tgkill": (234, 131),
    "prlimit64": (302, 261), "fcntl": (72, 25), "ioctl": (16, 29), "prctl": (157, 167),
    "arch_prctl": (158, None), "socketpair": (53, 199), "sendto": (44, 206), "sendmsg": (46, 211),
}

# These return "no such call": the C library then makes the older call, whose arguments a filter can see.
PRETEND_UNKNOWN: Calls = {"clone3": (435, 435)}

# Made by this package itself, before the filter is in force.
OWN: Calls = {
    "seccomp": (317, 277), "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}
# fmt: on

NUMBERS = ALLOWED | CONDITIONAL | PRETEND_UNKNOWN | OWN


def number(name: str, machine: str) -> int | None:
    """Return the number of a call on that machine; None if the machine lacks it."""
    return NUMBERS[name][MACHINES.index(machine)]
