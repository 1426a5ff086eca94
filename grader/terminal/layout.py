"""Styled lines for a terminal, wrapped by us: words and paths are never broken, further lines stand under the first.

Everything becomes a string, so that a pipe, a test and a terminal get the same words. Only the terminal's own named
colours are used, which its theme makes readable.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from grader.terminal.text import Signs, clean

WIDEST = 110  # columns; longer lines of prose are hard to read

GOOD, BAD, TROUBLE, QUIET, STRONG, COMMAND = "green", "red", "magenta", "dim", "bold", "cyan"

_CODE = re.compile(r"`[^`\n]+`")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Layout:
    """How to render: the width in columns, whether in colour and with links, with which signs, and how much of it."""

    width: int = 80
    colour: bool = False
    links: bool = False
    signs: Signs = field(default_factory=Signs)
    everything: bool = False

    @property
    def columns(self) -> int:
        """The width that is used."""
        return max(20, min(self.width, WIDEST))

    @cached_property
    def _console(self) -> Console:
        return Console(
            file=io.StringIO(),
            width=self.columns,
            force_terminal=self.colour,
            color_system="standard" if self.colour else None,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            _environ={},
        )

    def render(self, lines: Iterable[Text]) -> str:
        """The lines as one string that ends in a newline, with no spaces at the ends of lines."""
        with self._console.capture() as capture:
            for line in lines:
                self._console.print(line, no_wrap=True, overflow="ignore", crop=False)
        return "\n".join(line.rstrip() for line in capture.get().rstrip().split("\n")) + "\n"

    def item(self, head: str, style: str, body: Text) -> list[Text]:
        """`head`, and beside it `body`, whose further lines begin where its first one does."""
        room = self.columns - len(head)
        pieces = [piece for line in body.split("\n", allow_blank=True) for piece in _wrapped(line, room)]
        rest = [Text.assemble(" " * len(head), piece) for piece in pieces[1:]]
        return [Text.assemble((head, style), pieces[0]), *rest]

    def paragraph(self, indent: int, body: Text) -> list[Text]:
        """`body` wrapped, each line indented."""
        return self.item(" " * indent, "", body)

    def link(self, path: str, style: str = "") -> Style:
        """The style of a file's name; where terminals know links, it opens the file."""
        target = Path(path).absolute().as_uri() if self.links else None
        return Style.parse(style or "none") + Style(link=target)


def _wrapped(line: Text, columns: int) -> list[Text]:
    """A line cut before the words that go beyond `columns`; an indented line stays indented.

    rich would cut a long word, and a path with it.
    """
    words = list(_WORD.finditer(line.plain))
    indent = words[0].start() if words and words[0].start() <= columns // 2 else 0
    cuts = [0]
    for word in words[1:]:
        before = indent if len(cuts) > 1 else 0
        if before + cell_len(line.plain[cuts[-1] : word.end()]) > columns:
            cuts.append(word.start())
    first, *rest = line.divide(cuts[1:])
    for piece in (first, *rest[:-1]):
        piece.rstrip()
    return [first, *(Text.assemble(" " * indent, piece) for piece in rest)]


def prose(text: str) -> Text:
    """A sentence of ours or of a course, its `code` set off."""
    made = Text(clean(text))
    made.highlight_regex(_CODE, STRONG)
    return made


def heading(text: str) -> list[Text]:
    """An empty line and a heading."""
    return [Text(), Text(text, STRONG)]
