"""The line on standard error that says what is being done, once that has taken a while."""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from grader.cli.screen import colourful, is_terminal
from grader.reports.plain import PLAIN_SIGNS, signs_for

if TYPE_CHECKING:
    from rich.status import Status

PATIENCE = 0.5  # seconds


class Working:
    """A context in which `text` is shown after half a second, if somebody looks at standard error."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._status: Status | None = None
        self._over = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Working:
        if is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb":
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def say(self, text: str) -> None:
        """What is being done now."""
        with self._lock:
            self._text = text
            if self._status is not None:
                self._status.update(text)

    def stop(self) -> None:
        """Take the line away for good."""
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._status is not None:
                self._status.stop()
                self._status = None

    def _show(self) -> None:
        from rich.console import Console
        from rich.status import Status

        with self._lock:
            if not self._over:
                console = Console(stderr=True, color_system="standard" if colourful(sys.stderr) else None)
                plain = signs_for(sys.stderr.encoding) == PLAIN_SIGNS
                self._status = Status(self._text, console=console, spinner="line" if plain else "dots")
                self._status.start()
