"""Writing to the learner's terminal without rich, for the commands that must be there at once.

Colour is used on a terminal only, never with NO_COLOR or TERM=dumb, and never says what words do not.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from grader.terminal.text import Signs, signs_for

if TYPE_CHECKING:
    from grader.terminal.layout import Layout

WIDEST = 100  # columns of prose

STYLES: dict[str, dict[str, Any]] = {
    "good": {"fg": "green"},
    "bad": {"fg": "red"},
    "strong": {"bold": True},
    "quiet": {"dim": True},
    "command": {"fg": "cyan"},
}

_CODE = re.compile(r"`[^`]+`")


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody looks at a stream."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # none at all, or closed
        return False


def has_colour(stream: TextIO | None = None) -> bool:
    """Whether a stream, standard output if none is given, takes colour."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or is_terminal(stream or sys.stdout)


def width() -> int:
    """The columns there are; 80 where there is no terminal and no COLUMNS."""
    return max(20, shutil.get_terminal_size((80, 24)).columns)


def signs() -> Signs:
    """The signs that standard output can show."""
    return signs_for(getattr(sys.stdout, "encoding", None))


def make_layout(verbose: bool = False) -> Layout:
    """How assessments look on standard output. Imports rich."""
    from grader.terminal.layout import Layout

    colour = has_colour()
    return Layout(width(), colour, links=colour and is_terminal(sys.stdout), signs=signs(), everything=verbose)


def paint(text: str, style: str) -> str:
    """`text` in one of STYLES, or as it is where there is no colour."""
    return click.style(text, **STYLES[style]) if has_colour() else text


def put(text: str = "") -> None:
    """A line of output."""
    click.echo(text, color=True)  # what is in the text was decided by `paint`


def warn(text: str) -> None:
    """Something that went wrong without stopping the command, on standard error."""
    sign = signs_for(getattr(sys.stderr, "encoding", None)).trouble
    click.echo(f"{sign} {text[:1].upper()}{text[1:]}", err=True)


def wrap(text: str, indent: int = 0) -> str:
    """Prose in lines, indented, words and `code` whole, the code set off."""
    import textwrap

    held = _CODE.sub(lambda code: code[0].replace(" ", "\0"), text)
    columns = min(width(), WIDEST) - indent
    lines = textwrap.wrap(held, columns, break_long_words=False, break_on_hyphens=False)
    whole = "\n".join(" " * indent + line for line in lines).replace("\0", " ")
    return _CODE.sub(lambda code: paint(code[0], "strong"), whole)


def show_paged(text: str, pager: bool) -> None:
    """A long text: through the pager if the terminal is smaller than it."""
    height = shutil.get_terminal_size((80, 24)).lines
    if pager and is_terminal(sys.stdout) and is_terminal(sys.stdin) and text.count("\n") >= height:
        os.environ["LESS"] = _for_less(os.environ.get("LESS", ""))
        click.echo_via_pager(text, color=has_colour())
    else:
        click.echo(text, nl=False, color=True)


def _for_less(options: str) -> str:
    """The options for less: colours not shown as signs, and a prompt that says how to leave, unless there is one."""
    if "R" not in options:
        options += " -R"
    if "P" not in options:
        options += " -Psspace goes on, q leaves$"
    return options.strip()
