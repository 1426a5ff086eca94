"""Which modules of torch and numpy an answer may use where calls are forbidden.

Nobody knows all that is in the others: they run texts (`numpy.testing.runstring`), and annotations that are texts
(`torch.utils.data.IterDataPipe`), read pickles (`numpy.lib.format.read_array`), read and write any address
(`numpy.ctypeslib`), or record what was called earlier (`torch.jit.trace`). So do libraries that come with them
(`fsspec` imports what a text names).
"""

from __future__ import annotations

import importlib.util
import pkgutil
import re
import sys
from collections.abc import Collection
from functools import cache
from pathlib import Path

# fmt: off
KNOWN_PARTS = {
    "torch": frozenset({
        "accelerator", "amp", "autograd", "backends", "cpu", "cuda", "distributions", "fft", "func", "functional",
        "jit.Final", "jit.annotate", "jit.export", "jit.ignore", "jit.is_scripting", "jit.is_tracing", "jit.script",
        "jit.unused", "linalg", "masked", "mps", "nested", "nn", "optim", "random", "return_types", "signal", "sparse",
        "special", "testing.assert_close", "types", "utils.checkpoint", "utils.data.BatchSampler",
        "utils.data.ChainDataset", "utils.data.ConcatDataset", "utils.data.DataLoader", "utils.data.Dataset",
        "utils.data.IterableDataset", "utils.data.RandomSampler", "utils.data.Sampler", "utils.data.SequentialSampler",
        "utils.data.StackDataset", "utils.data.Subset", "utils.data.SubsetRandomSampler", "utils.data.TensorDataset",
        "utils.data.WeightedRandomSampler", "utils.data.default_collate", "utils.data.default_convert",
        "utils.data.get_worker_info", "utils.data.random_split", "version",
    }),
    "numpy": frozenset({
        "dtypes", "exceptions", "fft", "lib.stride_tricks.sliding_window_view", "linalg", "polynomial", "random",
        "testing.assert_allclose", "testing.assert_almost_equal", "testing.assert_array_almost_equal",
        "testing.assert_array_equal", "testing.assert_equal", "typing", "version",
    }),
}
# What is installed with them, as they need it. `typing_extensions` is read as `typing`, which has the same names.
COME_ALONG = frozenset({
    "_distutils_hack", "cuda", "filelock", "fsspec", "functorch", "isympy", "jinja2", "markupsafe", "mpmath",
    "networkx", "nvidia", "pkg_resources", "setuptools", "sympy", "torchgen", "triton", "typing_extensions",
})
# fmt: on


def unknown_part(path: str) -> str:
    """Return the part of a library that a dotted name leads into, if it is none of the known ones, or ""."""
    library, *parts = path.split(".")
    if library in COME_ALONG:
        return library
    if library not in KNOWN_PARTS or not parts or parts[0] not in _modules_in(library):
        return ""
    return "" if leads_into(".".join(parts), KNOWN_PARTS[library]) else f"{library}.{parts[0]}"


def leads_into(path: str, known: Collection[str]) -> bool:
    """Return True for one of the *known* dotted names, and for what is inside of one."""
    parts = path.split(".")
    return any(".".join(parts[:end]) in known for end in range(1, len(parts) + 1))


@cache
def is_part(path: str) -> bool:
    """Return True for a library, or a module of one, by the files that are there: it need not be loaded."""
    library, *parts = path.split(".")
    if library not in KNOWN_PARTS or not parts:
        return library in KNOWN_PARTS or (not parts and library in sys.stdlib_module_names)
    return parts[0] in _modules_in(library) and _is_file_of_module(library, parts)


def _is_file_of_module(library: str, parts: list[str]) -> bool:
    spec = importlib.util.find_spec(library)
    return any(
        all(part in _names_in(Path(folder, *parts[:depth])) for depth, part in enumerate(parts))
        for folder in (spec and spec.submodule_search_locations) or ()
    )


@cache
def _names_in(folder: Path) -> frozenset[str]:
    """Return the names of the folders and modules in a folder of a library: no path is made of a learner's words."""
    if not folder.is_dir():
        return frozenset()
    return frozenset(each.stem if each.suffix == ".py" else each.name for each in folder.iterdir())


@cache
def imports_module(part: str, name: str) -> bool:
    """Return True if a part of a library imports a module of that name, by the text of its file."""
    if not all(each.isidentifier() for each in (*part.split("."), name)):
        return False
    library, *parts = part.split(".")
    spec = importlib.util.find_spec(library) if library in KNOWN_PARTS else None
    imported = re.compile(rf"^\s*import\s[^#\n]*\b{name}\b", re.MULTILINE)
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in (Path(folder, *parts).with_suffix(".py"), Path(folder, *parts, "__init__.py")):
            if file.is_file():
                return bool(imported.search(file.read_text(encoding="utf-8", errors="replace")))
    return False


@cache
def _modules_in(library: str) -> frozenset[str]:
    """Return the names of the modules that lie in the folder of a library. None of them is imported."""
    spec = importlib.util.find_spec(library)
    return frozenset(found.name for found in pkgutil.iter_modules((spec and spec.submodule_search_locations) or ()))
