"""Folders for the files of a process that grades. They are gone when the process is, however it ended.

The owner holds a lock on its folder, which the system lets go of when the owner dies, even of kill -9. Whoever makes or
ends such a folder takes away those that nobody holds any more.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

PREFIX, NEW = "selfattend-grading-", "selfattend-new-"
NEW_SECONDS = 60.0  # a folder that nobody has locked by then never will be


class Scratch:
    """A folder of one's own."""

    def __init__(self) -> None:
        sweep()
        new = Path(tempfile.mkdtemp(prefix=NEW))
        self._lock = _locked(new)
        self.root = new.rename(new.with_name(PREFIX + new.name.removeprefix(NEW)))

    def remove(self) -> None:
        """Take it away, with everything in it. Doing so twice does no harm."""
        shutil.rmtree(self.root, ignore_errors=True)
        if self._lock is not None:
            with contextlib.suppress(OSError):
                os.close(self._lock)
            self._lock = None


def sweep() -> None:
    """Take away the folders of processes that are dead."""
    for place in Path(tempfile.gettempdir()).glob("selfattend-*"):
        with contextlib.suppress(OSError):  # another one is faster, or it is not ours
            is_new = place.name.startswith(NEW) and time.time() - place.lstat().st_mtime < NEW_SECONDS
            if place.name.startswith((PREFIX, NEW)) and not is_new:
                _remove_if_free(place)


def _remove_if_free(place: Path) -> None:
    lock = _locked(place)
    if lock is not None and os.fstat(lock).st_uid == os.getuid():
        shutil.rmtree(place, ignore_errors=True)
    if lock is not None:
        os.close(lock)


def _locked(place: Path) -> int | None:
    """A descriptor that holds the lock on a folder; None where there are no such locks. Raises OSError if held."""
    try:
        import fcntl
    except ImportError:  # Windows; the judge does not run there either
        return None
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
