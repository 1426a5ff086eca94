"""The folder that a run writes to.

DIR/results.sqlite        the store: every result, its input, time, and what it replaced
DIR/shards/I-of-N.sqlite  the same for one part of a class (`--shard I/N`), which has no other files
DIR/previous-N/           what was in DIR before a run that began again
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from grader.batch.outputs import FILES
from grader.batch.shards import Shard
from grader.errors import StoreError, UsageError
from grader.files import PRIVATE_FILE, PRIVATE_FOLDER, make_folder
from grader.model import Override
from grader.store.class_store import ClassStore, Owner

STORE = "results.sqlite"
PREVIOUS = "previous-{}"

Overrides = list[tuple[str, str, Override]]  # id, lesson, override


def store_path(out: Path, shard: Shard | None = None) -> Path:
    """Return where the results in *out* are stored."""
    return out / (shard.file if shard else STORE)


def move_aside(path: Path) -> tuple[Path | None, Overrides, dict[str, Owner]]:
    """Move a store and its files into a new folder; return that, what a human said of hand-ins, and their owners.

    The folder is None if there are no results to lose.
    """
    if not path.exists():
        return None, [], {}
    store = ClassStore.existing(path)  # rolls back what a killed run left
    is_empty = not store.states()
    said, owners = store.words(), store.owners()
    store.close()
    if is_empty:
        path.unlink()
        return None, said, owners
    folders = (path.parent / PREVIOUS.format(number) for number in itertools.count(1))
    folder = next(folder for folder in folders if not (folder / path.name).exists())
    with explain_write_errors(path.parent):
        make_folder(folder, PRIVATE_FOLDER)  # parts of a class, each in its process, share it
        for name in [path.name, *(FILES if path.name == STORE else ())]:
            if (path.parent / name).exists():
                (path.parent / name).rename(folder / name)
    return folder, said, owners


def utc_now() -> str:
    """Return the time as results give it: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class LockedFolder:
    """A locked results folder. `made` are the folders that were created, the innermost first."""

    lock: IO[bytes]
    made: tuple[Path, ...]

    def release(self) -> None:
        """Unlock it, and remove what was created, for a run that was refused."""
        with contextlib.suppress(OSError):  # another program has written there
            if self.made:
                Path(self.lock.name).unlink()
            for folder in self.made:
                folder.rmdir()
        self.lock.close()


def open_folder(path: Path) -> LockedFolder:
    """Create the folder of the store at *path* if needed, and lock it. Raises OSError, UsageError."""
    if path.name == STORE:
        _require_own(path)
    made = tuple(itertools.takewhile(lambda folder: not folder.exists(), path.absolute().parents))
    if path.name == STORE:
        path.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
    else:
        path.parent.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        make_folder(path.parent, PRIVATE_FOLDER)
    return LockedFolder(_lock(path), made)


def _require_own(path: Path) -> None:
    """Raise UsageError where files of others would be overwritten: they have names of ours, and no results lie here.

    A store may be missing that was moved away because it is damaged; its lock tells that it was here.
    """
    if os.path.lexists(path) or os.path.lexists(_lock_path(path)):
        return
    for name in FILES:
        if os.path.lexists(path.parent / name):
            what = f"{name} is here already, and belongs to no results: it would be overwritten"
            next_step = "name another folder with --out, or move what is here to another place"
            raise UsageError(what, where=str(path.parent), next_step=next_step)


def _lock_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


def _lock(path: Path) -> IO[bytes]:
    """Lock a file beside the store until it is closed.

    Not the store: closing another descriptor of it would release SQLite's locks. A link is refused, and no pipe waited
    for. Raises OSError, UsageError.
    """
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    lock = open(  # noqa: SIM115  Path.open knows no opener; the caller closes it
        _lock_path(path), "ab", opener=lambda name, mode: os.open(name, mode | flags, PRIVATE_FILE)
    )
    try:
        import fcntl
    except ImportError:  # Windows has no such locks; the judge does not run there either
        return lock
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        what = "another `grader run` is writing its results here"
        next_step = "wait for its end, or give another folder with --out"
        raise UsageError(what, where=str(path.parent), next_step=next_step) from None
    return lock


@contextmanager
def explain_write_errors(out: Path) -> Iterator[None]:
    """Turn failures to write in *out* into errors that say what to do."""
    try:
        yield
    except StoreError as error:  # without --resume the command would begin again
        next_step = error.next_step.replace("repeat the command", "repeat the command with --resume")
        raise StoreError(error.what, where=error.where, next_step=next_step) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            next_step = "free some space, and repeat the command with --resume"
            raise StoreError("the disk is full", where=str(out), next_step=next_step) from None
        what = f"the results cannot be written here: {error.strerror or error}"
        next_step = "make the folder writable for yourself, or begin a run in another with --out DIR"
        raise UsageError(what, where=str(out), next_step=next_step) from None
