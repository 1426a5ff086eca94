"""Write to the terminal without rich, for commands that must start at once.

Colour is used on a terminal only, never with NO_COLOR or TERM=dumb, and is never all that carries a meaning.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TextIO

import click

from grader.terminal.text import CODE, Signs, capitalize, clean, signs_for, wrap_points

if TYPE_CHECKING:
    from grader.terminal.layout import Layout

MAX_COLUMNS = 100  # of prose
MIN_BESIDE = 20  # columns of a text beside something else

STYLES: dict[str, dict[str, Any]] = {
    "good": {"fg": "green"},
    "bad": {"fg": "red"},
    "strong": {"bold": True},
    "quiet": {"dim": True},
    "command": {"fg": "cyan"},
}

_WHOLE = re.compile(r"(?:`[^`\n]+`|[^ ])+")  # what `wrap` keeps in one line: a word, or `code` with spaces
_LABEL = re.compile(r"(?:Error: |Where: |Next:  )?")  # of a line of an error
_COMMAND = r"(?:learn|grader|pip|jupyter|cd)(?: (?:'[^']*'|[^ ,;()']+))+[,;]?"
_NEXT_STEP = re.compile(rf"`[^`\n]+`|(?<![^ ]){_COMMAND}|[^ ]+")  # a command is typed as it stands: it stays whole, too


def is_terminal(stream: TextIO) -> bool:
    """Return True if the stream is a terminal."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # none at all, or closed
        return False


def has_colour(stream: TextIO | None = None) -> bool:
    """Return True if the stream (standard output by default) takes colour."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or is_terminal(stream or sys.stdout)


def width() -> int:
    """Return the terminal's width in columns; 80 without a terminal and COLUMNS."""
    try:
        columns = int(os.environ.get("COLUMNS", 0))
    except ValueError:
        columns = 0
    if columns <= 0:  # as shutil.get_terminal_size, without what the import of shutil costs
        try:
            columns = os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]  # None is caught
        except (AttributeError, ValueError, OSError):
            columns = 80
    return max(20, columns or 80)


def free_rows(least: int) -> int:
    """Return how many rows a text may have so that a terminal shows it beside two prompts; `least` without one."""
    if not is_terminal(sys.stdout):
        return least
    import shutil  # here: most commands print few lines

    return max(shutil.get_terminal_size((80, 24)).lines - 4, least)


def signs() -> Signs:
    """Return the signs that standard output can show."""
    return signs_for(getattr(sys.stdout, "encoding", None))


def make_layout(verbose: bool = False, more: str = "-v") -> Layout:
    """Return the layout for standard output; `more` is what asks for the verbose one. Imports rich."""
    from grader.terminal.layout import Layout

    colour = has_colour()
    links = colour and is_terminal(sys.stdout)
    return Layout(width(), colour, links=links, signs=signs(), everything=verbose, more=more, palette=palette())


def palette() -> Literal["standard", "256", "truecolor"]:
    """Return how many colours the terminal says that it has."""
    if os.environ.get("COLORTERM") in ("truecolor", "24bit") or os.environ.get("FORCE_COLOR") == "3":
        return "truecolor"
    return "256" if "256" in os.environ.get("TERM", "") else "standard"


def paint(text: str, style: str) -> str:
    """Give `text` one of STYLES if standard output takes colour."""
    return click.style(text, **STYLES[style]) if has_colour() else text


def put(text: str = "") -> None:
    """Print a line."""
    click.echo(text, color=True)  # `paint` has decided on colour


def warn(text: str) -> None:
    """Report on standard error, below what was printed, what went wrong without stopping the command."""
    sys.stdout.flush()
    sign = signs_for(getattr(sys.stderr, "encoding", None)).trouble
    says = capitalize(clean(text))
    if is_terminal(sys.stderr):
        says = wrap_error(says, indent=len(sign) + 1).lstrip()
    click.echo(f"{sign} {says}", err=True)


def confirm(question: str, err: bool = False) -> bool:
    """Ask a question that is answered with yes or no, which Enter means; no word of it is broken."""
    return click.confirm(wrap(f"{question} [y/N]:"), default=False, show_default=False, prompt_suffix=" ", err=err)


