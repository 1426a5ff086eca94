"""Draw pictures for a page: plain SVG, which needs no script, with the numbers of each view in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grader.model.picture import Picture, unpack_pictures
from grader.reports.html_document import render
from grader.terminal.picture_view import Ramp, View, is_number, readable_on, share, views_below_each_other

LETTER, LINE = 7, 20  # width and height of text, in pixels
NUMBERED = 8  # columns of a grid whose numbers are written into it
WIDE, NARROW = 38, 11  # a grid's cells with and without their numbers
MAX_LABEL = 12
NO_PICTURES: Mapping[str, str] = {}
BAR_WIDTH, CURVE_WIDTH, CURVE_HEIGHT = 110, 380, 150

Drawn = dict[str, Any]


def pictures_to_html(pictures: Sequence[Picture]) -> str:
    """Return the figures, those in which something is wrong first."""
    ordered = sorted(pictures, key=lambda picture: picture.is_right)
    return render("pictures", {"pictures": [{"picture": each, "lines": _draw_lines(each)} for each in ordered]})


def packed_to_html(packed: str) -> str:
    """Return the figures of what `pack_pictures` has made; "" for what somebody else may have put in its place."""
    from markupsafe import Markup

    try:
        pictures = unpack_pictures(packed)
        for each in pictures:
            views = [view for line in views_below_each_other(each.spec, each) for view in line]
            if sum(view.can_be_drawn for view in views) > len(each.data):
                raise ValueError("the same numbers are drawn again and again")
        return Markup(pictures_to_html(pictures))
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        return ""


def _draw_lines(picture: Picture) -> list[list[Drawn]]:
    found = views_below_each_other(picture.spec, picture)
    return [[_draw(view) for view in views if view.can_be_drawn] for views in found]


def _draw(view: View) -> Drawn:
    draw = {"rect": _grid, "bar": _bars, "line": _curves}[view.mark]
    return {"title": view.title, "words": ". ".join(view.words()), "rects": [], "lines": [], "keys": []} | draw(view)


def _grid(view: View) -> Drawn:
    ramp, rows, columns = Ramp(view), view.labels("y"), view.labels("x")
    has_numbers = len(columns) <= NUMBERED
    wide, high = (WIDE, LINE) if has_numbers else (NARROW, NARROW)
    left = _widest(rows)
    step = 1 if has_numbers else max(1, -(-LETTER * max(map(len, columns)) // NARROW) + 1)
    texts = [_text(name, left + (at + 0.5) * wide, 14, "label") for at, name in enumerate(columns) if at % step == 0]
    step = 1 if has_numbers else 2
    texts += [
        _text(name, left - 6, LINE + (at + 0.5) * high + 4, "label end")
        for at, name in enumerate(rows)
        if at % step == 0
    ]
    rects = []
    for down, row in enumerate(view.cells()):
        for across, cell in enumerate(row):
            x, y, colour = left + across * wide, LINE + down * high, ramp.colour(cell.value)
            says = f"{rows[down]}, {columns[across]}: {cell.text}"
            rects.append({"x": x, "y": y, "width": wide, "height": high, "fill": colour, "says": says})
            if has_numbers or not is_number(cell.value):
                said = cell.text if has_numbers else "?"
                texts.append(_text(said, x + wide / 2, y + high / 2 + 4, "", readable_on(colour)))
    return {
        "width": left + wide * len(columns),
        "height": LINE + high * len(rows) + 2,
        "rects": rects,
        "texts": texts,
    }


def _bars(view: View) -> Drawn:
    domain, names = view.domain("x"), [str(row[view.field("y")]) for row in view.rows]
    left = _widest(names)
    zero = left + BAR_WIDTH * (share(0.0, domain) or 0.0)
    rects, texts = [], []
    for at, (row, name) in enumerate(zip(view.rows, names, strict=True)):
        y, text = at * LINE, str(row.get("text", ""))
        place = share(row[view.field("x")], domain)
        end = zero if place is None else left + BAR_WIDTH * place
        bar = {"x": round(min(zero, end), 1), "y": y + 3, "width": round(max(abs(end - zero), 1), 1), "height": 14}
        rects.append(bar | {"fill": "", "says": f"{name}: {text}", "kind": "below" if end < zero else ""})
        texts += [_text(name, left - 6, y + 14, "label end"), _text(text, left + BAR_WIDTH + 6, y + 14, "start")]
    widest = max(len(str(row.get("text", ""))) for row in view.rows)
    width = left + BAR_WIDTH + 12 + LETTER * widest
    return {"width": width, "height": LINE * len(names), "rects": rects, "texts": texts}


def _curves(view: View) -> Drawn:
    names, (low, high), (first, last) = view.labels("color"), view.domain("y"), view.domain("x")
    left, bottom = 56, CURVE_HEIGHT + 8
    lines = []
    for number, name in enumerate(names):
        places = [
            (share(row[view.field("x")], (first, last)), share(row[view.field("y")], (low, high)))
            for row in view.rows
            if str(row[view.field("color")]) == name
        ]
        points = [
            f"{left + x * CURVE_WIDTH:.1f},{bottom - y * CURVE_HEIGHT:.1f}"
            for x, y in places
            if x is not None and y is not None
        ]
        lines.append({"kind": f"curve{number % 4}", "points": " ".join(points)})
    axes = f"{left},8 {left},{bottom} {left + CURVE_WIDTH},{bottom}"
    texts = [
        _text(f"{high:.4g}", left - 6, 14, "label end"),
        _text(f"{low:.4g}", left - 6, bottom, "label end"),
        _text(f"{first:g}", left, bottom + 16, "label"),
        _text(view.field("x"), left + CURVE_WIDTH / 2, bottom + 16, "label"),
        _text(f"{last:g}", left + CURVE_WIDTH, bottom + 16, "label"),
    ]
    keys = [{"kind": line["kind"], "name": name} for line, name in zip(lines, names, strict=True)]
    lines = [{"kind": "axis", "points": axes}, *reversed(lines)]  # yours is drawn last, over the others
    return {"width": left + CURVE_WIDTH + 20, "height": bottom + 22, "lines": lines, "texts": texts, "keys": keys}


def _widest(names: Sequence[str]) -> int:
    return LETTER * max(len(name[:MAX_LABEL]) for name in names) + 10


def _text(text: str, x: float, y: float, kind: str, fill: str = "") -> Drawn:
    return {"text": text[:MAX_LABEL], "x": round(x, 1), "y": round(y, 1), "kind": kind, "fill": fill}
