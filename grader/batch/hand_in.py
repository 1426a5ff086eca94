"""What one learner handed in, as bytes in memory: their Python files and notebooks, and nothing else.

Links are never followed, nothing is unpacked to disk, nothing is run, and every size is bounded before it is read.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader.batch.archive import ArchiveError, read_members
from grader.batch.bounds import KEPT, LIBRARIES, MOST_BYTES, MOST_ENTRIES, MOST_FILES, limit_for, read_bounded
from grader.batch.discover import Learner, is_noise, printable


@dataclass
class HandIn:
    """Files by their path inside the hand-in, `/` between folders. `problem` says why nothing of it can be read."""

    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problem: str = ""
    room: int = MOST_BYTES

    @property
    def digest(self) -> str:
        """SHA-256 of everything in it that can change a verdict."""
        sha = hashlib.sha256(self.problem.encode("utf-8", "replace"))
        for path, content in sorted(self.files.items()):
            name = path.encode("utf-8", "surrogateescape")
            sha.update(b"%d %d " % (len(name), len(content)) + name + content)
        return sha.hexdigest()

    def keep(self, path: str, content: bytes) -> bool:
        """Take a file in, if there is room for it; otherwise a note says that it was left out."""
        if len(self.files) >= MOST_FILES or len(content) > self.room:
            self.note(f"{path} and what comes after it were left out: the hand-in is too large.")
            return False
        self.room -= len(content)
        self.files[path] = content
        return True

    def note(self, text: str) -> None:
        """Something that the reader of the results should know; each is said once, and there are not endlessly many."""
        text = printable(text)
        if text not in self.notes and len(self.notes) < 20:
            self.notes.append(text)


def read_hand_in(learner: Learner) -> HandIn:
    """Everything of a learner's hand-in that may be judged. Never raises for anything a learner handed in."""
    hand_in = HandIn()
    name = learner.path.name
    try:
        path = learner.path.resolve(strict=True)  # a link here was put by whoever collected the submissions
        if learner.kind == "folder":
            _read_folder(path, hand_in)
        elif learner.kind == "zip":
            _read_zip(path, "", hand_in)
        else:
            hand_in.keep(name, read_bounded(path, limit_for(name)))
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, before Python 3.13
        hand_in.problem = printable(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.")
    if not hand_in.files and not hand_in.problem:
        hand_in.problem = "There is no Python file and no notebook in it."
    return hand_in


def _read_folder(folder: Path, hand_in: HandIn) -> None:
    for path, name in _walk(folder, hand_in):
        try:
            if name.lower().endswith(".zip"):
                _read_zip(path, f"{name}/", hand_in)
            elif not hand_in.keep(name, read_bounded(path, limit_for(name))):
                return
        except OSError as error:
            hand_in.note(f"{name} cannot be read: {error.strerror or error}.")


def _walk(folder: Path, hand_in: HandIn) -> Iterator[tuple[Path, str]]:
    """The files to read, folders near the top first: if there is too much, what lies deep is left out."""
    waiting = deque([(folder, "")])
    seen = 0
    while waiting:
        here, prefix = waiting.popleft()
        for entry in _entries(here, prefix, hand_in):
            seen += 1
            if seen > MOST_ENTRIES:
                hand_in.note(f"Only the first {MOST_ENTRIES} files and folders were looked at.")
                return
            name = prefix + entry.name
            if entry.is_symlink():
                if entry.name.lower().endswith(KEPT):
                    hand_in.note(f"{name} was left out: it is a link.")
            elif entry.is_dir(follow_symlinks=False):
                waiting.append((Path(entry.path), f"{name}/"))
            elif entry.name.lower().endswith((*KEPT, ".zip")):
                yield Path(entry.path), name


def _entries(folder: Path, prefix: str, hand_in: HandIn) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            found = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        if not prefix:
            raise
        hand_in.note(f"{prefix} cannot be listed: {error.strerror or error}.")
        return []
    return [entry for entry in found if not is_noise(entry.name) and entry.name not in LIBRARIES]


def _read_zip(path: Path, prefix: str, hand_in: HandIn) -> None:
    try:
        for name, content in read_members(path, hand_in.note):
            if not hand_in.keep(prefix + name, content):
                return
    except ArchiveError as error:
        if prefix:
            hand_in.note(f"{prefix.rstrip('/')}: {error}")
        else:
            hand_in.problem = str(error)
