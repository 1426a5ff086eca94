"""Where a line of a notebook's module stands: in which code cell, and there in which line.

Whoever has the notebook open never sees the module: for them line 204 of it is line 4 of the cell beside which `[2]`
stands. A cell that was not run has no number there, and is the second code cell.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

NUMBERED = "Its lines are numbered by code cell: "
HEADER = "# --- {} ---"
_HEADER = re.compile(HEADER.format(r"(code cell \d{1,9}|cell \[\d{1,9}\])"))
# as tracebacks name a line, as explanations do, and as it is said where right ends
_NAMED = (
    r"(?<![-\w/.])(?:{0}:(?P<at>\d{{1,9}})(?P<inside>(?= in ))?"
    r"|(?P<word>line|Line) (?P<line>\d{{1,9}})(?: of {0}(?!\w)|(?= is (?:right|where|the first) )|(?= is right:)))"
)


class CellPlaces:
    """The places of a module's lines; of a source that is no notebook's, none."""

    def __init__(self, source: str) -> None:
        found = [(line, _HEADER.fullmatch(text)) for line, text in enumerate(source.split("\n"), 1)]
        self._cells: Sequence[tuple[int, str]] = [(line, match[1]) for line, match in found if match]

    def find(self, line: int) -> tuple[str, int] | None:
        """Return the name of the cell and the line in it."""
        at = bisect_left(self._cells, (line,)) - 1  # the header's own line is in no cell
        return (self._cells[at][1], line - self._cells[at][0]) if at >= 0 else None

    def tell_in(self, told: Any, path: str) -> Any:
        """Return a text, or what has texts within, with "line 4 of cell [2]" where it names a line of the module."""
        if isinstance(told, str):
            return re.sub(_NAMED.format(re.escape(path)), self._tell, told)
        if isinstance(told, tuple):
            return tuple([self.tell_in(each, path) for each in told])
        if is_dataclass(told) and not isinstance(told, type):
            return replace(told, **{each.name: self.tell_in(getattr(told, each.name), path) for each in fields(told)})
        return told

    def _tell(self, named: re.Match[str]) -> str:
        place = self.find(int(named["line"] or named["at"]))
        said = "{2} {1} of {0}".format(*place, named["word"] or "line") if place else named[0]
        return said + ("," if place and named["inside"] is not None else "")
