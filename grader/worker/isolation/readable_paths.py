"""What a worker has to read, and no folder more: whatever lies in an allowed folder is readable, all the way down."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

# Folders that hold everybody's packages, this program and its courses among them. Never allowed as a whole.
_SHARED = ("site-packages", "dist-packages")

# Facts about the machine and the time that the C library, Python and PyTorch look up.
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

# What Python's own extension modules are linked with, for systems that keep all libraries in one great folder
# beside everybody's packages (/usr/lib64, a conda environment).
_LINKED = (
    "ld-linux*", "libc.so*", "libm.so*", "libdl.so*", "librt.so*", "libutil.so*", "libpthread.so*", "libpython3*",
    "libgcc_s*", "libstdc++*", "libgomp*", "libffi*", "libz.so*", "libbz2*", "liblzma*", "libzstd*", "libexpat*",
    "libcrypto*", "libssl*", "libsqlite3*", "libuuid*", "libmpdec*",
)  # fmt: skip


def default_readable(packages: Iterable[str]) -> tuple[str, ...]:
    """The files and folders for a worker that imports the standard library and the named top-level packages.

    A package that is not installed is passed over. A folder that holds packages of others never appears.
    """
    found = [*_standard_library(), *_libraries(), *map(Path, _SYSTEM)]
    for package in packages:
        found += _package(package)
    return tuple(dict.fromkeys(str(path) for path in found if path.exists()))


def fill_import_caches() -> None:
    """Has Python list every folder of `sys.path` now: the listing is kept, and a worker may not make it."""
    importlib.util.find_spec("a_module_that_nobody_has")


def _standard_library() -> Iterator[Path]:
    """The children of the standard library's folders, without the shared folders that often lie in them."""
    # Not asked of `sysconfig` alone: in a bundle the library may lie elsewhere than where it was built for.
    named = (Path(os.__file__).parent, sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    for folder in dict.fromkeys(Path(path).resolve() for path in named):
        if folder.is_dir():
            yield from sorted(child for child in folder.iterdir() if child.name not in _SHARED)


def _libraries() -> Iterator[Path]:
    """Shared libraries: Debian's folder for one machine holds nothing else; elsewhere they are taken file by file."""
    for folder in dict.fromkeys(path.resolve() for path in _library_folders()):
        if folder.name.endswith("-linux-gnu"):
            yield folder
        else:
            for pattern in _LINKED:
                yield from folder.glob(pattern)


def _library_folders() -> Iterator[Path]:
    if sys.platform == "linux":
        triplet = f"{os.uname().machine}-linux-gnu"
        for folder in ("/usr/lib", "/lib"):
            yield from (Path(folder, triplet), Path(f"{folder}64"), Path(folder))
    yield from (Path(prefix, "lib") for prefix in (sys.base_prefix, sys.prefix))


def _package(name: str) -> Iterator[Path]:
    """A package's folders or its one file, and the libraries that its wheel put beside it.

    Errors: ValueError for a submodule, or for the package that this module is in: beside it lie the answers.
    """
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
