"""Draw a picture in a terminal: in colour, in shades where there is none, in words for who listens.

What is read of a Vega-Lite specification is what `grader.api.pictures` makes: views beside or below each other, with
cells (`rect`), bars (`bar`) or curves (`line`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, groupby, zip_longest
from math import ceil
from operator import itemgetter
from typing import Any, TypeGuard

from rich.style import Style
from rich.text import Text

from grader.model.picture import Picture
from grader.terminal.layout import QUIET, STRONG, Layout, prose
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
VIRIDIS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
NO_NUMBER = "#ff00ff"
CURVES = (("●", "*", "cyan"), ("○", "o", "green"), ("─", "-", QUIET), ("+", "+", "yellow"))


def draw(picture: Picture, layout: Layout, words: bool = False, rows: int | None = None) -> str:
    """Return a picture as text that ends in a newline; smaller if it would have more lines than `rows`."""
    head = layout.paragraph(0, Text(clean(picture.title), STRONG)) + layout.paragraph(0, Text(clean(picture.asked)))
    foot = [line for note in picture.notes for line in layout.paragraph(0, prose(note))]
    lines: list[Text] = []
    for sizes in (SIZES, SIZES[-1:]):
        drawn = _say(picture.spec, picture, layout) if words else _view(picture.spec, picture, layout, sizes)
        lines = [*head, Text(), *drawn, Text(), *foot]
        if words or rows is None or len(lines) <= rows:
            break
    return layout.render(lines)


def _view(spec: Mapping[str, Any], picture: Picture, layout: Layout, sizes: Sequence[int]) -> list[Text]:
    if "vconcat" in spec:
        return [line for each in spec["vconcat"] for line in _view(each, picture, layout, sizes)]
    views = [_View(each, picture) for each in spec.get("hconcat", [spec])]
    room = (layout.columns - GAP * (len(views) - 1)) // len(views)
    for size in sizes:
        blocks = [view.draw(layout, room, size, at == 0) for at, view in enumerate(views)]
        if sum(_width(block) for block in blocks) + GAP * (len(blocks) - 1) <= layout.columns:
            return _beside(blocks, room)
    return [line for view in views for line in view.draw(layout, layout.columns, PIXELS, True)]


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


# --- one view ---------------------------------------------------------------------------------------------------------


class _View:
    """One view of a specification: its kind, its rows and its fields."""

    def __init__(self, spec: Mapping[str, Any], picture: Picture) -> None:
        layers = spec.get("layer", [spec])
        self.encoding: dict[str, Any] = dict(spec.get("encoding", {})) | layers[0].get("encoding", {})
        mark = layers[0].get("mark", "")
        self.mark = mark["type"] if isinstance(mark, Mapping) else mark
        self.title = clean(spec.get("title", ""))
        self.rows = picture.data.get(spec.get("data", {}).get("name", ""), ())

    def draw(self, layout: Layout, room: int, how: int, is_first: bool) -> list[Text]:
        """Draw it in so many columns, if that is possible."""
        if not self.rows or self.mark not in ("rect", "bar", "line"):
            return [Text(f"{self.title}: nothing to draw here".strip(": "))]
        title = [Text(self.title[:room], STRONG)] if self.title else []
        if self.mark == "rect":
            return title + _Grid(self, layout).draw(how, is_first)
        return title + (_bars(self, layout, room) if self.mark == "bar" else _curves(self, layout, room))

    def field(self, channel: str) -> str:
        return str(self.encoding.get(channel, {}).get("field", ""))

    def domain(self, channel: str) -> tuple[float, float]:
        """Return the ends of a scale; without any, those of the numbers."""
        given = self.encoding.get(channel, {}).get("scale", {}).get("domain")
        if not given:
            numbers = [number for row in self.rows if _is_number(number := row.get(self.field(channel)))]
            given = [min(numbers, default=0.0), max(numbers, default=0.0)]
        return (given[0], given[-1]) if given[-1] > given[0] else (given[0], given[0] + 1.0)

    def labels(self, channel: str) -> list[str]:
        """Return the different values of a field, in their order."""
        return list(dict.fromkeys(str(row[self.field(channel)]) for row in self.rows))


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float)


def _share(value: Any, domain: tuple[float, float]) -> float | None:
    """Return where on a scale a number is, from 0 to 1; None for no number."""
    return min(max((value - domain[0]) / (domain[1] - domain[0]), 0.0), 1.0) if _is_number(value) else None


def _label(text: Any, length: int) -> str:
    return clean(str(text))[: min(length, MAX_LABEL)]


# --- grids ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cell:
    text: str
    value: Any


class _Grid:
    """A matrix of cells."""

    def __init__(self, view: _View, layout: Layout) -> None:
        self.layout, self.domain = layout, view.domain("color")
        scale = view.encoding["color"].get("scale", {})
        self.ramp, self.is_signed = tuple(scale.get("range", VIRIDIS)), "range" in scale
        self.has_colour = layout.colour and layout.palette != "standard"
        self.shades = SHADES if layout.signs == Signs() else PLAIN_SHADES
        across, down, value = view.field("x"), view.field("y"), view.field("color")
        self.columns, self.rows = view.labels("x"), view.labels("y")
        found = {
            (str(row[down]), str(row[across])): _Cell(clean(str(row.get("text", ""))), row[value]) for row in view.rows
        }
        nothing = _Cell("", None)
        self.cells = [[found.get((row, column), nothing) for column in self.columns] for row in self.rows]

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
            self.cells = [[_Cell(NEEDLESS.sub("", cell.text), cell.value) for cell in row] for row in self.cells]
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
        colours = [[self._colour(cell) for cell in row] for row in self.cells]
        pairs = zip_longest(colours[::2], colours[1::2], fillvalue=[None] * len(self.columns))
        return [
            Text.assemble(*(("▀", Style(color=up, bgcolor=down)) for up, down in zip(*pair, strict=True)))
            for pair in pairs
        ]

    def _cell(self, cell: _Cell, size: int, has_number: bool) -> Text:
        text = cell.text if has_number else "" if _is_number(cell.value) else "?"
        if self.has_colour:
            colour = self._colour(cell)
            return Text(text.rjust(size), Style(color=_readable_on(colour), bgcolor=colour))
        shade = self._shade(cell)
        return Text(shade + text.rjust(size - 2) + " " if has_number else shade * size)

    def _colour(self, cell: _Cell) -> str:
        share = _share(cell.value, self.domain)
        if share is None:
            return NO_NUMBER
        place = share * (len(self.ramp) - 1)
        at = min(int(place), len(self.ramp) - 2)
        ends = [_rgb(self.ramp[at]), _rgb(self.ramp[at + 1])]
        return "#" + "".join(f"{round(a + (b - a) * (place - at)):02x}" for a, b in zip(*ends, strict=True))

    def _shade(self, cell: _Cell) -> str:
        share = _share(cell.value, self.domain)
        if share is None:
            return "?"
        share = abs(2 * share - 1) if self.is_signed else share
        return self.shades[min(int(share * len(self.shades)), len(self.shades) - 1)]


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def _readable_on(colour: str) -> str:
    red, green, blue = _rgb(colour)
    return "#000000" if 0.299 * red + 0.587 * green + 0.114 * blue > 128 else "#ffffff"


# --- bars and curves --------------------------------------------------------------------------------------------------


def _bars(view: _View, layout: Layout, room: int) -> list[Text]:
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
        length = min(max(value, low), high) * scale if _is_number(value) else 0.0
        bar = " " * zero + _bar(length, layout) if length >= 0 else _bar(-length, layout, 1).rjust(zero)
        label = name.rjust(max(map(len, names))) + " "
        lines.append(Text.assemble((label, QUIET), (bar.ljust(width), "cyan" if length >= 0 else "red"), " " + text))
    return lines


def _bar(length: float, layout: Layout, steps: int = len(EIGHTHS)) -> str:
    """Draw a bar so many columns long, in parts of a column where it grows to the right; nothing only for 0."""
    steps = 1 if layout.signs != Signs() else steps
    parts = max(round(length * steps), 1) if length > 0 else 0
    return layout.signs.full * (parts // steps) + (EIGHTHS[parts % steps] if parts % steps else "")


def _curves(view: _View, layout: Layout, room: int) -> list[Text]:
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


def _canvas(view: _View, signs: Mapping[str, tuple[str, str]], width: int) -> list[list[tuple[str, str]]]:
    """Put a sign for each point into lines of cells, each a character and its style."""
    canvas = [[(" ", "")] * width for _ in range(CURVE_LINES)]
    for name in reversed(list(signs)):  # what comes first is drawn last, over the others
        for row in view.rows:
            y = _share(row[view.field("y")], view.domain("y"))
            x = _share(row[view.field("x")], view.domain("x"))
            if str(row[view.field("color")]) == name and x is not None and y is not None:
                canvas[round((1 - y) * (CURVE_LINES - 1))][round(x * (width - 1))] = signs[name]
    return canvas


# --- in words ---------------------------------------------------------------------------------------------------------


def _say(spec: Mapping[str, Any], picture: Picture, layout: Layout) -> list[Text]:
    """Say every number of a view, a line for each row of cells or each curve."""
    for name in ("vconcat", "hconcat"):
        if name in spec:
            return [line for each in spec[name] for line in _say(each, picture, layout)]
    view = _View(spec, picture)
    line, point = ("color", "x") if view.mark == "line" else ("y", "x" if view.mark == "rect" else "")
    names = view.labels(point) if point else []
    head = f"{view.title}: {view.field(line)}" + (f" by {view.field(point)} ({', '.join(names)})" if point else "")
    lines = layout.paragraph(0, Text(clean(head.removeprefix(": ")), STRONG))
    for name in view.labels(line):
        numbers = [str(row.get("text", "")) for row in view.rows if str(row[view.field(line)]) == name]
        lines += layout.paragraph(2, Text(clean(f"{name}: {', '.join(numbers)}")))
    return lines
