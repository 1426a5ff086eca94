"""Tell which files are saved with other content, or taken away: by the system's events, else by polling."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from grader.errors import GraderError
from grader.files import read_whole, resolved

STEP_MS, DEBOUNCE_MS = 5, 60  # how long to wait for more of one save: editors write in several steps
FOLDER = "a folder"  # in the place of a digest


class SavedFiles:
    """A context in which `on_save(path)` is called, by a thread, for each file that is saved changed, or stays away."""

    def __init__(self, folder: Path, files: Iterable[Path], on_save: Callable[[Path], None]) -> None:
        self._folder, self._on_save = resolved(folder), on_save
        self._digests = {resolved(path): _digest(path) for path in files}
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
        missing = set[Path]()  # at the last look: many an editor puts a new file in the place of the old one
        unseen = set(self._digests)  # what was saved before the system tells of it, which it may do late
        for changes in watch(self._folder, stop_event=self._stop, yield_on_timeout=True, **options):  # type: ignore[arg-type]
            looked_at = {Path(name) for _, name in changes} & self._digests.keys() | missing | unseen
            unseen = set()
            digests = {path: _digest(path) for path in sorted(looked_at)}
            gone = missing if not changes else set()
            missing = {path for path, digest in digests.items() if not digest and self._digests[path]} - gone
            for path, digest in digests.items():
                if digest != self._digests[path] and path not in missing:
                    self._digests[path] = digest
                    self._on_save(path)


def _digest(path: Path) -> str:
    """Return the content's digest; "" where there is none to be read, as between two steps of a save.

    A folder in the file's place has one of its own: no step of a save makes it.
    """
    try:
        return hashlib.sha256(read_whole(path)).hexdigest()
    except (OSError, GraderError):
        return FOLDER if path.is_dir() else ""
