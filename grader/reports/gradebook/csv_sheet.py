"""Change single cells of a CSV file and leave every other byte as it was.

Python's csv module forgets how cells were quoted and how lines ended, and a platform that gets its file back should
find nothing else changed. So each cell keeps its place in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.errors import UsageError
from grader.files import decode_table, encode_table, read_bounded
from grader.model.person_id import why_incomparable

DELIMITERS = (",", ";", "\t")
MAX_BYTES = 50_000_000
MAX_CELL_CHARS = 1_000  # that are compared and matched: the time that a pattern takes may grow with the square


@dataclass(frozen=True)
class Cell:
    """One cell: its value and its place in the text, quotes included."""

    value: str
    start: int
    end: int
    quoted: bool


class Sheet:
    """The rows of a CSV file. The delimiter is found in its first line; empty lines are rows without cells."""

    def __init__(self, content: bytes, name: str = "") -> None:
        """Raise UsageError for what is no CSV text: a spreadsheet's own format, an open quote."""
        self.name = name
        if content.startswith(b"PK\x03\x04"):
            what = "this is a spreadsheet (.xlsx or .ods), not CSV"
            raise UsageError(what, where=name, next_step="export the gradebook as CSV")
        if len(content) > MAX_BYTES:
            raise UsageError("this file is too large for a gradebook", where=name, next_step="name the right file")
        try:
            decoded = decode_table(content)
        except UnicodeDecodeError:
            raise UsageError("this file cannot be read as text", where=name, next_step="export it anew") from None
        self.text, self.encoding = decoded
        self.note = decoded.note(name or "the file")
        self.delimiter = _delimiter(self.text)
        self.rows: list[list[Cell]] = list(_rows(self.text, self.delimiter, name))

    @cached_property
    def header_row(self) -> int:
        """The first line that is not empty. Raises UsageError for a file without one."""
        row = next((row for row, cells in enumerate(self.rows) if any(cell.value.strip() for cell in cells)), None)
        if row is None:
            raise UsageError("this file is empty", where=self.name, next_step="export the gradebook as CSV")
        return row

    @cached_property
    def headings(self) -> list[str]:
        """The headings of the columns, cut to MAX_CELL_CHARS."""
        return [self.value(self.header_row, column) for column in range(len(self.rows[self.header_row]))]

    @cached_property
    def _columns(self) -> dict[str, int]:
        """The first column of each heading, in lower case."""
        return {self.headings[column].casefold(): column for column in reversed(range(len(self.headings)))}

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in re.finditer(r"\r\n|\r|\n", self.text)]

    def find_column(self, *names: str) -> int | None:
        """Return the first column with one of these headings, whatever their case; None if there is none."""
        return next((self._columns[name.casefold()] for name in names if name.casefold() in self._columns), None)

    def text_of(self, row: int, column: int) -> str:
        """Return a cell's whole value without spaces around it; "" if the row is too short."""
        cells = self.rows[row]
        return cells[column].value.strip() if column < len(cells) else ""

    def value(self, row: int, column: int) -> str:
        """Return as much of a cell's value as is compared and matched."""
        return self.text_of(row, column)[:MAX_CELL_CHARS]

    def identifier(self, row: int, column: int) -> str:
        """Return the id or name in a cell. Raises UsageError for one too long to be compared as a whole."""
        text = self.text_of(row, column)
        if what := why_incomparable(text):
            where = f"{self.name}:{self.line(row)}"
            raise UsageError(what, where=where, next_step="correct it, or export the file anew")
        return text

    def line(self, row: int) -> int:
        """Return the line of the text in which a row begins: quoted cells may hold several lines."""
        return bisect_left(self._line_ends, self.rows[row][0].start) + 1 if self.rows[row] else 1

    def with_values(self, changes: Mapping[tuple[int, int], str]) -> bytes:
        """Return the file with these cells, by (row, column), changed; a cell that was quoted stays quoted.

        A sign that the file's encoding lacks becomes "?", unless `fit_html` has written it as a number.
        """
        pieces, end = [], 0
        for (row, column), value in sorted(changes.items()):
            cell = self.rows[row][column]
            quote = cell.quoted or any(sign in value for sign in (self.delimiter, '"', "\n", "\r"))
            escaped = value.replace('"', '""')
            pieces += [self.text[end : cell.start], f'"{escaped}"' if quote else value]
            end = cell.end
        return encode_table("".join([*pieces, self.text[end:]]), self.encoding)


def read_sheet(path: Path, next_step: str) -> Sheet:
    """Read a CSV file. Raises UsageError."""
    try:
        content = read_bounded(path, MAX_BYTES + 1, follow=True)
    except OSError as error:
        what = f"this file cannot be read: {error.strerror or error}"
        raise UsageError(what, where=str(path), next_step=next_step) from None
    return Sheet(content, str(path))


def _delimiter(text: str) -> str:
    """Find what separates the cells of the first line that is not empty."""
    head, quoted = [], False
    for sign in text.lstrip("\ufeff\r\n"):
        quoted ^= sign == '"'
        if sign in "\r\n" and not quoted:
            break
        if not quoted:
            head.append(sign)
    return max(DELIMITERS, key=head.count)


def _rows(text: str, delimiter: str, name: str) -> Iterator[list[Cell]]:
    cell = re.compile(rf'"(?P<quoted>(?:[^"]++|"")*+)"[^{delimiter}\r\n]*|[^{delimiter}\r\n]*')
    position = 1 if text.startswith("\ufeff") else 0
    cells: list[Cell] = []
    while position < len(text):
        if cells or text[position] not in "\r\n":
            match = cell.match(text, position)
            assert match is not None
            quoted = match["quoted"]
            if quoted is None and match[0].startswith('"'):
                line = text.count("\n", 0, position) + 1
                what, next_step = "a quote is never closed", "export the gradebook anew"
                raise UsageError(what, where=f"{name}:{line}", next_step=next_step)
            value = match[0] if quoted is None else quoted.replace('""', '"')
            cells.append(Cell(value, position, match.end(), quoted is not None))
            position = match.end()
            if text.startswith(delimiter, position):
                position += 1
                if position < len(text):
                    continue
                cells.append(Cell("", position, position, False))
        yield cells
        cells = []
        position += 2 if text.startswith("\r\n", position) else 1
