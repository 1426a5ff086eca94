"""A learner's folder on this machine: which of its files are read. Links are never followed."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from grader.files import blaming_the_machine
from grader.intake.formats.zip_member import Note, PassOver
from grader.intake.limits import MAX_UNREAD, Looked, is_in_environment, is_own, is_read, is_source


def walk(folder: Path, note: Note, pass_over: PassOver) -> Iterator[tuple[Path, str]]:
    """Yield the files to read, folders near the top first: if there is too much, what lies deep is left out.

    Raises OSError if the folder cannot be listed.
    """
    waiting = deque([(folder, "")])
    looked = Looked()
    while waiting:
        current, prefix = waiting.popleft()
        for entry in _scan(current, prefix, note, pass_over):
            name = prefix + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            looked.add(name, is_folder)
            if looked.full:
                note(f"Only the first {looked.full} and folders were looked at.")
                return
            if entry.is_symlink():
                if is_source(name):
                    note(f"{name} was left out: it is a link.")
            elif is_folder:
                waiting.append((Path(entry.path), f"{name}/"))
            elif is_read(name):
                yield Path(entry.path), name
            else:
                pass_over(name)


def _scan(folder: Path, prefix: str, note: Note, pass_over: PassOver) -> list[os.DirEntry[str]]:
    try:
        with blaming_the_machine(), os.scandir(folder) as listing:
            found = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        if not prefix:
            raise
        note(f"{prefix} cannot be listed: {error.strerror or error}.")
        return []
    own = []
    for entry in found:
        if is_own(entry.name):
            own.append(entry)
        else:
            _pass_over(entry, prefix, pass_over)
    return own


def _pass_over(entry: os.DirEntry[str], prefix: str, pass_over: PassOver) -> None:
    """Keep the names of sources that are hidden, or in a folder whose name an environment of Python has."""
    path = prefix + entry.name
    is_folder = entry.is_dir(follow_symlinks=False)
    if is_folder and is_in_environment(f"{path}/"):
        with suppress(OSError), blaming_the_machine(), os.scandir(entry.path) as listing:
            for one in islice(listing, MAX_UNREAD):
                _pass_over(one, f"{path}/", pass_over)
    elif not is_folder:
        pass_over(path)
