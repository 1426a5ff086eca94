"""A CSV file that somebody else wrote, of which single cells are changed and every other byte stays as it was.

Python's csv module forgets how a cell was quoted and where lines ended; a learning platform that gets its own file back
should find nothing else changed. So each cell remembers where in the text it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.errors import UsageError

DELIMITERS = (",", ";", "\t")
LARGEST = 50_000_000  # bytes; a gradebook of a whole school has less


@dataclass(frozen=True)
class Cell:
    """One cell: its value, and its place in the text, quotes included."""

    value: str
    start: int
    end: int
    quoted: bool


class Sheet:
    """The rows of a CSV file. `delimiter` is found in its first line; empty lines are rows without cells."""

    def __init__(self, content: bytes, name: str = "") -> None:
        """Raises UsageError for what is no CSV text: a spreadsheet's own format, an open quote."""
        self.name = name
        if content.startswith(b"PK\x03\x04"):
            what = "this is a spreadsheet (.xlsx or .ods), not CSV"
            raise UsageError(what, where=name, next_step="export the gradebook as CSV")
        if len(content) > LARGEST:
            raise UsageError("this file is too large for a gradebook", where=name, next_step="name the right file")
        self.encoding, self.text = _decoded(content, name)
        self.delimiter = _delimiter(self.text)
        self.rows: list[list[Cell]] = list(_rows(self.text, self.delimiter, name))

    def value(self, row: int, column: int) -> str:
        """A cell's value without spaces around it; "" where the row is too short."""
        cells = self.rows[row]
        return cells[column].value.strip() if column < len(cells) else ""

    def with_values(self, changes: Mapping[tuple[int, int], str]) -> bytes:
        """The file with these cells, by (row, column), changed; a cell that was quoted stays quoted."""
        pieces, end = [], 0
        for (row, column), value in sorted(changes.items()):
            cell = self.rows[row][column]
            quote = cell.quoted or any(sign in value for sign in (self.delimiter, '"', "\n", "\r"))
            escaped = value.replace('"', '""')
            pieces += [self.text[end : cell.start], f'"{escaped}"' if quote else value]
            end = cell.end
        return "".join([*pieces, self.text[end:]]).encode(self.encoding)


def _decoded(content: bytes, name: str) -> tuple[str, str]:
    """The encoding and the text; a mark at its beginning stays in the text, so that it is written again."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if content.startswith(mark):
            try:
                return encoding, content.decode(encoding)
            except UnicodeDecodeError:
                raise UsageError("this file cannot be read as text", where=name, next_step="export it anew") from None
    try:
        return "utf-8", content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1", content.decode("latin-1")  # as Excel saves it in the West; takes and gives back any byte


def _delimiter(text: str) -> str:
    """What separates the cells of the first line that is not empty."""
    head, quoted = [], False
    for sign in text.lstrip("\ufeff\r\n"):
        quoted ^= sign == '"'
        if sign in "\r\n" and not quoted:
            break
        if not quoted:
            head.append(sign)
    return max(DELIMITERS, key=head.count)


def _rows(text: str, delimiter: str, name: str) -> Iterator[list[Cell]]:
    place = 1 if text.startswith("\ufeff") else 0
    cells: list[Cell] = []
    while place < len(text) or cells:
        if not cells and text[place] in "\r\n":
            yield []
            place = _after_line_end(text, place)
            continue
        cell = _cell(text, place, delimiter, name)
        cells.append(cell)
        place = cell.end
        if place < len(text) and text[place] == delimiter:
            place += 1
            if place < len(text):
                continue
            cells.append(Cell("", place, place, False))
        yield cells
        cells = []
        if place < len(text):
            place = _after_line_end(text, place)


def _cell(text: str, start: int, delimiter: str, name: str) -> Cell:
    """The cell that begins at `start`."""
    if text[start] != '"':
        end = min(
            (found for sign in (delimiter, "\r", "\n") if (found := text.find(sign, start)) >= 0), default=len(text)
        )
        return Cell(text[start:end], start, end, False)
    end = start + 1
    while True:
        end = text.find('"', end)
        if end < 0:
            line = text.count("\n", 0, start) + 1
            raise UsageError("a quote is never closed", where=f"{name}:{line}", next_step="export the gradebook anew")
        if text[end + 1 : end + 2] != '"':
            break
        end += 2
    value = text[start + 1 : end].replace('""', '"')
    end += 1
    while end < len(text) and text[end] not in f"{delimiter}\r\n":  # spaces behind the quote
        end += 1
    return Cell(value, start, end, True)


def _after_line_end(text: str, place: int) -> int:
    return place + (2 if text.startswith("\r\n", place) else 1)


def column_of(header: Sequence[str], *names: str) -> int | None:
    """The first column with one of these headings, whatever their case; None if there is none."""
    folded = [heading.strip().casefold() for heading in header]
    return next((folded.index(name.casefold()) for name in names if name.casefold() in folded), None)
