"""List the paths that a worker must be able to read, and no folder more: all below an allowed folder is readable."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

# Folders that hold all packages, this program and its courses too. Never allowed as a whole.
_SHARED = ("site-packages", "dist-packages")

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


def default_readable(packages: Iterable[str]) -> tuple[str, ...]:
    """Return the paths for a worker that imports the standard library and these top-level packages.

    Packages are allowed one by one, never the folder that they share; one that is not installed is skipped.

    Raises:
        ValueError: A submodule, or this program's own package: the answers are beside it.
    """
    found = [*_standard_library(), *_libraries(), *map(Path, _SYSTEM)]
    for package in packages:
        found += _package(package)
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


def _package(name: str) -> Iterator[Path]:
    """Yield a package's folders or its one file, and the libraries that its wheel put beside it."""
    if "." in name or name == __name__.partition(".")[0]:
        raise ValueError(f"a worker may not be given {name!r} to read: name a top-level package that is not ours")
    spec = importlib.util.find_spec(name)
    if spec is None:
        return
    if spec.submodule_search_locations is not None:
        for folder in spec.submodule_search_locations:
            yield Path(folder)
            yield Path(f"{folder}.libs")
    elif spec.has_location and spec.origin:
        yield Path(spec.origin)
