"""Show on standard error what is being done, once it has taken a while."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING

from grader.terminal.console import has_colour, is_terminal, put
from grader.terminal.text import PLAIN_SIGNS, signs_for

if TYPE_CHECKING:
    from rich.live import Live
    from rich.spinner import Spinner as RichSpinner

DELAY_S = 0.5
BAR_COLUMNS = 20


class Spinner:
    """A context that shows `text` after half a second, if standard error is a terminal."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._spinner: RichSpinner | None = None
        self._training: tuple[int, float] | None = None  # its first step that was shown, and when
        self._live: Live | None = None
        self._is_over = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(DELAY_S, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Spinner:
        if is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb":
            self._timer.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def update(self, text: str) -> None:
        """Show another text."""
        with self._lock:
            self._text = text
            if self._spinner is not None:
                self._spinner.update(text=text)
            if self._live is not None:
                self._live.refresh()  # what is over before the next frame is shown, too

    def train(self, done: int, total: int, loss: float) -> None:
        """Show how far a training is, with its loss and the time left, counted from the first time this is called."""
        now = time.monotonic()
        first, began = self._training = self._training or (done, now)
        signs, full = signs_for(sys.stderr.encoding), BAR_COLUMNS * min(done, total) // max(1, total)
        left = f", {(now - began) / (done - first) * (total - done):.0f} s left" if done > first else ""
        bar = signs.full * full + signs.empty * (BAR_COLUMNS - full)
        self.update(f"Training {bar} step {done} of {total}, loss {loss:.3f}{left}")

    def say(self, text: str) -> None:
        """Print a text above the line."""
        with self._lock:
            if self._live is not None:
                self._live.stop()
            put(text)
            if self._live is not None:
                self._live.start()

    def stop(self) -> None:
        """Take the line away for good."""
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._live is not None:
                self._live.stop()
                self._live = None

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner as RichSpinner

        with self._lock:
            if not self._is_over:
                console = Console(stderr=True, color_system="standard" if has_colour(sys.stderr) else None)
                plain = signs_for(sys.stderr.encoding) == PLAIN_SIGNS
                self._spinner = RichSpinner("line" if plain else "dots", self._text, style="green")
                # rich would redirect standard output through an object that loses its encoding, and so our signs
                self._live = Live(
                    self._spinner, console=console, refresh_per_second=12.5, transient=True, redirect_stdout=False
                )
                self._live.start()
