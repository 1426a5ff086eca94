"""The second wall: bubblewrap round the parent of the workers (https://github.com/containers/bubblewrap).

What runs inside has separate namespaces: of the file system it sees what it must read and nothing else, not even that
other files are there; it has no network but an idle loopback; and of the machine's processes it sees its own only.
The layers that a worker puts on itself stay on inside.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

PROBE_SECONDS = 10.0
MAX_LINKS = 40  # as the kernel: more are a circle

# Its own processes, network, shared memory and names; it ends with us, has no terminal and no rights.
# fmt: off
_NAMESPACES = (
    "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL",
)
# fmt: on
# Root needs no user namespace, and its workers become nobody: what runs inside keeps the rights to change its user,
# which the workers give up, and to end processes of another one.
_AS_ROOT = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_KILL")
_AS_USER = ("--unshare-user",)

_READ_ONLY = ("--remount-ro", "/proc", "--remount-ro", "/")

# Seen inside beside what a worker may read: what starts every program; where Debian's names of libraries lead; and what
# the C library must know to use huge pages, without which a fork takes half as long again.
_ALSO_SEEN = ("lib/ld-*.so*", "lib64/ld-*.so*", "etc/alternatives", "sys/kernel/mm/transparent_hugepage")
WORTH_A_FOLDER = 20  # the time that bubblewrap takes grows with the square of the number of its mounts
MOST_HIDDEN = 3


def why_not() -> str:
    """Say why bubblewrap cannot be used here; "" if it can. It is tried once, in some 10 ms."""
    return _probe()[1]


def options(policy: Mapping[str, Any], programs: Iterable[str]) -> BinaryIO:
    """Write the options for `inside` to an open file: what is visible there. Needs `why_not` to be empty.

    That is what `policy` lets a worker read, and `programs`, the files and folders that it takes to start.
    """
    also = [str(path) for pattern in _ALSO_SEEN for path in Path("/").glob(pattern)]
    # the order matters: what is mounted later lies above what was mounted before
    words = [*_mounts([*policy["readable"], *programs, *also]), "--proc", "/proc", "--dir", "/tmp"]
    # not on the command line: every user can see that, and it would be very long
    file = os.fdopen(os.memfd_create("bubblewrap"), "w+b")
    file.write("\0".join([*words, *_READ_ONLY]).encode("utf-8", "surrogateescape"))
    file.seek(0)
    return file


def inside(options_fd: int, command: Iterable[str]) -> list[str]:
    """Return the command line that runs `command` in bubblewrap with the options in that open file."""
    return [*_probe()[0], "--args", str(options_fd), "--", *command]


@cache
def _probe() -> tuple[tuple[str, ...], str]:
    """Return the first way to start bubblewrap that works, or why none does."""
    program = shutil.which("bwrap")
    if sys.platform != "linux":
        return (), "only Linux has bubblewrap"
    if program is None:
        return (), "bubblewrap is not installed (the command bwrap)"
    reason = ""
    for rights in (_AS_ROOT, _AS_USER) if os.geteuid() == 0 else (_AS_USER,):
        way = (program, *_NAMESPACES, *rights)
        reason = _try([*way, "--ro-bind", "/", "/", "--proc", "/proc", *_READ_ONLY, "--", "/bin/true"])
        if not reason:
            return way, ""
    return (), f"bubblewrap is not permitted to work here: {reason}"


def _try(command: list[str]) -> str:
    """Say why a command fails; "" if it does not."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
    return said[0].removeprefix("bwrap: ")


# --- what is seen inside ----------------------------------------------------------------------------------------------


def _mounts(paths: Iterable[str]) -> Iterator[str]:
    """Bind each of these paths where it is, with the symbolic links on the way to it."""
    links: dict[str, str] = {}
    real = {_real(path, links) for path in paths}
    folders = _almost_whole(real)
    single: list[str] = []
    for path in sorted(real, key=lambda path: path.split("/")):  # a folder comes before what is in it
        if path.rpartition("/")[0] not in folders and not _is_under(path, single[-1:]) and path[:6] != "/proc/":
            single.append(path)
    tops, hidden = [*folders, *single], [path for paths in folders.values() for path in paths]
    bare = [link for link in links if not _is_under(link, tops) or _is_under(link, hidden)]
    for folder in _above([*tops, *bare]):  # else bubblewrap may make it as closed as it is outside
        yield from ("--dir", folder)
    for path in tops:
        yield from ("--dev-bind-try" if path.startswith("/dev/") else "--ro-bind-try", path, path)
        for covered in folders.get(path, ()):
            yield from ("--tmpfs", covered)
    for link in bare:
        yield from ("--symlink", links[link], link)
    for covered in hidden:  # only now: packages may have been put into it
        yield from ("--remount-ro", covered)


def _above(paths: Iterable[str]) -> list[str]:
    """Return all folders on the way to these, from above."""
    return sorted({str(folder) for path in paths for folder in PurePosixPath(path).parents} - {"/"})


def _is_under(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _almost_whole(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return folders that are visible but for a few folders in them, such as the standard library, with those."""
    by_folder: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        folder, _, name = path.rpartition("/")
        by_folder[folder].add(name)
    found = {}
    for folder, names in by_folder.items():
        if len(names) >= WORTH_A_FOLDER:
            # a link shows where it leads to, and leads nowhere in there
            others = [path for path in Path(folder).iterdir() if path.name not in names and not path.is_symlink()]
            if len(others) <= MOST_HIDDEN and all(path.is_dir() for path in others):
                found[folder] = [str(path) for path in others]
    return found


def _real(path: str, links: dict[str, str]) -> str:
    """Resolve a path; the symbolic links on the way are added to `links`."""
    place, ahead, left = "", path.split("/")[::-1], MAX_LINKS
    while ahead:
        name = ahead.pop()
        if name in ("", "."):
            continue
        if name == "..":
            place = place.rpartition("/")[0]
            continue
        place = f"{place}/{name}"
        target = _link(place) if left else None
        if target is not None:
            links[place], left = target, left - 1
            place = "" if target.startswith("/") else place.rpartition("/")[0]
            ahead += target.split("/")[::-1]
    return place or "/"


@cache
def _link(path: str) -> str | None:
    """Return the target of a symbolic link; None for anything else."""
    try:
        return str(Path(path).readlink())
    except OSError:
        return None
