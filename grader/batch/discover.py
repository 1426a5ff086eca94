"""A folder of submissions to its learners: each direct child is one. Nothing is opened here."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import SubmissionError

KINDS = {".zip": "zip", ".ipynb": "notebook", ".py": "python"}
NOISE = frozenset({"__pycache__", "__MACOSX", "Thumbs.db", "desktop.ini"})
LONGEST_NAME = 100  # characters of a feedback file's name; file systems take 255 bytes


@dataclass(frozen=True)
class Learner:
    """One learner's hand-in. `kind` is "folder" or a value of KINDS; `feedback` is the name of their file there."""

    id: str
    path: Path
    kind: str
    feedback: str


@dataclass
class Found:
    """What lay in a folder of submissions, in the order of its names; `ignored` are names of no known kind."""

    learners: list[Learner] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def discover(folder: Path, leave_out: Path | None = None) -> Found:
    """The learners in `folder`; hidden entries and `leave_out` (where results go) are none.

    An id is the child's name without its suffix, or with it where two would be the same. Raises SubmissionError where
    the folder cannot be listed or holds nobody.
    """
    children = _children(folder, leave_out)
    kinds = {child: _kind(child) for child in children}
    known = [child for child in children if kinds[child]]
    ids = _unique({child: printable(_stem(child, kinds[child])) for child in known})
    files = _unique({child: _file_name(ids[child]) for child in known}, fold=True)
    learners = [Learner(ids[child], child, kinds[child], files[child]) for child in known]
    if not learners:
        raise SubmissionError(
            "there are no submissions in this folder: no folder, .py, .zip or .ipynb",
            where=str(folder),
            next_step="name the folder whose direct children are the learners' hand-ins",
        )
    return Found(learners, [printable(child.name) for child in children if not kinds[child]])


def is_noise(name: str) -> bool:
    """Whether a file or folder of this name is the system's or the editor's, and no learner's."""
    return name.startswith((".", "~$")) or name in NOISE


def printable(name: str) -> str:
    """A name that any terminal, CSV and JSON can take: no control characters, no bytes that are no text."""
    name = name.encode("utf-8", "replace").decode("utf-8")
    return "".join("?" if unicodedata.category(letter)[0] == "C" else letter for letter in name)


def _children(folder: Path, leave_out: Path | None) -> list[Path]:
    try:
        names = sorted(folder.iterdir(), key=lambda child: child.name)
    except OSError as error:
        what = (
            "there is no such folder" if isinstance(error, FileNotFoundError) else f"cannot be listed: {error.strerror}"
        )
        raise SubmissionError(what, where=str(folder), next_step="grader run SUBMISSIONS --out DIR") from None
    away = leave_out.resolve() if leave_out else None
    here = folder.resolve()
    return [child for child in names if not is_noise(child.name) and here / child.name != away]


def _kind(child: Path) -> str:
    try:
        if child.is_dir():
            return "folder"
        return KINDS.get(child.suffix.lower(), "") if child.is_file() else ""
    except OSError:
        return ""


def _stem(child: Path, kind: str) -> str:
    return child.name if kind == "folder" else child.stem


def _file_name(learner_id: str) -> str:
    """Letters, digits and `_.@+-` only, and nothing that a file system would hide or refuse."""
    plain = re.sub(r"[^\w.@+-]", "_", unicodedata.normalize("NFC", learner_id)).strip(".")
    return plain.encode()[:LONGEST_NAME].decode("utf-8", "ignore") or "_"


def _unique(names: dict[Path, str], *, fold: bool = False) -> dict[Path, str]:
    """The names, made different where two are equal: first by the whole file name, then by a number."""
    counts = Counter(_key(name, fold) for name in names.values())
    taken: set[str] = set()
    chosen: dict[Path, str] = {}
    for child, name in names.items():
        base = name if fold or counts[_key(name, fold)] == 1 else printable(child.name)
        new, number = base, 1
        while _key(new, fold) in taken:
            number += 1
            new = f"{base}-{number}"
        taken.add(_key(new, fold))
        chosen[child] = new
    return chosen


def _key(name: str, fold: bool) -> str:
    return name.casefold() if fold else name
