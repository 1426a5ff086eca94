"""Print lines and read answers, on a terminal or through a pipe.

On a terminal each screen begins clear, and a longer text pauses before its beginning scrolls away. Through a pipe the
same words come one after the other, and each answer is echoed, so that a transcript can be followed.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress

import click

from grader.terminal.console import is_terminal, paint, put, width, wrap
from grader.terminal.keyboard import shown_again

MORE = "-- Enter shows the rest -- "
STOP_KEY = "q"
CLEAR = "\x1b[2J\x1b[H"
CLEAR_ROW_ABOVE = "\x1b[A\x1b[2K"


class Prompter:
    """Prints lines and reads answers. `interactive` says whether a person is at a terminal."""

    def __init__(self) -> None:
        self.interactive = is_terminal(sys.stdin) and is_terminal(sys.stdout)
        self._rows = 0  # printed since the last answer
        self._shown: list[str] = []  # since the screen was cleared
        if self.interactive:
            _enable_line_editing()
        elif reconfigure := getattr(sys.stdin, "reconfigure", None):
            reconfigure(errors="replace")  # undecodable bytes make an unreadable answer, not a crash

    def clear(self) -> None:
        """Begin a new screen; print an empty line where the cursor cannot move."""
        if self._can_move_cursor:
            click.echo(CLEAR, nl=False, color=True)
        else:
            put()
        self._rows, self._shown = 0, []

    @property
    def _can_move_cursor(self) -> bool:
        return self.interactive and os.environ.get("TERM") != "dumb"

    def show(self, lines: list[str]) -> None:
        """Print lines; on a terminal, pause before more than a screenful."""
        for line in lines:
            rows = max(1, -(-len(click.unstyle(line)) // width()))  # as the terminal wraps it
            if self.interactive and self._rows + rows > screen_rows() - 1:
                self._pause()
            put(line)
            self._rows += rows
            self._shown.append(line)

    def end(self, lines: list[str]) -> None:
        """Print the last lines, without pausing."""
        put("\n".join(["", *lines]))

    def ask(self, prompt: str) -> str:
        """Read one line. Raises EOFError at the end of the input."""
        self._rows = 0
        space = prompt[len(prompt.rstrip()) :]
        *above, prompt = wrap(prompt).split("\n")
        self.show(above)
        prompt += space
        if self.interactive:
            sys.stdout.flush()
            try:
                with shown_again(lambda: self._show_again(prompt)):
                    typed = input(prompt)
            except EOFError:
                put()
                raise
            self._shown.append(prompt + typed)
            return typed
        click.echo(prompt, nl=False)
        sys.stdout.flush()
        line = read_line()
        put(line)
        return line

    def _show_again(self, prompt: str) -> None:
        """Show what was asked below what the shell has said since, and what of an answer was typed."""
        click.echo("\n".join(["", *self._shown[-screen_rows() + 2 :], prompt + _typed()]), nl=False, color=True)

    def forget_answer(self) -> None:
        """Clear the row where an answer was typed, so that what is printed next stands in its place."""
        if self._can_move_cursor:
            click.echo(CLEAR_ROW_ABOVE, nl=False, color=True)
        del self._shown[-1:]

    def choose(self, prompt: str, answers: dict[str, str], default: str = "", *, can_stop: bool = False) -> str:
        """Ask until one of `answers` (what may be typed, in lower case) is typed, and return its meaning.

        `default` is the meaning of Enter alone, if it has one. With `can_stop`, `q` may be typed too, which raises
        EOFError.
        """
        if can_stop:
            answers = {**answers, STOP_KEY: STOP_KEY}
            prompt = f"{prompt.rstrip()}; {STOP_KEY} stops "
        while True:
            typed = self.ask(prompt).strip().lower()
            if not typed and default:
                return default
            if can_stop and typed in (STOP_KEY, "quit"):
                raise EOFError
            if typed in answers:
                return answers[typed]
            self.show([paint(f"Type {_list_keys(answers)}{', or Enter alone' if default else ''}.", "quiet")])

    def wait_for_enter(self) -> None:
        """Wait until a person at a terminal has read. Raises EOFError if they stop."""
        if self.interactive:
            self.show([""])
            if self.ask(f"Enter goes on, {STOP_KEY} stops ").strip().lower() in (STOP_KEY, "quit"):
                raise EOFError

    def _pause(self) -> None:
        self._shown.append(MORE + input(MORE))
        self.forget_answer()
        self._rows = 0


def read_line() -> str:
    """Read a line from standard input, without its end. Raises EOFError."""
    line = sys.stdin.readline() if sys.stdin else ""
    if not line:
        raise EOFError
    return line.rstrip("\r\n")


def _typed() -> str:
    """Return what stands at the prompt so far, where that is known."""
    readline = sys.modules.get("readline")
    return str(readline.get_line_buffer()) if readline else ""


def _list_keys(answers: dict[str, str]) -> str:
    """List the shortest key for each meaning: "y, p or n"."""
    shortest: dict[str, str] = {}
    for typed, meaning in answers.items():
        shortest[meaning] = min(shortest.get(meaning, typed), typed, key=len)
    *first, last = shortest.values()
    return f"{', '.join(first)} or {last}" if first else last


def screen_rows() -> int:
    """Return the rows of the terminal."""
    return max(6, shutil.get_terminal_size((80, 24)).lines)


def _enable_line_editing() -> None:
    """Enable arrow keys at the prompt, without a history: it would hold the answers to other questions."""
    with suppress(ImportError):
        import readline

        readline.set_auto_history(False)
        with suppress(Exception):  # libedit has other settings
            readline.parse_and_bind("set enable-bracketed-paste off")
