"""Read single keys without Enter, and leave the terminal as it was."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def forget_typed() -> None:
    """Drop what was typed before anything asked for it: it answers no question that comes now."""
    import termios

    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def read_key() -> str:
    """Wait for a key, and show none; an arrow, say, is several characters."""
    import termios
    import tty

    stdin = sys.stdin.fileno()
    before = termios.tcgetattr(stdin)
    tty.setcbreak(stdin, termios.TCSADRAIN)  # what is typed while the page is looked at stays
    try:
        return os.read(stdin, 64).decode("utf-8", "ignore")
    finally:
        termios.tcsetattr(stdin, termios.TCSADRAIN, before)


@contextmanager
def shown_again(show: Callable[[], None]) -> Iterator[None]:
    """Call `show` when the shell lets us go on after Ctrl-Z: nothing that was asked stands on the screen any more."""
    number = getattr(signal, "SIGTSTP", None)  # Windows has none
    if number is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        _stop_as_usual(number)
        signal.signal(number, stop)
        show()

    before = signal.signal(number, stop)
    try:
        yield
    finally:
        signal.signal(number, before)


def _stop_as_usual(number: signal.Signals) -> None:
    """Stop until the shell lets us go on, then have the terminal as it was: the shell lets it show keys by itself."""
    import termios

    attributes = termios.tcgetattr(sys.stdin.fileno())
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, attributes)


class Keyboard:
    """Calls `on_key(character)` from a thread between `start` and `stop`. Ctrl-C and Ctrl-Z stay signals."""

    def __init__(self, on_key: Callable[[str], None]) -> None:
        self._on_key = on_key
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Take keys one by one, without showing them."""
        import termios
        import tty

        if self._thread is not None:
            return
        self._stdin = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._stdin)
        tty.setcbreak(self._stdin)
        self._stop, self._waker = os.pipe()
        self._thread = threading.Thread(target=self._read, name="keyboard", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Give the terminal back as it was."""
        import termios

        if self._thread is None:
            return
        os.write(self._waker, b".")
        self._thread.join()
        os.close(self._waker)
        os.close(self._stop)
        self._thread = None
        termios.tcsetattr(self._stdin, termios.TCSADRAIN, self._before)

    def _read(self) -> None:
        while True:
            ready, _, _ = select.select([self._stdin, self._stop], [], [])
            if self._stop in ready:
                return
            typed = os.read(self._stdin, 64)
            if not typed:
                return
            text = typed.decode("utf-8", "ignore")
            if not text.startswith("\x1b"):  # an arrow, say, is several characters
                for character in text:
                    self._on_key(character)
