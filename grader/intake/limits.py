"""Which files of a hand-in are read, and how much of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from grader.submission import ARTEFACT_SUFFIX, MAX_ARTEFACT_BYTES, MAX_BYTES

T = TypeVar("T")

TEXT = ".txt"  # added by mail programs and forms that take no .py
SOURCE_SUFFIXES = (".py", ".ipynb", f".py{TEXT}", f".ipynb{TEXT}")
ARCHIVE_SUFFIXES = (".zip", ".tar.gz", ".tgz", ".tar")
KINDS = {
    **dict.fromkeys((f".py{TEXT}", ".py"), "python"),
    **dict.fromkeys((f".ipynb{TEXT}", ".ipynb"), "notebook"),
    ".zip": "zip",
    ".tar.gz": "tar",
    ".tgz": "tar",
    ".tar": "tar",
    ARTEFACT_SUFFIX: "weights",
}
NOISE_NAMES = frozenset({"__pycache__", "__MACOSX", "Thumbs.db", "desktop.ini"})
LIBRARY_FOLDERS = frozenset({"site-packages", "venv", "env", "node_modules"})  # not the learner's work
ENVIRONMENTS = frozenset({"venv", "env"})  # a learner's own folder may be called so, too ...
INSTALLED = LIBRARY_FOLDERS | {"bin", "include", "lib", "lib64", "scripts", "share", "etc"}  # ... without these in it
MAX_IN_ENVIRONMENT = 2  # folders that a source of theirs lies in there, that one counted
MAX_ENTRIES = 20_000  # folders, and files of a kind that is read, looked at in one hand-in
MAX_NAMES = 200_000  # of all kinds, as of the pictures that a network is trained with
MAX_FILES = 500  # kept of one hand-in
MAX_HAND_IN_BYTES = 64 << 20  # kept of one hand-in
MAX_EARLY_WEIGHTS = 4  # read before archives, which may hold sources: of all that is kept they take half
MAX_NOTEBOOK_BYTES = 32 << 20  # pictures are stored in notebooks
MAX_ARCHIVE_BYTES = 256 << 20  # of an archive itself, and of what a .tar.gz unpacks to
MAX_UNPACKED_BYTES = 256 << 20  # of all archives of one hand-in, kept or not
MAX_DEPTH = 64  # folders, one inside the other
MAX_PATH_CHARS = 1_000  # of a file's name with its folders
MAX_UNREAD = 2_000  # names of files that are not read, kept to be told
MAX_DIRECTORY_BYTES = 64 << 20  # of a zip's list of members, however many it claims to have


# fmt: off
LEFT_BEHIND = (  # what hidden names of systems and tools begin with
    "._", ".git", ".hg", ".svn", ".idea", ".vs", ".venv", ".ipynb_checkpoints", ".pytest_cache", ".mypy_cache",
    ".ruff_cache", ".cache", ".config", ".local", ".trash", ".spotlight", ".fseventsd", ".temporaryitems",
    ".documentrevisions", ".apple", ".selfattend", ".snapshot", ".jupyter", ".virtual", ".nfs",
)
# fmt: on


def is_noise(name: str) -> bool:
    """Return True for names of files that systems and editors leave behind."""
    return name.startswith((".", "~$")) or name in NOISE_NAMES


def may_be_hidden(name: str) -> bool:
    """Return True for a name that hides a file or folder, and is none that systems and tools leave behind."""
    return name.startswith(".") and not name.lower().startswith(LEFT_BEHIND)


def is_own(name: str) -> bool:
    """Return True if a file is the learner's work: no system file and no installed library."""
    return not any(part in LIBRARY_FOLDERS or is_noise(part) for part in name.split("/") if part not in (".", ".."))


def is_hidden_source(path: str) -> bool:
    """Return True for a Python file or notebook that nothing but its own name hides."""
    folder, _, name = path.rpartition("/")
    return may_be_hidden(name) and is_source(name) and is_own(folder)


def is_in_environment(path: str) -> bool:
    """Return True for a folder called env or venv, and for folders and sources in it that are no installed Python's."""
    *folders, name = path.rstrip("/").split("/")
    if path.endswith("/"):
        folders, name = [*folders, name], ""
    place = next((place for place, folder in enumerate(folders) if folder in ENVIRONMENTS), len(folders))
    inside = folders[place + 1 :]
    is_near = place < len(folders) and len(inside) < MAX_IN_ENVIRONMENT and is_own("/".join(folders[:place]))
    is_installed = any(folder.lower() in INSTALLED or is_noise(folder) for folder in inside)
    return is_near and not is_installed and (not name or (is_source(name) and not is_noise(name)))


