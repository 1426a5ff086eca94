"""A picture of a learner's answers, as plain data that any renderer of Vega-Lite can draw."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.model.validate import parse_json, validated

VEGA_LITE = "https://vega.github.io/schema/vega-lite/v5.json"

Row = Mapping[str, str | int | float | None]  # None for what no axis can show: NaN, an infinity
Data = Mapping[str, Sequence[Row]]

MAX_PACKED_CHARS = 1 << 18  # of one lesson's pictures
MAX_PACKED_ROWS = 1000  # of one view


@dataclass(frozen=True)
class Picture:
    """Data, and how to draw them.

    `judge.draw_pictures(lesson, submission)` gives those of a lesson, with the judge of
    `grader.judge.session.judge_with`. `grader.terminal.picture` draws them in a terminal; a browser or a notebook takes
    `vega_lite`.

    Attributes:
        name: Of the course's function that made it.
        title: What it shows.
        asked: The call whose answers are shown, as it can be typed.
        data: The rows, under the names by which the views of `spec` take them.
        spec: A Vega-Lite specification without its data.
        notes: What it says, in sentences.
        is_right: The answers are the reference's.
    """

    name: str
    title: str
    asked: str
    data: Data
    spec: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    is_right: bool = False

    @property
    def vega_lite(self) -> dict[str, Any]:
        """Return the whole specification, data included, as JSON can hold it."""
        return {"$schema": VEGA_LITE, "title": self.title, **self.spec, "datasets": self.data}


def pack_pictures(pictures: Sequence[Picture]) -> str:
    """Return pictures as a text of bounded size, to be kept; the last are left out where it would be longer."""
    texts: list[str] = []
    for text in (json.dumps(vars(each), allow_nan=False) for each in pictures):
        if sum(map(len, (*texts, text))) > MAX_PACKED_CHARS:
            break
        texts.append(text)
    return base64.b64encode(zlib.compress(f"[{','.join(texts)}]".encode())).decode()


def unpack_pictures(packed: str) -> list[Picture]:
    """Return what `pack_pictures` was given. Raises ValueError for what it has not made."""
    try:
        text = zlib.decompressobj().decompress(base64.b64decode(packed), 2 * MAX_PACKED_CHARS).decode()
        pictures = [Picture(**{**each, "notes": tuple(each["notes"])}) for each in parse_json(text)]
    except (zlib.error, TypeError, LookupError) as error:
        raise ValueError(f"these are no pictures: {error}") from None
    if any(len(rows) > MAX_PACKED_ROWS for each in validated(pictures, list[Picture]) for rows in each.data.values()):
        raise ValueError("these are more numbers than a picture has")
    return pictures


def join_pictures(pictures: Sequence[Picture]) -> dict[str, Any]:
    """Return one specification of all of them, below each other, each with its call and its notes under its title."""
    views = []
    for each in pictures:
        title = {"text": each.title, "subtitle": [each.asked, *each.notes], "anchor": "start"}
        views.append({**_renamed(each.spec, each.name), "title": title})
    data = {f"{each.name} {name}": rows for each in pictures for name, rows in each.data.items()}
    own = {"scale": {"color": "independent"}}
    return {"$schema": VEGA_LITE, "vconcat": views, "spacing": 40, "resolve": own, "datasets": data}


def _renamed(part: Any, prefix: str) -> Any:
    """Return a part of a specification whose views take their rows under names with a prefix."""
    if isinstance(part, Mapping):
        changed = {key: _renamed(value, prefix) for key, value in part.items()}
        if isinstance(part.get("data"), Mapping) and "name" in part["data"]:
            changed["data"] = {"name": f"{prefix} {part['data']['name']}"}
        return changed
    return [_renamed(value, prefix) for value in part] if isinstance(part, list | tuple) else part
