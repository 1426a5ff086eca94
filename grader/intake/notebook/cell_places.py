"""Where a line of a notebook's module stands: in which code cell, and there in which line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

HEADER = "# --- code cell {} ---"
_HEADER = re.compile(HEADER.format(r"(\d+)"))


class CellPlaces:
    """The places of a module's lines; of a source that is no notebook's, none."""

    def __init__(self, source: str) -> None:
        found = [(line, _HEADER.fullmatch(text)) for line, text in enumerate(source.split("\n"), 1)]
        self._cells: Sequence[tuple[int, int]] = [(line, int(match[1])) for line, match in found if match]

    def find(self, line: int) -> tuple[int, int] | None:
        """Return the number of the cell and the line in it."""
        at = bisect_right(self._cells, (line - 1, 1 << 31)) - 1  # the header's own line is in no cell
        return (self._cells[at][1], line - self._cells[at][0]) if at >= 0 else None
