"""The folder that a run writes to.

DIR/results.sqlite     the store: what was graded, on what, when, and what that replaced
DIR/shards/I-of-N.sqlite  the same for one part of a class (`--shard I/N`), which has no other files
DIR/previous-N/        what was in DIR before a run that began anew
"""

from __future__ import annotations

import contextlib
import errno
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from grader.batch.outputs import FILES
from grader.batch.shards import Shard
from grader.errors import StoreError, UsageError
from grader.store.class_store import ClassStore

STORE = "results.sqlite"
PREVIOUS = "previous-{}"


def store_path(out: Path, shard: Shard | None = None) -> Path:
    """Where the results in `out` are kept."""
    return out / (shard.file if shard else STORE)


def put_aside(path: Path) -> Path | None:
    """Move a store, and the files made from it, into a folder of their own, which is given back; None if there are no
    results to lose."""
    if not path.exists():
        return None
    store = ClassStore.existing(path)  # what a killed run left half written is taken back first
    is_empty = not store.states()
    store.close()
    if is_empty:
        path.unlink()
        return None
    folders = (path.parent / PREVIOUS.format(number) for number in itertools.count(1))
    folder = next(folder for folder in folders if not (folder / path.name).exists())
    with explained(path.parent):
        folder.mkdir(exist_ok=True)  # the parts of a class, each with a process of its own, share it
        for name in [path.name, *(FILES if path.name == STORE else ())]:
            if (path.parent / name).exists():
                (path.parent / name).rename(folder / name)
    return folder


def now() -> str:
    """The time, as the results say it: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class OpenedFolder:
    """A results folder that a run has for itself. `made` are the folders that were not there, the innermost first."""

    lock: IO[bytes]
    made: tuple[Path, ...]

    def give_back(self) -> None:
        """Leave everything as it was, for a run that was refused."""
        with contextlib.suppress(OSError):  # whoever has put something there keeps it
            if self.made:
                Path(self.lock.name).unlink()
            for folder in self.made:
                folder.rmdir()
        self.lock.close()


def opened_folder(path: Path) -> OpenedFolder:
    """The folder of the store at `path`, made if need be, and locked. Raises OSError, UsageError."""
    made = tuple(itertools.takewhile(lambda folder: not folder.exists(), path.absolute().parents))
    path.parent.mkdir(parents=True, exist_ok=True)
    return OpenedFolder(locked(path), made)


def locked(path: Path) -> IO[bytes]:
    """A file beside the store that is locked as long as it is open. Not the store itself: SQLite has its own locks on
    that, which closing another descriptor of it would take away."""
    lock = path.with_name(f".{path.name}.lock").open("ab")
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
def explained(out: Path) -> Iterator[None]:
    """The system's refusals to write in `out` as errors that say what to do."""
    try:
        yield
    except StoreError as error:  # the command as it was would begin anew
        next_step = error.next_step.replace("repeat the command", "repeat the command with --resume")
        raise StoreError(error.what, where=error.where, next_step=next_step) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            next_step = "free some space, and repeat the command with --resume"
            raise StoreError("the disk is full", where=str(out), next_step=next_step) from None
        what = f"the results cannot be written here: {error.strerror or error}"
        raise UsageError(what, where=str(out), next_step="give a folder of your own with --out DIR") from None