def wrap_error(text: str, indent: int = 0) -> str:
    """Wrap each line of an error; further ones begin below what its label says, and no command is broken."""
    return "\n".join(_wrap_labelled(line, indent) for line in text.split("\n"))


def _wrap_labelled(line: str, indent: int) -> str:
    label = _LABEL.match(line)[0]  # type: ignore[index]  # it matches always
    word = _NEXT_STEP if label.startswith("Next") else _WHOLE
    room = indent + len(label)
    return " " * indent + label + wrap(line[len(label) :], room, word=word)[room:]


def wrap(text: str, indent: int = 0, word: re.Pattern[str] = _WHOLE) -> str:
    """Wrap and indent prose. Words and `code` stay whole, the code is set off; a null character becomes a space."""
    text = re.sub(r"[\n\r\v\f]", " ", text.expandtabs()).rstrip(" ")
    points = [0, *wrap_points(text, min(width(), MAX_COLUMNS) - indent, word=word), len(text)]
    lines = [" " * indent + text[start:end].rstrip(" ") for start, end in pairwise(points)] if text else []
    return CODE.sub(lambda code: paint(code[0], "strong"), "\n".join(lines).replace("\0", " "))


def column_beside(taken: int, below: int) -> int:
    """Return where a text begins: behind the columns that are taken, or in the next line, if they leave too few."""
    return taken if width() - taken >= MIN_BESIDE else below


def beside(head: str, text: str, below: int) -> str:
    """Wrap a text behind a head, or below it, where `column_beside` says so."""
    taken = len(click.unstyle(head))
    wrapped = wrap(text, column_beside(taken, below))
    return head + wrapped.lstrip() if width() - taken >= MIN_BESIDE else f"{head.rstrip()}\n{wrapped}"


def has_reader() -> bool:
    """Return True if a person sees what is printed and can answer."""
    return is_terminal(sys.stdout) and is_terminal(sys.stdin)


def is_paged(text: str, pager: bool) -> bool:
    """Return True if a text is shown through the pager: it is longer than the terminal."""
    import shutil

    return pager and has_reader() and text.count("\n") >= shutil.get_terminal_size((80, 24)).lines


def show_paged(text: str, pager: bool, is_part: bool = False) -> None:
    """Show a text, through the pager if it is longer than the terminal. A part stays on the screen below others."""
    if is_paged(text, pager):
        _page(text, is_part)
    else:
        click.echo(text, nl=False, color=True)


def _page(text: str, is_part: bool) -> None:
    """Show a text through the pager, which says how to leave; after a part something else comes."""
    wanted, leave = ("REXK", "q ends this part") if is_part else ("RK", "q stops")
    os.environ["LESS"] = _for_less(os.environ.get("LESS", ""), wanted, leave)
    os.environ.setdefault("LESSSECURE", "1")  # no key of it writes a file or starts a program
    with _signals_of_a_pager():
        click.echo_via_pager(text, color=has_colour())


@contextmanager
def _signals_of_a_pager() -> Iterator[None]:
    """Let nothing stop us while a pager is shown that cannot be stopped: the shell would take its keys.

    Ctrl-C ends the pager, then whatever has called it: click would go on.
    """
    import signal  # here, and below: most commands page nothing
    import threading

    number = getattr(signal, "SIGTSTP", None)  # Windows has none
    if number is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    with handling({number: signal.SIG_IGN, signal.SIGINT: lambda pressed_now, _: pressed.append(pressed_now)}):
        yield
    if pressed:
        raise KeyboardInterrupt


@contextmanager
def handling(handlers: Mapping[Any, Any]) -> Iterator[None]:
    """Answer signals so for a while, then as before."""
    import signal

    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _for_less(options: str, wanted: str, leave: str) -> str:
    """Add options for less, and a prompt that says how to leave, unless there is one.

    R shows colours, K leaves at Ctrl-C, E at the end of the text, and X leaves it on the screen.
    """
    new = [option for option in wanted if option not in options.partition("-P")[0]]
    options = "".join(f"-{option} " for option in new) + options
    if "P" not in options:
        options += f" -Psspace goes on, b back, {leave}$"
    return options.strip()


def has_screen() -> bool:
    """Return False where only a browser in this very terminal could open."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
