"""Render Markdown and source code for a terminal, in colour or as plain text."""

from __future__ import annotations

import re
import sys
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token  # type: ignore[import-untyped]
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.padding import Padding
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from grader.terminal.console import has_colour, is_terminal, width
from grader.terminal.layout import make_console
from grader.terminal.text import MIN_COLUMNS, NUMBERS, code_fold_points

if TYPE_CHECKING:
    from markdown_it.token import Token as Piece

MAX_COLUMNS = 88  # of text; source code takes the terminal's width

# Only named colours and no background: both dark and light themes make them readable.
_CODE_STYLES = {
    Token: Style(),
    Comment: Style(dim=True),
    Keyword: Style(color="magenta"),
    Operator.Word: Style(color="magenta"),
    Name.Function: Style(bold=True),
    Name.Class: Style(bold=True),
    Name.Decorator: Style(color="cyan"),
    Number: Style(color="cyan"),
    String: Style(color="green"),
    String.Doc: Style(color="green"),
}

_STYLES = {
    "markdown.h1": "bold",
    "markdown.h2": "bold",
    "markdown.h3": "bold",
    "markdown.h4": "bold",
    "markdown.code": "cyan",
    "markdown.code_block": "none",
    "markdown.block_quote": "dim",
    "markdown.list": "none",
    "markdown.item.bullet": "bold",
    "markdown.item.number": "bold",
    "markdown.link": "cyan",
    "markdown.link_url": "cyan",
    "markdown.table.header": "bold",
    "markdown.table.border": "dim",
}


def markdown(text: str) -> str:
    """Render a lesson's text."""
    return _render(_Lesson(text), min(width(), MAX_COLUMNS))


def source(code: str) -> str:
    """Highlight Python source; in a terminal fold what is too long, elsewhere without changing a character."""
    longest = 1 + max(map(len, code.split("\n")))
    if not has_colour() and not is_terminal(sys.stdout):
        return code if code.endswith("\n") else code + "\n"
    lines = _fold_python(code, width() if is_terminal(sys.stdout) else longest)
    return _render(Text("\n").join(part for line in lines for part in line), max(width(), longest))


def numbered_source(code: str) -> str:
    """Highlight Python source with the number of each line beside it, and fold what is too long."""
    lines = [
        Text.assemble((f"{number:>3}  " if part is line[0] else " " * NUMBERS, "dim"), part)
        for number, line in enumerate(_fold_python(code, width() - NUMBERS), 1)
        for part in line
    ]
    return _render(Text("\n").join(lines), max(width(), *(line.cell_len for line in lines)))


def _python(code: str, language: str) -> Syntax:
    return Syntax(
        code.rstrip("\n"), language, theme=ANSISyntaxTheme(_CODE_STYLES), background_color="default", word_wrap=True
    )


def _render(content: RenderableType, columns: int) -> str:
    console = make_console(columns, has_colour(), Theme(_STYLES))
    with console.capture() as capture:
        console.print(content)
    return "\n".join(line.rstrip() for line in capture.get().strip("\n").split("\n")) + "\n"


def _fold(line: str, room: int) -> str:
    """Fold a line that is too long below the column, parted by two spaces, in which it leaves the room."""
    starts = [part.start() for part in re.finditer(r"\S(?:\S| (?! ))*", line)]
    start = max([each for each in starts if each <= room - MIN_COLUMNS], default=0)
    if len(line) <= room or not start:
        return line
    return line[:start] + f"\n{' ' * start}".join(textwrap.wrap(line[start:], room - start, break_on_hyphens=False))


def _fold_python(code: str, room: int) -> list[list[Text]]:
    """Colour Python, and fold lines that are too long between words, deeper than what stands below them."""
    folded = []
    for line in _python(code, "python").highlight(code.rstrip("\n")).split("\n"):
        points, indent = code_fold_points(line.plain, room)
        first, *rest = line.divide(points)
        folded.append([first, *(Text.assemble(" " * indent, piece) for piece in rest)])
    return folded


class _Code(CodeBlock):
    """A block of code, indented by two; a block of its output has a word above it."""

    is_output = False

    @classmethod
    def create(cls, markdown: Markdown, token: Piece) -> _Code:
        block = super().create(markdown, token)
        assert isinstance(block, _Code)
        block.is_output = bool(token.meta.get("output"))
        return block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.is_output:
            yield Text("  output:", "dim")
        code = str(self.text)
        room = options.max_width - 2
        if self.lexer_name == "python":
            lines = (part for line in _fold_python(code, room) for part in line)
            yield Padding(Text("\n").join(lines), (0, 0, 0, 2))
        else:  # a table, say, or an output
            code = "\n".join(_fold(line, room) for line in code.split("\n"))
            yield Padding(_python(code, self.lexer_name), (0, 0, 0, 2))


class _Heading(Heading):
    """A heading at the left, underlined with characters if there is no bold."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text
        if not console.is_terminal and self.tag in ("h1", "h2"):
            yield Text(("=" if self.tag == "h1" else "-") * min(self.text.cell_len, options.max_width))


class _Table(TableElement):
    """A table, drawn with dashes and bars if the output is no terminal."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table) and not console.is_terminal:
                table.box = box.MARKDOWN
            yield table


class _Lesson(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "fence": _Code,
        "code_block": _Code,
        "heading_open": _Heading,
        "table_open": _Table,
    }

    def __init__(self, text: str) -> None:
        super().__init__(text)
        for before, token in pairwise(self.parsed):
            if before.type == token.type == "fence" and (before.info, token.info) == ("python", "text"):
                token.meta["output"] = True
        if not has_colour():
            for piece in [child for token in self.parsed for child in token.children or ()]:
                if piece.type == "code_inline":
                    piece.content = f"`{piece.content}`"  # without colour nothing else sets it off
