"""Writing to the learner's terminal without rich, for the commands that must be there at once.

Colour is used on a terminal only, never with NO_COLOR or TERM=dumb, and never says what words do not.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

from grader.reports.plain import Signs, signs_for

if TYPE_CHECKING:
    from grader.reports.page import Page

WIDEST = 100
PATIENCE = 0.5  # seconds until a command that is still at work says so

STYLES = {"good": {"fg": "green"}, "bad": {"fg": "red"}, "strong": {"bold": True}, "quiet": {"dim": True},
          "command": {"fg": "cyan"}}  # fmt: skip

_CODE = re.compile(r"`[^`]+`")


def colourful(stream: TextIO | None = None) -> bool:
    """Whether a stream takes colour."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or _is_terminal(stream or sys.stdout)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # closed, or none at all
        return False


def width() -> int:
    """The columns there are; 80 where there is no terminal and no COLUMNS."""
    return max(20, shutil.get_terminal_size((80, 24)).columns)


def signs() -> Signs:
    """The signs that standard output can show."""
    return signs_for(getattr(sys.stdout, "encoding", None))


def page(verbose: bool = False) -> Page:
    """How rich reports look on standard output. Imports rich."""
    from grader.reports.page import Page

    colour = colourful()
    return Page(width(), colour, links=colour and _is_terminal(sys.stdout), signs=signs(), everything=verbose)


def paint(text: str, style: str) -> str:
    """`text` in one of STYLES, or as it is where there is no colour."""
    return click.style(text, **STYLES[style]) if colourful() else text  # type: ignore[arg-type]


def put(text: str = "") -> None:
    """A line of output."""
    click.echo(text, color=True)  # what is in the text was decided by `paint`


def wrap(text: str, indent: int = 0, columns: int | None = None) -> str:
    """Prose in lines, indented, words and `code` whole, the code set off."""
    import textwrap

    held = _CODE.sub(lambda code: code[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(
        held, min(columns or width(), WIDEST) - indent, break_long_words=False, break_on_hyphens=False
    )
    whole = "\n".join(" " * indent + line for line in lines).replace("\0", " ")
    return _CODE.sub(lambda code: paint(code[0], "strong"), whole)


def show_paged(text: str, pager: bool) -> None:
    """A long text: through the pager if the terminal is smaller than it."""
    height = shutil.get_terminal_size((80, 24)).lines
    if pager and _is_terminal(sys.stdout) and _is_terminal(sys.stdin) and text.count("\n") >= height:
        click.echo_via_pager(text, color=colourful())
    else:
        click.echo(text, nl=False, color=True)


class Working:
    """A line on standard error that says what is being done, once that has taken a while."""

    def __init__(self, text: str) -> None:
        import threading

        self._text = text
        self._status: object = None
        self._timer = threading.Timer(PATIENCE, self._start)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._over = False

    def _start(self) -> None:
        from rich.console import Console
        from rich.status import Status

        with self._lock:
            if not self._over:
                colour = {} if colourful(sys.stderr) else {"color_system": None}
                status = Status(self._text, console=Console(stderr=True, **colour))  # type: ignore[arg-type]
                status.start()
                self._status = status

    def say(self, text: str) -> None:
        """What is being done now."""
        with self._lock:
            self._text = text
            if self._status is not None:
                self._status.update(text)  # type: ignore[attr-defined]

    def stop(self) -> None:
        """Take the line away, for good."""
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._status is not None:
                self._status.stop()  # type: ignore[attr-defined]
                self._status = None

    def begin(self) -> None:
        """Start to wait; nothing is shown where standard error is no terminal that can take a line away."""
        if _is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb":
            self._timer.start()


@contextmanager
def working(text: str) -> Iterator[Working]:
    """Inside, `text` is shown on standard error after half a second."""
    line = Working(text)
    line.begin()
    try:
        yield line
    finally:
        line.stop()
