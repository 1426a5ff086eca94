"""Drop privileges: switch user, clear capabilities."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from grader.worker.isolation import process

NOBODY = 65534  # the user that owns no files

_CAP_SETGID, _CAP_SETUID = 6, 7
_CAPABILITY_VERSION = 0x20080522  # linux/capability.h, version 3: two blocks of 32 bits


def is_root() -> bool:
    """Return True if this process has root's rights."""
    return os.name == "posix" and os.geteuid() == 0


def why_unavailable(readable: Iterable[str]) -> str:
    """Say why a worker, which must read these paths, stays root (or what it is on Windows); "" if it need not."""
    if os.name != "posix":
        return "Windows has no user to change to"
    return why_cannot_switch_to(NOBODY, readable) if is_root() else ""


def why_cannot_switch_to(uid: int, readable: Iterable[str]) -> str:
    """Say why root cannot switch to *uid* here and still read these paths; "" if it can."""
    if process.LINUX:
        effective, _ = capabilities()
        if not effective >> _CAP_SETUID & effective >> _CAP_SETGID & 1:
            return "root may not change its user in this container"
        if not (_is_mapped(uid, "uid_map") and _is_mapped(uid, "gid_map")):
            return f"user {uid} does not exist in this user namespace"
    closed = _find_closed_folder(readable)
    if closed:
        return f"{closed}, on the way to what a worker must read, is open to its owner only"
    return ""


def switch_user(uid: int) -> None:
    """Switch to the user and group *uid*, in no other group, for good. Raises OSError."""
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


def capabilities() -> tuple[int, int]:
    """Return this process's effective and permitted capabilities as bit masks."""
    import ctypes

    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    data = (ctypes.c_uint32 * 6)()  # twice effective, permitted, inheritable: low words, then high words
    process.check_result(process.libc().capget(header, data))
    return data[0] | data[3] << 32, data[1] | data[4] << 32


def drop_capabilities() -> None:
    """Drop every capability for good. Raises OSError."""
    import ctypes

    if process.LINUX:
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
        process.check_result(process.libc().capset(header, (ctypes.c_uint32 * 6)()))


def _is_mapped(identity: int, file_name: str) -> bool:
    from pathlib import Path

    for line in Path("/proc/self", file_name).read_text("ascii").splitlines():
        first, _, length = (int(word) for word in line.split())
        if first <= identity < first + length:
            return True
    return False


def _find_closed_folder(paths: Iterable[str]) -> str:
    """Return the first folder on the way to *paths* that only its owner and group may enter; "" if there is none."""
    from pathlib import Path

    parents = {Path(path).parent.resolve() for path in paths}
    for folder in sorted(parents.union(*(parent.parents for parent in parents))):
        if folder.exists() and not folder.stat().st_mode & stat.S_IXOTH:
            return str(folder)
    return ""