def may_be_meant(path: str) -> bool:
    """Return True for a file that a learner may have written, read or not."""
    return is_own(path) or is_hidden_source(path) or is_in_environment(path)


def is_source(name: str) -> bool:
    """Return True for the name of a Python file or notebook."""
    return name.lower().endswith(SOURCE_SUFFIXES)


def is_artefact(name: str) -> bool:
    """Return True for the name of a file of weights, which belongs to the Python file beside it."""
    return name.lower().endswith(ARTEFACT_SUFFIX)


def is_archive(name: str) -> bool:
    """Return True for the name of an archive that can be opened."""
    return name.lower().endswith(ARCHIVE_SUFFIXES)


def in_reading_order(files: Iterable[T], name_of: Callable[[T], str], size_of: Callable[[T], int]) -> list[T]:
    """Sort files so that nothing large pushes out what is judged: sources, weights, then archives, the smallest first.

    Of weights those go first that are called as a source is, beside it or elsewhere, then others beside one; those
    after MAX_EARLY_WEIGHTS go behind the archives.
    """
    listed = list(files)
    names = list(map(name_of, listed))
    sources = [name for name in names if is_source(name)]
    stems, folders = set(map(_stem, sources)), set(map(_folder, sources))
    bare = set(map(_last, stems))

    def rank(place: int) -> tuple[bool, bool, bool]:
        stem = _stem(names[place])
        return stem not in stems, _last(stem) not in bare, _folder(stem) not in folders

    weights = sorted((place for place, name in enumerate(names) if is_artefact(name)), key=rank)
    ranks = {place: (1 if number < MAX_EARLY_WEIGHTS else 3, number) for number, place in enumerate(weights)}
    ranks |= {place: (2, size_of(listed[place])) for place, name in enumerate(names) if is_archive(name)}
    return [listed[place] for place in sorted(range(len(names)), key=lambda place: ranks.get(place, (0, 0)))]


def _stem(path: str) -> str:
    return path.removesuffix(suffix_of(path))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def is_read(name: str) -> bool:
    """Return True for the name of a file that is read, or of an archive that can be opened."""
    return is_source(name) or is_artefact(name) or is_archive(name)


def plain_name(path: str) -> str:
    """Return the path of a file without the .txt behind its own suffix: softmax.py.txt is softmax.py."""
    return path[: -len(TEXT)] if is_source(path) and path.lower().endswith(TEXT) else path


class Looked:
    """Counts what is looked at of a hand-in: what is never read takes little time, but not none."""

    def __init__(self) -> None:
        self.full = ""  # why no more is looked at, once there is too much
        self._entries = self._names = 0

    def add(self, name: str, is_folder: bool = False) -> None:
        """Count a file or folder."""
        self._names += 1
        self._entries += is_folder or is_read(name)
        if self._entries > MAX_ENTRIES:
            self.full = f"{MAX_ENTRIES} files"
        elif self._names > MAX_NAMES:
            self.full = f"{MAX_NAMES} files of any kind"


def suffix_of(name: str) -> str:
    """Return the known suffix of a name, as it is written there; empty if there is none."""
    known = next((suffix for suffix in KINDS if name.lower().endswith(suffix)), "")
    return name[len(name) - len(known) :]


def kind_of(name: str) -> str:
    """Return the value of KINDS for a file's name; empty for what is not read."""
    return KINDS.get(suffix_of(name).lower(), "")


def why_too_long(path: str) -> str:
    """Return why a file of this name is not taken, because of its length; empty if it is."""
    if path.count("/") > MAX_DEPTH:
        return f"it lies in more than {MAX_DEPTH} folders"
    return f"its name is longer than {MAX_PATH_CHARS} characters" if len(path) > MAX_PATH_CHARS else ""


def limit_for(path: str) -> int:
    """Return how much of a file to read: one byte more than allowed, so that too large a file is noticed."""
    if is_archive(path):
        return MAX_ARCHIVE_BYTES + 1
    if is_artefact(path):
        return MAX_ARTEFACT_BYTES + 1
    return (MAX_NOTEBOOK_BYTES if kind_of(path) == "notebook" else MAX_BYTES) + 1
