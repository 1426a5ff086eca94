"""Draw a picture in a terminal: in colour, in shades where there is none, in words for who listens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import cycle, groupby, zip_longest
from math import ceil
from operator import itemgetter
from typing import Any

from rich.style import Style
from rich.text import Text

from grader.model.picture import Picture
from grader.terminal.layout import QUIET, STRONG, Layout, prose
from grader.terminal.picture_view import Cell, Ramp, View, is_number, readable_on, share, views_below_each_other
from grader.terminal.text import Signs, clean

GAP = 2  # columns between views
MAX_LABEL = 12
MAX_LINES = 14  # of a grid with a line for each row
CURVE_LINES, AXIS = 10, 9  # the lines of curves, and the columns in front of them
MIN_BAR, MAX_BAR, MIN_CURVE, MAX_CURVE = 6, 30, 30, 60
SHADES, PLAIN_SHADES = "·░▒▓█", ".:+%@"
NEEDLESS = re.compile(r"^0(?=\.)|(?<=^-)0(?=\.)")  # in a number: the zero of 0.5
EIGHTHS = " ▏▎▍▌▋▊▉"  # of a full block, by how many
SIZES = NUMBERS, SHORT_NUMBERS, CELLS, PIXELS = range(4)  # of a grid, from the widest to the narrowest
CURVES = (("●", "*", "cyan"), ("○", "o", "green"), ("─", "-", QUIET), ("+", "+", "yellow"))


def draw(picture: Picture, layout: Layout, words: bool = False, rows: int | None = None) -> str:
    """Return a picture as text that ends in a newline; smaller if it would have more lines than `rows`."""
    head = layout.paragraph(0, Text(clean(picture.title), STRONG)) + layout.paragraph(0, Text(clean(picture.asked)))
    foot = [line for note in picture.notes for line in layout.paragraph(0, prose(note))]
    lines: list[Text] = []
    for sizes in (SIZES, SIZES[-1:]):
        drawn = [
            line
            for views in views_below_each_other(picture.spec, picture)
            for line in (_say(views, layout) if words else _beside_or_below(views, layout, sizes))
        ]
        lines = [*head, Text(), *drawn, Text(), *foot]
        if words or rows is None or len(lines) <= rows:
            break
    return layout.render(lines)


def _beside_or_below(views: Sequence[View], layout: Layout, sizes: Sequence[int]) -> list[Text]:
    room = (layout.columns - GAP * (len(views) - 1)) // len(views)
    for size in sizes:
        blocks = [_draw_view(view, layout, room, size, at == 0) for at, view in enumerate(views)]
        if sum(_width(block) for block in blocks) + GAP * (len(blocks) - 1) <= layout.columns:
            return _beside(blocks, room)
    return [line for view in views for line in _draw_view(view, layout, layout.columns, PIXELS, True)]


def _width(block: Sequence[Text]) -> int:
    return max((line.cell_len for line in block), default=0)


def _beside(blocks: Sequence[Sequence[Text]], room: int) -> list[Text]:
    """Put blocks beside each other, where each has room at the same places in every line of them."""
    spread = all(_width(block) <= room for block in blocks)
    lines = []
    for parts in zip_longest(*blocks, fillvalue=Text()):
        line, end = Text(), 0
        for block, part in zip(blocks, parts, strict=True):
            line.pad_right(end - line.cell_len)
            line.append_text(part)
            end += (room if spread else _width(block)) + GAP
        lines.append(line)
    return lines


def _draw_view(view: View, layout: Layout, room: int, how: int, is_first: bool) -> list[Text]:
    """Draw a view in so many columns, if that is possible."""
    if not view.can_be_drawn:
        return [Text(f"{view.title}: nothing to draw here".strip(": "))]
    title = [Text(view.title[:room], STRONG)] if view.title else []
    if view.mark == "rect":
        return title + _Grid(view, layout).draw(how, is_first)
    return title + (_bars(view, layout, room) if view.mark == "bar" else _curves(view, layout, room))


def _label(text: Any, length: int) -> str:
    return clean(str(text))[: min(length, MAX_LABEL)]


# --- grids ------------------------------------------------------------------------------------------------------------


class _Grid:
    """A matrix of cells."""

    def __init__(self, view: View, layout: Layout) -> None:
        self.layout, self.ramp = layout, Ramp(view)
        self.has_colour = layout.colour and layout.palette != "standard"
        self.shades = SHADES if layout.signs == Signs() else PLAIN_SHADES
        self.columns, self.rows = view.labels("x"), view.labels("y")
        self.cells = view.cells()

    def draw(self, how: int, is_first: bool) -> list[Text]:
        """Draw it with numbers, with cells of two columns, or of one; labels of rows only where it is the first."""
        rows = [_label(row, MAX_LABEL) for row in self.rows]
        margin = max(map(len, rows)) + 1 if is_first else 0
        labels = [row.rjust(margin - 1) + " " if is_first else "" for row in rows]
        if how == PIXELS or len(rows) > MAX_LINES:
            pixels = self._pixels()
            step = ceil(len(rows) / len(pixels))
            return [Text.assemble((label, QUIET), line) for label, line in zip(labels[::step], pixels, strict=True)]
        if how == SHORT_NUMBERS:
            self.cells = [[Cell(NEEDLESS.sub("", cell.text), cell.value) for cell in row] for row in self.cells]
        has_numbers = how != CELLS
        widest = max(len(cell.text) for row in self.cells for cell in row)
        size = widest + (1 if self.has_colour else 2) if has_numbers else 2
        head = " " * margin + "".join(_label(column, size - 1).rjust(size) for column in self.columns)
        lines = [Text().join(self._cell(cell, size, has_numbers) for cell in row) for row in self.cells]
        return [
            Text(head, QUIET),
            *(Text.assemble((label, QUIET), row) for label, row in zip(labels, lines, strict=True)),
        ]

    def _pixels(self) -> list[Text]:
        """Draw a cell a column; in colour, two rows in a line."""
        if not self.has_colour or self.layout.signs != Signs():
            return [Text().join(self._cell(cell, 1, False) for cell in row) for row in self.cells]
        colours = [[self.ramp.colour(cell.value) for cell in row] for row in self.cells]
        pairs = zip_longest(colours[::2], colours[1::2], fillvalue=[None] * len(self.columns))
        return [
            Text.assemble(*(("▀", Style(color=up, bgcolor=down)) for up, down in zip(*pair, strict=True)))
            for pair in pairs
        ]

    def _cell(self, cell: Cell, size: int, has_number: bool) -> Text:
        text = cell.text if has_number else "" if is_number(cell.value) else "?"
        if self.has_colour:
            colour = self.ramp.colour(cell.value)
            return Text(text.rjust(size), Style(color=readable_on(colour), bgcolor=colour))
        shade = self._shade(cell)
        return Text(shade + text.rjust(size - 2) + " " if has_number else shade * size)

    def _shade(self, cell: Cell) -> str:
        at_share = share(cell.value, self.ramp.domain)
        if at_share is None:
            return "?"
        at_share = abs(2 * at_share - 1) if self.ramp.is_signed else at_share
        return self.shades[min(int(at_share * len(self.shades)), len(self.shades) - 1)]


# --- bars and curves --------------------------------------------------------------------------------------------------


def _bars(view: View, layout: Layout, room: int) -> list[Text]:
    low, high = view.domain("x")
    names = [_label(row[view.field("y")], MAX_LABEL) for row in view.rows]
    texts = [clean(str(row.get("text", ""))) for row in view.rows]
    beside = max(map(len, names)) + max(map(len, texts)) + 2
    width = max(min(room - beside, MAX_BAR), MIN_BAR)
    scale = width / (high - low)
    zero = round(-low * scale)
    lines = []
    for row, name, text in zip(view.rows, names, texts, strict=True):
        value = row[view.field("x")]
        length = min(max(value, low), high) * scale if is_number(value) else 0.0
        bar = " " * zero + _bar(length, layout) if length >= 0 else _bar(-length, layout, 1).rjust(zero)
        label = name.rjust(max(map(len, names))) + " "
        lines.append(Text.assemble((label, QUIET), (bar.ljust(width), "cyan" if length >= 0 else "red"), " " + text))
    return lines


def _bar(length: float, layout: Layout, steps: int = len(EIGHTHS)) -> str:
    """Draw a bar so many columns long, in parts of a column where it grows to the right; nothing only for 0."""
    steps = 1 if layout.signs != Signs() else steps
    parts = max(round(length * steps), 1) if length > 0 else 0
    return layout.signs.full * (parts // steps) + (EIGHTHS[parts % steps] if parts % steps else "")


def _curves(view: View, layout: Layout, room: int) -> list[Text]:
    is_plain = layout.signs != Signs()
    signs = {name: (each[is_plain], each[2]) for name, each in zip(view.labels("color"), cycle(CURVES), strict=False)}
    lines = []
    domain, width = view.domain("y"), min(room - AXIS, MAX_CURVE, max(len(view.labels("x")), MIN_CURVE))
    for at, cells in enumerate(_canvas(view, signs, width)):
        number = {0: f"{domain[1]:.4g}", CURVE_LINES - 1: f"{domain[0]:.4g}"}.get(at, "")
        line = Text.assemble((number.rjust(AXIS - 2) + (" |" if is_plain else " │"), QUIET))
        for style, run in groupby(cells, key=itemgetter(1)):
            line.append("".join(sign for sign, _ in run), style)
        lines.append(line)
    left, right = (f"{end:g}" for end in view.domain("x"))
    middle = clean(view.field("x")).center(width - len(left) - len(right))
    legend = Text(" " * AXIS)
    for name, (sign, style) in signs.items():
        legend.append(f"{sign} ", style).append(f"{clean(name)}   ")
    return [*lines, Text(" " * AXIS + left + middle + right, QUIET), legend]


def _canvas(view: View, signs: Mapping[str, tuple[str, str]], width: int) -> list[list[tuple[str, str]]]:
    """Put a sign for each point into lines of cells, each a character and its style."""
    canvas = [[(" ", "")] * width for _ in range(CURVE_LINES)]
    for name in reversed(list(signs)):  # what comes first is drawn last, over the others
        for row in view.rows:
            y = share(row[view.field("y")], view.domain("y"))
            x = share(row[view.field("x")], view.domain("x"))
            if str(row[view.field("color")]) == name and x is not None and y is not None:
                canvas[round((1 - y) * (CURVE_LINES - 1))][round(x * (width - 1))] = signs[name]
    return canvas


# --- in words ---------------------------------------------------------------------------------------------------------


def _say(views: Sequence[View], layout: Layout) -> list[Text]:
    lines = []
    for head, *rows in (view.words() for view in views):
        lines += layout.paragraph(0, Text(head, STRONG))
        lines += [line for row in rows for line in layout.paragraph(2, Text(row))]
    return lines
