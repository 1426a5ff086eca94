"""Becoming nobody in particular: another user, and no capabilities."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from grader.worker.isolation import process

NOBODY = 65534  # the user that owns nothing

_CAP_SETGID, _CAP_SETUID = 6, 7
_CAPABILITY_VERSION = 0x20080522  # linux/capability.h, version 3: two blocks of 32 bits


def is_root() -> bool:
    return os.name == "posix" and os.geteuid() == 0


def why_not(readable: Iterable[str]) -> str:
    """Why a worker of this process must stay root, or what it is elsewhere; "" if it need not. It must reach these."""
    if os.name != "posix":
        return "Windows has no user to change to"
    return why_not_become(NOBODY, readable) if is_root() else ""


def why_not_become(uid: int, readable: Iterable[str]) -> str:
    """Why root cannot become `uid` here and still read what lies under `readable`; "" if it can."""
    if process.LINUX:
        effective, _ = capabilities()
        if not effective >> _CAP_SETUID & effective >> _CAP_SETGID & 1:
            return "root may not change its user in this container"
        if not (_is_mapped(uid, "uid_map") and _is_mapped(uid, "gid_map")):
            return f"user {uid} does not exist in this user namespace"
    shut = _shut_folder(readable)
    if shut:
        return f"{shut}, on the way to what a worker must read, is open to its owner only"
    return ""


def become(uid: int) -> None:
    """Becomes user and group `uid`, in no other group, for good. Errors: OSError."""
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


def capabilities() -> tuple[int, int]:
    """This process's (effective, permitted) capabilities as bit masks."""
    import ctypes

    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    data = (ctypes.c_uint32 * 6)()  # twice effective, permitted, inheritable: low words, then high words
    process.checked(process.libc().capget(header, data))
    return data[0] | data[3] << 32, data[1] | data[4] << 32


def drop_capabilities() -> None:
    """Gives up every capability for good; a no-op where there are none. Errors: OSError."""
    import ctypes

    if process.LINUX:
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
        process.checked(process.libc().capset(header, (ctypes.c_uint32 * 6)()))


def _is_mapped(identity: int, file_name: str) -> bool:
    from pathlib import Path

    for line in Path("/proc/self", file_name).read_text("ascii").splitlines():
        first, _, length = (int(word) for word in line.split())
        if first <= identity < first + length:
            return True
    return False


def _shut_folder(paths: Iterable[str]) -> str:
    """The first folder on the way to `paths` that only its owner and group may enter; "" if there is none."""
    from pathlib import Path

    folders: set[Path] = set()
    for parent in {Path(path).parent for path in paths}:
        folders.update((resolved := parent.resolve(), *resolved.parents))
    for folder in sorted(folders):
        if folder.exists() and not folder.stat().st_mode & stat.S_IXOTH:
            return str(folder)
    return ""
