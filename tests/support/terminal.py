"""A terminal of any size with `learn` in it, driven key by key as somebody at a keyboard would."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

from support.command_server import start_command
from support.learn_command import environment

SECONDS = 120


class Terminal:
    """`learn ARGUMENTS` with a terminal of its own. As a context it leaves nothing behind."""

    def __init__(self, *arguments: str, cwd: Path, course: Path, rows: int = 24, columns: int = 80, **more: str):
        self._ours, theirs = pty.openpty()
        self.resize(rows, columns)
        variables = environment(course, **{"TERM": "xterm", **more})
        del variables["COLUMNS"]  # the terminal itself knows
        self.process = start_command("learn", arguments, cwd, variables, (theirs, theirs, theirs), terminal=True)
        os.close(theirs)
        self.text = ""  # all that was ever shown
        self._seen = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exception: object) -> None:
        self.process.kill()
        self.process.wait()
        self.hang_up()

    def until(self, wanted: str) -> str:
        """Return what is shown up to and with `wanted`, from where the last call ended; colours left out."""
        deadline = time.monotonic() + SECONDS
        while True:
            new = plain(self.text)[self._seen :]
            if wanted in new:
                end = new.index(wanted) + len(wanted)
                self._seen += end
                return new[:end]
            assert time.monotonic() < deadline and self._more(), f"no {wanted!r} in:\n{new}"

    def type(self, keys: str) -> None:
        """Keys, where Enter is a carriage return."""
        os.write(self._ours, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def hang_up(self) -> None:
        """Close the terminal, as a window is closed."""
        if self._ours >= 0:
            os.close(self._ours)
            self._ours = -1

    def interrupt(self) -> None:
        """Ctrl-C, once more if it came in the moment in which the prompt was there and nobody listened yet."""
        for _ in range(50):
            self.type("\x03")
            try:
                self.process.wait(2)
                return
            except subprocess.TimeoutExpired:
                pass

    def kill(self) -> None:
        """kill -9, then what had been shown by then."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(SECONDS)
        while self._more():
            pass

    def end(self) -> tuple[str, int]:
        """Return the rest of what is shown, and the exit code."""
        deadline = time.monotonic() + SECONDS
        while self._more():
            assert time.monotonic() < deadline, self.text[-500:]
        rest = plain(self.text)[self._seen :]
        return rest, self.process.wait(SECONDS)

    def _more(self) -> bool:
        """Wait for more text; False once there can be none."""
        if not select.select([self._ours], [], [], 1.0)[0]:
            return self.process.poll() is None
        try:
            new = os.read(self._ours, 1 << 16)
        except OSError:  # the other end is closed
            return False
        self.text += new.decode(errors="replace").replace("\r\n", "\n")
        return bool(new)


def plain(text: str) -> str:
    """Text without colours and movements."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
