"""Read a Vega-Lite specification, for whoever draws it: what each view shows, its numbers in words, its colours.

What is read is what `grader.api.pictures` makes: views beside or below each other, with cells (`rect`), bars (`bar`) or
curves (`line`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from grader.model.picture import Picture
from grader.terminal.text import clean

VIRIDIS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
NO_NUMBER = "#ff00ff"
MARKS = ("rect", "bar", "line")


@dataclass(frozen=True)
class Cell:
    """A number as it is written; None where there is none."""

    text: str
    value: Any


class View:
    """One view of a specification: its kind, its rows and its fields."""

    def __init__(self, spec: Mapping[str, Any], picture: Picture) -> None:
        layers = spec.get("layer", [spec])
        self.encoding: dict[str, Any] = dict(spec.get("encoding", {})) | layers[0].get("encoding", {})
        mark = layers[0].get("mark", "")
        self.mark = mark["type"] if isinstance(mark, Mapping) else mark
        self.title = clean(spec.get("title", ""))
        self.rows = picture.data.get(spec.get("data", {}).get("name", ""), ())

    @property
    def can_be_drawn(self) -> bool:
        if self.mark == "rect" and len(self.labels("x")) * len(self.labels("y")) != len(self.rows):
            return False
        return bool(self.rows) and self.mark in MARKS

    def field(self, channel: str) -> str:
        return str(self.encoding.get(channel, {}).get("field", ""))

    def domain(self, channel: str) -> tuple[float, float]:
        """Return the ends of a scale; without any, those of the numbers."""
        given = self.encoding.get(channel, {}).get("scale", {}).get("domain")
        if not given:
            numbers = [number for row in self.rows if is_number(number := row.get(self.field(channel)))]
            given = [min(numbers, default=0.0), max(numbers, default=0.0)]
        return (given[0], given[-1]) if given[-1] > given[0] else (given[0], given[0] + 1.0)

    def labels(self, channel: str) -> list[str]:
        """Return the different values of a field, in their order."""
        return list(dict.fromkeys(str(row[self.field(channel)]) for row in self.rows))

    def cells(self) -> list[list[Cell]]:
        """Return a grid's cells, row by row."""
        across, down, value = self.field("x"), self.field("y"), self.field("color")
        found = {
            (str(row[down]), str(row[across])): Cell(clean(str(row.get("text", ""))), row[value]) for row in self.rows
        }
        nothing = Cell("", None)
        return [[found.get((row, column), nothing) for column in self.labels("x")] for row in self.labels("y")]

    def words(self) -> list[str]:
        """Say every number: what the view is, then a line for each row of cells, each bar or each curve."""
        line, point = ("color", "x") if self.mark == "line" else ("y", "x" if self.mark == "rect" else "")
        names = self.labels(point) if point else []
        head = f"{self.title}: {self.field(line)}" + (f" by {self.field(point)} ({', '.join(names)})" if point else "")
        said = [head.removeprefix(": ")]
        for name in self.labels(line):
            numbers = [str(row.get("text", "")) for row in self.rows if str(row[self.field(line)]) == name]
            said.append(f"{name}: {', '.join(numbers)}")
        return [clean(each) for each in said]


class Ramp:
    """The colours of a grid's scale, from its lower end to its upper one."""

    def __init__(self, view: View) -> None:
        scale = view.encoding["color"].get("scale", {})
        self.domain = view.domain("color")
        self.is_signed = "range" in scale
        self._colours: Sequence[str] = tuple(scale.get("range", VIRIDIS))

    def colour(self, value: Any) -> str:
        at_share = share(value, self.domain)
        if at_share is None:
            return NO_NUMBER
        place = at_share * (len(self._colours) - 1)
        at = min(int(place), len(self._colours) - 2)
        ends = [_rgb(self._colours[at]), _rgb(self._colours[at + 1])]
        return "#" + "".join(f"{round(a + (b - a) * (place - at)):02x}" for a, b in zip(*ends, strict=True))


def views_below_each_other(spec: Mapping[str, Any], picture: Picture) -> Iterator[list[View]]:
    """Yield the views that stand beside each other, from above to below."""
    if "vconcat" in spec:
        for each in spec["vconcat"]:
            yield from views_below_each_other(each, picture)
    else:
        yield [View(each, picture) for each in spec.get("hconcat", [spec])]


def is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float)


def share(value: Any, domain: tuple[float, float]) -> float | None:
    """Return where on a scale a number is, from 0 to 1; None for no number."""
    return min(max((value - domain[0]) / (domain[1] - domain[0]), 0.0), 1.0) if is_number(value) else None


def readable_on(colour: str) -> str:
    """Return black or white."""
    red, green, blue = _rgb(colour)
    return "#000000" if 0.299 * red + 0.587 * green + 0.114 * blue > 128 else "#ffffff"


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))
