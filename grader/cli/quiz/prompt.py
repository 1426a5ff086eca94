"""Lines out and answers in: on a terminal, where somebody reads along, or through a pipe.

On a terminal a screen begins clear, and what is longer than the screen stops before its beginning is gone. Through a
pipe the same words come one after the other, and what was read is repeated, so that a transcript can be followed.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress

import click

from grader.terminal.console import is_terminal, paint, put, width

MORE = "-- Enter shows the rest -- "
STOP = "q"
CLEAR = "\x1b[2J\x1b[H"
ROW_ABOVE = "\x1b[A\x1b[2K"  # goes there and empties it


class Dialogue:
    """`terminal` says whether somebody sits there: who reads from a pipe is asked for nothing but answers."""

    def __init__(self) -> None:
        self.terminal = is_terminal(sys.stdin) and is_terminal(sys.stdout)
        self._rows = 0  # printed since something was last typed
        if self.terminal:
            _let_lines_be_edited()
        else:
            reconfigure = getattr(sys.stdin, "reconfigure", None)
            if reconfigure:
                reconfigure(errors="replace")  # bytes that are no text are an answer that cannot be read, no more

    def clear(self) -> None:
        """A new screen, or an empty line."""
        if self._moves:
            click.echo(CLEAR, nl=False, color=True)
        else:
            put()
        self._rows = 0

    @property
    def _moves(self) -> bool:
        """Whether what was shown can be taken away again."""
        return self.terminal and os.environ.get("TERM") != "dumb"

    def show(self, lines: list[str]) -> None:
        """Lines of output; on a terminal no more at a time than can be seen."""
        for line in lines:
            rows = _rows_of(line)
            if self.terminal and self._rows + rows > screen_rows() - 1:
                self._pause()
            put(line)
            self._rows += rows

    def end(self, lines: list[str]) -> None:
        """The last lines of output, after which nothing is waited for."""
        put("\n".join(["", *lines]))

    def ask(self, prompt: str) -> str:
        """The line that is typed. Raises EOFError where there are no more."""
        self._rows = 0
        if self.terminal:
            sys.stdout.flush()
            try:
                return input(prompt)
            except EOFError:
                put()
                raise
        click.echo(prompt, nl=False)
        sys.stdout.flush()
        line = read_line()
        put(line)
        return line

    def choose(self, prompt: str, answers: dict[str, str], default: str = "", *, stops: bool = False) -> str:
        """One of several answers: `answers` maps what may be typed, in small letters, to what it means.

        With `stops` one may type `q`, too: then it raises EOFError, as where the input ends.
        """
        if stops:
            answers = {**answers, STOP: STOP}
            prompt = f"{prompt.rstrip()}; {STOP} stops "
        while True:
            typed = self.ask(prompt).strip().lower()
            if not typed and default:
                return default
            if stops and typed in (STOP, "quit"):
                raise EOFError
            if typed in answers:
                return answers[typed]
            self.show([paint(f"Type {_listed(answers)}{', or Enter alone' if default else ''}.", "quiet")])

    def goes_on(self) -> None:
        """Wait for whoever reads; through a pipe nobody does. Raises EOFError to stop."""
        if self.terminal:
            self.show([""])
            if self.ask(f"Enter goes on, {STOP} stops ").strip().lower() in (STOP, "quit"):
                raise EOFError

    def _pause(self) -> None:
        input(MORE)
        if self._moves:
            click.echo(ROW_ABOVE, nl=False, color=True)
        self._rows = 0


def read_line() -> str:
    """A line from a pipe, without its end. Raises EOFError."""
    line = sys.stdin.readline() if sys.stdin else ""
    if not line:
        raise EOFError
    return line.rstrip("\r\n")


def _listed(answers: dict[str, str]) -> str:
    """The shortest thing to type for each meaning."""
    shortest: dict[str, str] = {}
    for typed, meaning in answers.items():
        shortest[meaning] = min(shortest.get(meaning, typed), typed, key=len)
    *first, last = shortest.values()
    return f"{', '.join(first)} or {last}" if first else last


def screen_rows() -> int:
    """The lines of the terminal."""
    return max(6, shutil.get_terminal_size((80, 24)).lines)


def _rows_of(line: str) -> int:
    """How many rows of the screen a line takes."""
    return max(1, -(-len(click.unstyle(line)) // width()))


def _let_lines_be_edited() -> None:
    """Arrow keys and the like at the prompt; no history, in which the answers to other questions would stand."""
    with suppress(ImportError):
        import readline

        readline.set_auto_history(False)
        with suppress(Exception):  # libedit, which has other settings
            readline.parse_and_bind("set enable-bracketed-paste off")
