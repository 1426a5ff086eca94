"""Views of answers as Vega-Lite: grids, bars and curves, with yours, expected and the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from grader.judge.pictures.first_difference import Seen
from grader.judge.values.compare import ATOL, to_numpy

MAX_SIDE = 24  # rows and columns of a grid, and bars
MAX_POINTS = 200  # of a curve
MAX_SCALE = 1e38  # of values: the ends of a scale must not be an infinity apart, in 32 bits either
MAX_NUMBERED = 8  # columns of a grid whose numbers are written into it
OWN_COLOURS = {"resolve": {"scale": {"color": "independent"}}}  # of each view
LIGHT, DARK, DIVERGING = "#ffffff", "#000000", ["#2166ac", "#dddddd", "#b2182b"]
YOURS, EXPECTED, DIFFERENCE = "yours", "expected", "difference"


@dataclass(frozen=True)
class Drawing:
    """What a picture function returns: rows by name, a Vega-Lite specification that uses them, and what was seen."""

    data: Mapping[str, Sequence[Mapping[str, Any]]]
    spec: Mapping[str, Any]
    seen: Seen
    notes: tuple[str, ...] = ()


def grids(
    seen: Seen,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    across: Sequence[str] = ("row", "column"),
    names: Sequence[str] = (),
) -> Drawing:
    """Draw matrices as grids of coloured cells.

    Args:
        seen: Answers with the axes (rows, columns), or (maps, rows, columns) for several maps side by side.
        rows, columns: Labels, each a different one; numbers without them.
        across: What rows and columns are.
        names: Of the maps.
    """
    maps = [_panels(seen.take(itemgetter(at))) for at in range(len(names))] if names else [_panels(seen)]
    labels = [_labels(given, size) for given, size in zip((rows, columns), maps[0][EXPECTED].shape, strict=True)]
    data: dict[str, list[dict[str, Any]]] = {}
    lines = []
    for panel in maps[0]:
        domain = _domain(panel, maps)
        titles = [f"{name}, {panel}" for name in names] or [panel]
        lines.append([_grid(title, across, domain, len(labels[1])) for title in titles])
        for title, own in zip(titles, maps, strict=True):
            data[title] = [
                {across[0]: row, across[1]: column} | _cell(own[panel][i, j])
                for i, row in enumerate(labels[0])
                for j, column in enumerate(labels[1])
            ]
    notes = _cut(maps[0][EXPECTED].shape)
    if not names:
        return Drawing(data, {"hconcat": [view for views in lines for view in views]} | OWN_COLOURS, seen, notes)
    return Drawing(data, {"vconcat": [{"hconcat": views} | OWN_COLOURS for views in lines]} | OWN_COLOURS, seen, notes)


def bars(seen: Seen, labels: Sequence[str] | None = None, sums: bool = False, across: str = "entry") -> Drawing:
    """Draw rows of numbers as bars.

    Args:
        seen: Answers with one axis.
        labels: One for each number, each a different one.
        sums: Say what the numbers sum to.
        across: What an entry is.
    """
    panels = _panels(seen)
    names = _labels(labels, len(panels[EXPECTED]))
    data, views = {}, []
    for panel, values in panels.items():
        title = f"{panel}, sum {_short(sum(map(float, values)))}" if sums and panel != DIFFERENCE else panel
        data[title] = [{across: name} | _cell(value) for name, value in zip(names, values, strict=False)]
        low, high = _domain(panel, [panels])
        views.append(
            {
                "title": title,
                "data": {"name": title},
                "mark": {"type": "bar", "tooltip": True},
                "encoding": {
                    "y": {"field": across, "type": "nominal", "sort": None},
                    "x": _quantity(title=None, domain=[min(low, 0.0), max(high, 0.0)]),
                },
            }
        )
    return Drawing(data, {"hconcat": views}, seen, _cut(panels[EXPECTED].shape))


def curves(
    seen: Seen, across: str, along: Sequence[float] | None = None, of: str = "value", **levels: float
) -> Drawing:
    """Draw rows of numbers as curves in one view.

    Args:
        seen: Answers with one axis.
        across, of: What the horizontal and the vertical axis are.
        along: Where on the horizontal axis each number is; 0, 1, 2 ... without it.
        levels: Horizontal lines, by their names.
    """
    panels = _panels(seen)
    panels.pop(DIFFERENCE, None)
    size = min(len(panels[EXPECTED]), MAX_POINTS)
    places = list(along or range(size))[:size]
    flat = {name: [level] * size for name, level in levels.items()}
    rows = [
        {across: place, "of": name} | _cell(value)
        for name, values in (panels | flat).items()
        for place, value in zip(places, values, strict=False)
    ]
    finite = [float(value) for values in (panels[EXPECTED], *flat.values()) for value in values if math.isfinite(value)]
    view = {
        "data": {"name": "curves"},
        "mark": {"type": "line", "tooltip": True},
        "encoding": {
            "x": {"field": across, "type": "quantitative"},
            "y": _quantity(title=of, domain=_widened(min(finite, default=0.0), max(finite, default=0.0))),
            "color": {"field": "of", "type": "nominal", "sort": None, "title": None},
        },
    }
    return Drawing({"curves": rows}, view, seen)


# --- the parts --------------------------------------------------------------------------------------------------------


def _panels(seen: Seen) -> dict[str, Any]:
    """Return the arrays of the panels: float64. Differences within rounding are 0."""
    import numpy

    expected = to_numpy(seen.expected).astype("float64")
    if seen.yours is None:
        return {EXPECTED: expected}
    yours = to_numpy(seen.yours).astype("float64")
    with numpy.errstate(invalid="ignore", over="ignore"):
        difference = yours - expected
        alike = (yours == expected) | (abs(difference) <= ATOL) | (numpy.isnan(yours) & numpy.isnan(expected))
    return {YOURS: yours, EXPECTED: expected, DIFFERENCE: numpy.where(alike, 0.0, difference)}


def _domain(panel: str, maps: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return the ends of a panel's scale: those of the expected answers, or of the largest difference."""
    arrays = [each[DIFFERENCE if panel == DIFFERENCE else EXPECTED] for each in maps]
    finite = [float(number) for array in arrays for number in array.ravel() if math.isfinite(number)]
    if panel == DIFFERENCE:
        largest = min(max(map(abs, finite), default=0.0) or 1.0, MAX_SCALE)
        return -largest, largest
    return _widened(min(finite, default=0.0), max(finite, default=0.0))


