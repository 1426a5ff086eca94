"""List the paths that a worker must be able to read, and no folder more: all below an allowed folder is readable."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import Distribution

# Folders that hold all packages, this program and its courses too. Never allowed as a whole.
_SHARED = ("site-packages", "dist-packages")

_NO_CODE = (".dist-info", ".egg-info", ".pth", ".egg-link")  # what lies beside packages

# What the C library, Python and PyTorch read about the machine and the time.
_SYSTEM = (
    "/dev/null",
    "/dev/urandom",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/timezone",
    "/usr/share/zoneinfo",
    "/usr/lib/locale",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
)

# How the names of the libraries begin that Python's extension modules link, for systems that keep all libraries in one
# folder beside packages (/usr/lib64, a conda environment).
# fmt: off
_LINKED_PREFIXES = (
    "ld-linux", "libc.so", "libm.so", "libdl.so", "librt.so", "libutil.so", "libpthread.so", "libpython3",
    "libgcc_s", "libstdc++", "libgomp", "libffi", "libz.so", "libbz2", "liblzma", "libzstd", "libexpat",
    "libcrypto", "libssl", "libsqlite3", "libuuid", "libmpdec",
)
# fmt: on


def default_readable(packages: Iterable[str], folders: Iterable[str]) -> tuple[str, ...]:
    """Return the paths for a worker that imports the standard library and these packages, with all that they need.

    Args:
        packages: Installed ones, by the names that pip knows. One that is not installed is skipped.
        folders: Where packages are searched for. They are allowed one by one, never the folder that they share.

    Raises:
        ValueError: It is this program's own package: the answers are beside it.
    """
    found = [*_standard_library(), *_libraries(), *map(Path, _SYSTEM), *_packages(packages, list(folders))]
    return tuple(dict.fromkeys(str(path) for path in found if path.exists()))


def _standard_library() -> Iterator[Path]:
    """Yield the children of the standard library's folders, without shared package folders in them."""
    # not only from `sysconfig`: a bundled library may have moved since it was built
    named = (Path(os.__file__).parent, sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    for folder in dict.fromkeys(Path(path).resolve() for path in named):
        if folder.is_dir():
            yield from sorted(child for child in folder.iterdir() if child.name not in _SHARED)


def _libraries() -> Iterator[Path]:
    """Yield shared libraries: Debian's folder for one architecture as a whole, other folders file by file."""
    for folder in dict.fromkeys(path.resolve() for path in _library_folders()):
        if folder.name.endswith("-linux-gnu"):
            yield folder
        elif folder.is_dir():
            yield from (entry for entry in folder.iterdir() if entry.name.startswith(_LINKED_PREFIXES))


def _library_folders() -> Iterator[Path]:
    if sys.platform == "linux":
        triplet = f"{os.uname().machine}-linux-gnu"
        for folder in ("/usr/lib", "/lib"):
            yield from (Path(folder, triplet), Path(f"{folder}64"), Path(folder))
    yield from (Path(prefix, "lib") for prefix in (sys.base_prefix, sys.prefix))


def _packages(names: Iterable[str], folders: list[str]) -> Iterator[Path]:
    """Yield what lies in *folders* of these packages, and of those that they say they need, and so on."""
    from importlib.metadata import distributions  # here: a worker's parent starts without it

    waiting, seen = [_normalized(name) for name in names], set[str]()
    while waiting:
        name = waiting.pop()
        found = next(iter(distributions(name=name, path=folders)), None) if name not in seen else None
        seen.add(name)
        if found is not None:
            yield from _contents(found, name, folders)
            waiting += [_normalized(need) for need in _needs(found)]


def _needs(package: Distribution) -> list[str]:
    """Return the names of what a package says it needs, without what is needed for its extras only."""
    about = package.read_text("METADATA")  # not with its own parser, which takes 3 ms for each package
    if about is None:
        lines = package.requires or []
    else:
        lines = re.findall(r"^Requires-Dist: (.*)$", about.partition("\n\n")[0], re.MULTILINE)
    names = [re.match(r"[\w.-]+", line) for line in lines if not re.search(r"\bextra\s*==", line)]
    return [name[0] for name in names if name]


def _contents(package: Distribution, name: str, folders: list[str]) -> Iterator[Path]:
    """Yield the folders and files that a package has put beside others, among them those of its shared libraries."""
    entries = {line.partition(",")[0].partition("/")[0].rstrip("\n") for line in _record(package)}
    entries = {entry for entry in entries if not entry.endswith(_NO_CODE) and entry not in ("", "..", "__pycache__")}
    # without a list (Debian), or with nothing on it but a link to a checkout
    entries = entries or set((package.read_text("top_level.txt") or name.replace("-", "_")).split())
    for entry in entries:
        if entry.partition(".")[0] == __name__.partition(".")[0]:
            raise ValueError(f"a worker may not be given {name!r} to read: name a package that is not ours")
        places = [Path(folder, entry + end) for folder in folders for end in ("", ".py")]
        yield from [place for place in places if place.exists()][:1]


def _record(package: Distribution) -> Iterator[str]:
    """Yield the lines of a package's list of files one by one: PyTorch's is of 1.5 MB, which is not to be held."""
    place = getattr(package, "_path", None)  # where `read_text` reads
    if isinstance(place, Path):
        with contextlib.suppress(OSError), (place / "RECORD").open(encoding="utf-8") as lines:
            yield from lines
    else:
        yield from (package.read_text("RECORD") or "").splitlines()


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
