"""Lay out styled lines for a terminal; words and paths are never broken.

Everything becomes a string, so that a pipe, a test and a terminal get the same words. Only named colours are used,
which the terminal's theme makes readable.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from grader.terminal.text import CODE, WORD, Signs, clean, words_within, wrap_points

MAX_COLUMNS = 110  # longer lines of prose are hard to read

GOOD, BAD, TROUBLE, QUIET, STRONG, COMMAND = "green", "red", "magenta", "dim", "bold", "cyan"


@dataclass(frozen=True)
class Layout:
    """How to render: the width in columns, whether with colours and links, the signs, and whether at full length.

    `more` is what asks for the full length, a key or an option. `palette` is what rich calls the terminal's colours:
    "standard", "256" or "truecolor".
    """

    width: int = 80
    colour: bool = False
    links: bool = False
    signs: Signs = field(default_factory=Signs)
    everything: bool = False
    more: str = "-v"
    palette: Literal["standard", "256", "truecolor"] = "standard"

    @property
    def columns(self) -> int:
        """Return the width to use."""
        return max(20, min(self.width, MAX_COLUMNS))

    @property
    def has_keys(self) -> bool:
        """Return True where a key does what a command does elsewhere."""
        return len(self.more) == 1

    @cached_property
    def _console(self) -> Console:
        return make_console(self.columns, self.colour, palette=self.palette)

    def render(self, lines: Iterable[Text]) -> str:
        """Return the lines as one string that ends in a newline, without spaces at the ends of lines."""
        with self._console.capture() as capture:
            for line in lines:
                self._console.print(line, no_wrap=True, overflow="ignore", crop=False)
        return "\n".join(line.rstrip() for line in capture.get().rstrip().split("\n")) + "\n"

    def item(self, head: str, style: str, body: Text) -> list[Text]:
        """Put `body` beside `head`; its further lines begin where its first one does."""
        width = self.columns - len(head)
        fold = fold_whole if self.has_keys else _wrap  # on a screen that is redrawn every line is counted
        pieces = [piece for line in body.split("\n", allow_blank=True) for piece in fold(line, width)]
        rest = [Text.assemble(" " * len(head), piece) for piece in pieces[1:]]
        return [Text.assemble((head, style), pieces[0]), *rest]

    def paragraph(self, indent: int, body: Text) -> list[Text]:
        """Wrap `body` and indent each line."""
        return self.item(" " * indent, "", body)

    def link(self, path: str, style: str = "") -> Style:
        """Return the style of a file's name, with a link to the file where terminals know links."""
        target = Path(path).absolute().as_uri() if self.links else None
        return Style.parse(style or "none") + Style(link=target)


def make_console(
    columns: int,
    colour: bool,
    theme: Theme | None = None,
    palette: Literal["standard", "256", "truecolor"] = "standard",
) -> Console:
    """Make a console whose output is captured, independent of the environment."""
    return Console(
        file=io.StringIO(),
        width=columns,
        force_terminal=colour,
        color_system=palette if colour else None,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        theme=theme,
        _environ={},
    )


def _wrap(line: Text, columns: int, word: re.Pattern[str] = WORD) -> list[Text]:
    """Wrap a line; an indented line stays indented. rich would break a long word, and a path with it."""
    indent = _indent(line, columns)
    first, *rest = line.divide(wrap_points(line.plain, columns, indent=indent, word=word, measure=cell_len))
    for piece in (first, *rest[:-1]):
        piece.rstrip()
    return [first, *(Text.assemble(" " * indent, piece) for piece in rest)]


def _indent(line: Text, columns: int) -> int:
    start = WORD.search(line.plain)
    return start.start() if start and start.start() <= columns // 2 else 0


def fold_whole(line: Text, columns: int) -> list[Text]:
    """Wrap a line so that none is wider, whatever it holds: a long word is broken, behind a sign if it has one."""
    room = max(columns - _indent(line, columns), 1)
    if cell_len(line.plain) != len(line.plain):
        room = max(room // 2, 1)  # a character may take two columns
    return _wrap(line, columns, words_within(room))


def fold_styled(line: str, columns: int) -> list[str]:
    """Wrap a line with colours and links so that none is wider; one that fits stays as it is."""
    text = Text.from_ansi(line)
    if text.cell_len <= columns:
        return [line]
    whole = Layout(columns, colour=True, palette="truecolor").render(fold_whole(text, columns))
    return whole.removesuffix("\n").split("\n")


def prose(text: str) -> Text:
    """Style a sentence of the engine or of a course, with its `code` set off."""
    made = Text(clean(text))
    made.highlight_regex(CODE, STRONG)
    return made


def heading(text: str) -> list[Text]:
    """Return an empty line and a heading."""
    return [Text(), Text(text, STRONG)]
