"""Tell which files are saved with other content: by the system's events, and by polling where there are none."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from grader.errors import GraderError
from grader.files import read_whole

STEP_MS, DEBOUNCE_MS = 5, 60  # how long to wait for more of one save: editors write in several steps


class SavedFiles:
    """A context in which `on_save(path)` is called, by a thread, for each of the files that is saved changed."""

    def __init__(self, folder: Path, files: Iterable[Path], on_save: Callable[[Path], None]) -> None:
        self._folder, self._on_save = folder.resolve(), on_save
        self._digests = {path.resolve(): _digest(path) for path in files}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="saved-files", daemon=True)

    def __enter__(self) -> SavedFiles:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join(2.0)

    def _watch(self) -> None:
        from watchfiles import watch

        options = {"step": STEP_MS, "debounce": DEBOUNCE_MS, "rust_timeout": 200, "raise_interrupt": False}
        for changes in watch(self._folder, stop_event=self._stop, **options):  # type: ignore[arg-type]
            for path in sorted({Path(name) for _, name in changes} & self._digests.keys()):
                digest = _digest(path)
                if digest and digest != self._digests[path]:
                    self._digests[path] = digest
                    self._on_save(path)


def _digest(path: Path) -> str:
    """Return the content's digest; "" where there is none to be read, as between two steps of a save."""
    try:
        return hashlib.sha256(read_whole(path)).hexdigest()
    except (OSError, GraderError):
        return ""