def _widened(low: float, high: float) -> tuple[float, float]:
    return (low, high) if high > low else (low, low + 1.0)


def _labels(given: Sequence[str] | None, size: int) -> list[str]:
    labels = [str(number) for number in range(size)] if given is None else [str(label) for label in given]
    if len(set(labels)) != size:
        raise ValueError(f"{size} different labels are needed, not {labels}")
    return labels[:MAX_SIDE]


def _cell(value: Any) -> dict[str, Any]:
    """Return a number as JSON can hold it, and as it is written."""
    number = float(value)
    shown = min(max(number, -MAX_SCALE), MAX_SCALE) if math.isfinite(number) else None
    return {"value": shown, "text": _short(number)}


def _short(number: float) -> str:
    """Write a number in five characters or so."""
    if not math.isfinite(number) or (number.is_integer() and abs(number) < 1e4):
        return f"{number:.0f}"
    digits = next((digits for bound, digits in ((9.995, 2), (99.95, 1), (1e4, 0)) if abs(number) < bound), None)
    return f"{number:.0e}".replace("e+0", "e") if digits is None else f"{number:z.{digits}f}"


def _quantity(title: str | None, domain: Sequence[float]) -> dict[str, Any]:
    scale = {"domain": list(domain), "nice": False, "zero": False, "clamp": True}
    return {"field": "value", "type": "quantitative", "title": title, "scale": scale}


def _grid(title: str, across: Sequence[str], domain: tuple[float, float], columns: int) -> dict[str, Any]:
    scale: dict[str, Any] = {"domain": list(domain), "scheme": "viridis", "clamp": True}
    light = f"isValid(datum.value) && datum.value < {(domain[0] + domain[1]) / 2}"
    if title.endswith(DIFFERENCE):
        scale = {"domain": [domain[0], 0, domain[1]], "range": DIVERGING, "clamp": True}
        light = f"abs(datum.value) > {domain[1] / 2}"
    axes = [{"field": name, "type": "nominal", "sort": None} for name in across]
    cells = {
        "mark": {"type": "rect", "tooltip": True},
        "encoding": {"color": {"field": "value", "type": "quantitative", "scale": scale, "legend": None}},
    }
    numbers = {
        "mark": {"type": "text", "fontSize": 9},
        "encoding": {"text": {"field": "text"}, "color": {"condition": {"test": light, "value": LIGHT}, "value": DARK}},
    }
    return {
        "title": title,
        "data": {"name": title},
        "width": {"step": 26 if columns <= MAX_NUMBERED else 10},
        "height": {"step": 26 if columns <= MAX_NUMBERED else 10},
        "encoding": {"y": axes[0], "x": axes[1] | {"axis": {"labelAngle": 0}}},
        "layer": [cells, numbers] if columns <= MAX_NUMBERED else [cells],
    }


def _cut(shape: Sequence[int]) -> tuple[str, ...]:
    if max(shape) <= MAX_SIDE:
        return ()
    return (f"The first {MAX_SIDE} of {' by '.join(map(str, shape))} are shown.",)
