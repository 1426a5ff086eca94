"""Restrict with Landlock which files a process may open: Linux >= 5.13, no root needed (landlock(7))."""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache

from grader.worker.isolation import process

# System calls with the same number on every machine.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1  # flag of create_ruleset: return the ABI version only
_PATH_BENEATH = 1  # type of a rule: a file, or a directory and all below it

# linux/landlock.h, LANDLOCK_ACCESS_FS_*
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_ALL_OF_ABI_1 = (1 << 13) - 1

_NO_TCP = 0b11  # ABI 4: bind, connect
_OWN_SCOPE = 0b11  # ABI 6: abstract sockets and signals stay among this process and its children


@lru_cache(maxsize=1)
def abi_version() -> int:
    """Return the kernel's version of Landlock, 0 without it."""
    return _probe()[0]


def why_unavailable() -> str:
    """Say why Landlock cannot be applied here; "" if it can."""
    return _probe()[1]


@lru_cache(maxsize=1)
def _probe() -> tuple[int, str]:
    if not process.LINUX:
        return 0, "only Linux has Landlock"
    try:
        return process.syscall(_CREATE_RULESET, 0, 0, _VERSION), ""
    except OSError as error:
        reasons = {
            errno.ENOSYS: "this kernel has no Landlock (it came with Linux 5.13)",
            errno.EOPNOTSUPP: "Landlock is switched off in this kernel (boot parameter lsm=)",
            errno.EPERM: "this container does not let Landlock be used",
        }
        return 0, reasons.get(error.errno or 0, f"Landlock does not answer: {error.strerror}")


def handled_rights(version: int) -> tuple[int, int, int]:
    """Return what a ruleset of this version forbids unless a rule allows it: bit masks of files, TCP and scope."""
    files = _ALL_OF_ABI_1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        if version >= since:
            files |= right
    return files, _NO_TCP if version >= 4 else 0, _OWN_SCOPE if version >= 6 else 0


def make_ruleset(readable: Iterable[str]) -> int:
    """Make rules that allow files, and directories with all below them, to be read. Raises OSError.

    A path that does not exist or cannot be reached is skipped. Nothing may be changed or executed. Returns a
    descriptor.
    """
    version = abi_version()
    files, tcp, scope = handled_rights(version)
    attributes = struct.pack("=QQQ", files, tcp, scope)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = process.syscall(_CREATE_RULESET, attributes, size, 0)
    try:
        for path in readable:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                _allow_reading(rules, path)
    except OSError:
        os.close(rules)
        raise
    return rules


def restrict(rules: int) -> None:
    """Apply the rules to the calling thread and all that it starts, for good; close the descriptor. Raises OSError."""
    try:
        process.syscall(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _allow_reading(rules: int, path: str) -> None:
    target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        # a rule for a file must not name the rights of directories (EINVAL)
        rights = _READ_FILE | _READ_DIR if stat.S_ISDIR(os.fstat(target).st_mode) else _READ_FILE
        process.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", rights, target), 0)
    finally:
        os.close(target)
