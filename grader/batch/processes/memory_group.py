"""A control group (cgroup v2) round each grading process: one limit of memory for the judge and all that it starts.

Only who was handed a group of their own can divide it, as in a container whose groups can be written or in
`systemd-run --user --scope -p Delegate=yes grader run ...`. A group with processes cannot: this one moves down first.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

CONTROLLER = "memory"
END_SECONDS = 2.0  # for killed processes to be gone
TRIED_MB = 64  # by `can_limit`


def own_group(proc: Path = Path("/proc/self")) -> Path | None:
    """Return the folder of this process's own group; None without cgroup v2."""
    try:
        mounts = [line.split(" ") for line in (proc / "mountinfo").read_text(encoding="utf-8").splitlines()]
        lines = (proc / "cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    points = [mount[4] for mount in mounts if "cgroup2" in mount[mount.index("-") :]]
    inside = [line[3:].lstrip("/") for line in lines if line.startswith("0::")]
    return Path(points[0], inside[0]) if points and inside else None


class MemoryGroups:
    """Groups below this process's own. `why_not` says why there can be none; then everything here does nothing."""

    def __init__(self, own: Path | None) -> None:
        self._groups: dict[int, Path] = {}
        self._own = own or Path()
        self._mine = self._own / f"selfattend-{os.getpid()}"
        self.why_not = "this system has no cgroup v2" if own is None else self._divide()

    def _divide(self) -> str:
        """Move this process into a group below and hand the limits down; return why that cannot be."""
        try:
            if CONTROLLER not in _read(self._own / "cgroup.controllers").split():
                return f"the group {self._own} was given no limits of {CONTROLLER} to hand on"
            self._mine.mkdir(exist_ok=True)
            _write(self._mine / "cgroup.procs", os.getpid())
            _write(self._own / "cgroup.subtree_control", f"+{CONTROLLER}")
        except OSError as error:
            self._undo()
            return f"the group {self._own} is not ours to divide, or not ours alone ({error.strerror})"
        return ""

    def add(self, pid: int, memory_mb: int) -> None:
        """Limit a process, which has started nothing so far, and all that it will start."""
        if self.why_not:
            return
        group = self._groups[pid] = self._own / f"selfattend-grading-{pid}"
        limits = {"memory.max": memory_mb << 20, "memory.swap.max": 0, "memory.oom.group": 1, "cgroup.procs": pid}
        with contextlib.suppress(OSError):
            group.mkdir()
        for file, value in limits.items():
            with contextlib.suppress(OSError):  # not every kernel has each of them
                _write(group / file, value)

    def remove(self, pid: int) -> None:
        """Kill whatever is left in a process's group, and remove that."""
        group = self._groups.pop(pid, None)
        if group is not None:
            with contextlib.suppress(OSError):  # before Linux 5.14
                _write(group / "cgroup.kill", 1)
            _remove(group)

    def close(self) -> None:
        """Leave the groups as they were."""
        for pid in list(self._groups):
            self.remove(pid)
        if not self.why_not:
            self._undo()

    def _undo(self) -> None:
        for file, value in (("cgroup.subtree_control", f"-{CONTROLLER}"), ("cgroup.procs", os.getpid())):
            with contextlib.suppress(OSError):
                _write(self._own / file, value)
        _remove(self._mine)


def can_limit(groups: MemoryGroups) -> bool:
    """Return True if a process that takes more than its group may have is killed."""
    hoard = f"import sys; sys.stdin.read(1); b'x' * ({TRIED_MB} << 22)"
    with subprocess.Popen([sys.executable, "-S", "-c", hoard], stdin=subprocess.PIPE) as process:
        groups.add(process.pid, TRIED_MB)
        process.communicate(b"x")
        groups.remove(process.pid)
    return process.returncode < 0


def _read(path: Path) -> str:
    return path.read_text(encoding="ascii")


def _write(path: Path, value: object) -> None:
    path.write_text(str(value), encoding="ascii")


def _remove(group: Path) -> None:
    deadline = time.monotonic() + END_SECONDS
    while group.is_dir() and time.monotonic() < deadline:
        with contextlib.suppress(OSError):  # its processes have not ended yet
            group.rmdir()
            return
        time.sleep(0.01)
