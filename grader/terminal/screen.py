"""A whole screen that is drawn anew, beside what the terminal showed before."""

from __future__ import annotations

import shutil
import sys

import click

from grader.terminal.console import paint
from grader.terminal.text import plural

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"  # the other screen
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"  # hidden only while drawing: a killed program shows none again
HOME, TO_END_OF_LINE, TO_END = "\x1b[H", "\x1b[K", "\x1b[J"
MIN_HEIGHT = 4


class Screen:
    """The terminal's other screen, between `enter` and `leave`."""

    def __init__(self) -> None:
        self._is_shown = False

    def enter(self) -> None:
        """Take the screen."""
        self._is_shown = True
        self._write(ENTER)

    def leave(self) -> None:
        """Give back the screen as it was before."""
        if self._is_shown:
            self._is_shown = False
            self._write(LEAVE)

    def draw(self, text: str, footer: str, *, dimmed: bool = False) -> None:
        """Show the first lines of a text that fit, and a footer in the last ones."""
        if not self._is_shown:
            return
        below, room, columns = _lay_out(footer)
        lines = _fold_text(text, columns)  # or the terminal would, and what stands first would leave the screen
        if len(lines) > room:
            hidden = len(lines) - room + 1
            lines = [*lines[: room - 1], paint(f"... {plural(hidden, 'more line')}: c shows all", "quiet")]
        if dimmed:
            lines = [paint(click.unstyle(line), "quiet") for line in lines]
        lines += [""] * (room - len(lines)) + [""] + [paint(line, "quiet") for line in below]
        drawn = "\r\n".join(TO_END_OF_LINE + line for line in lines)  # behind a full line it would take a character
        self._write(HIDE_CURSOR + HOME + drawn + TO_END + SHOW_CURSOR)

    @staticmethod
    def room(footer: str) -> int:
        """Return how many lines there are above a footer, and an empty line."""
        return _lay_out(footer)[1]

    def cut(self, text: str, footer: str) -> list[str]:
        """Cut a text into pages that fit above a footer; lines that are too long are folded."""
        _, room, columns = _lay_out(footer)
        lines = _fold_text(text, columns)
        return ["\n".join(lines[start : start + room]) for start in range(0, len(lines), room)]

    @staticmethod
    def _write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _lay_out(footer: str) -> tuple[list[str], int, int]:
    """Return the lines of a footer, how many lines there are above it and an empty one, and how long they are."""
    columns, rows = shutil.get_terminal_size((80, 24))
    below = _fold_text("\n".join(_fold(footer, columns)), columns)
    return below, max(rows - len(below) - 1, MIN_HEIGHT), columns


def _fold_text(text: str, columns: int) -> list[str]:
    """Return the lines of a text, none wider than the terminal."""
    from grader.terminal.layout import fold_styled  # here: it imports rich

    return [part for line in text.rstrip("\n").split("\n") for part in fold_styled(line, columns)]


def _fold(text: str, columns: int) -> list[str]:
    """Fold a footer between its entries, which two spaces part."""
    lines = [""]
    for entry in text.split("  "):
        joined = f"{lines[-1]}  {entry.strip()}" if lines[-1] else entry.strip()
        lines[-1:] = [joined] if len(joined) < columns else [lines[-1], entry.strip()]
    return [line for line in lines if line]
