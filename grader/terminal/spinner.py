"""The line on standard error that says what is being done, once that has taken a while."""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from grader.terminal.console import has_colour, is_terminal
from grader.terminal.text import PLAIN_SIGNS, signs_for

if TYPE_CHECKING:
    from rich.live import Live
    from rich.spinner import Spinner as RichSpinner

PATIENCE = 0.5  # seconds


class Spinner:
    """A context in which `text` is shown after half a second, if somebody looks at standard error."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._spinner: RichSpinner | None = None
        self._live: Live | None = None
        self._over = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Spinner:
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
            if self._spinner is not None:
                self._spinner.update(text=text)

    def stop(self) -> None:
        """Take the line away for good."""
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._live is not None:
                self._live.stop()
                self._live = None

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner as RichSpinner

        with self._lock:
            if not self._over:
                console = Console(stderr=True, color_system="standard" if has_colour(sys.stderr) else None)
                plain = signs_for(sys.stderr.encoding) == PLAIN_SIGNS
                self._spinner = RichSpinner("line" if plain else "dots", self._text, style="green")
                # standard output stays as it is: behind a stand-in of rich its encoding, and so our signs, are lost
                self._live = Live(self._spinner, console=console, refresh_per_second=12.5, transient=True,
                                  redirect_stdout=False)  # fmt: skip
                self._live.start()
