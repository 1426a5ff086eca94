"""Temporary folders of grading processes, removed however a process ended.

The owner holds a lock on its folder, which the system releases when the owner dies, even of kill -9. Creating or ending
one removes those that are no longer locked.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

PREFIX, NEW_PREFIX = "selfattend-grading-", "selfattend-new-"
NEW_SECONDS = 60.0  # a new folder that is not locked by then never will be


class TempFolder:
    """A temporary folder at `root`, locked by this process."""

    def __init__(self) -> None:
        remove_stale_folders()
        new = Path(tempfile.mkdtemp(prefix=NEW_PREFIX))
        self._lock = _lock(new)
        self.root = new.rename(new.with_name(PREFIX + new.name.removeprefix(NEW_PREFIX)))

    def remove(self) -> None:
        """Remove it with everything in it; doing so twice does no harm."""
        shutil.rmtree(self.root, ignore_errors=True)
        if self._lock is not None:
            with contextlib.suppress(OSError):
                os.close(self._lock)
            self._lock = None


def remove_stale_folders() -> None:
    """Remove the folders of processes that are dead."""
    for folder in Path(tempfile.gettempdir()).glob("selfattend-*"):
        with contextlib.suppress(OSError):  # another process was faster, or it belongs to another user
            is_new = folder.name.startswith(NEW_PREFIX) and time.time() - folder.lstat().st_mtime < NEW_SECONDS
            if folder.name.startswith((PREFIX, NEW_PREFIX)) and not is_new:
                _remove_unlocked(folder)


def _remove_unlocked(folder: Path) -> None:
    lock = _lock(folder)
    if lock is not None:
        if os.fstat(lock).st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _lock(folder: Path) -> int | None:
    """Return a descriptor that holds the lock on a folder; None on systems without locks. Raises OSError if held."""
    try:
        import fcntl
    except ImportError:  # Windows; the judge does not run there either
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
