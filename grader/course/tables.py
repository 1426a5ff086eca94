"""Read TOML tables so that every complaint names the file and the line.

tomllib gives values without their lines, so the line of a bad value is found by a search for its key.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from grader.errors import CourseError
from grader.files import AUDIT, at, load_toml, read_file


class TomlText:
    """A piece of TOML that begins on line `first_line` of the file at `path`."""

    def __init__(self, text: str, path: Path, first_line: int = 1, next_step: str = AUDIT) -> None:
        self.text = text
        self.path = path
        self.first_line = first_line
        self.next_step = next_step

    def parse(self) -> Table:
        """Return the root table. Raises CourseError at the line that is not TOML."""
        from tomllib import TOMLDecodeError  # here: `learn` starts without it

        try:
            return Table(load_toml(self.text), self)
        except TOMLDecodeError as error:
            message, _, place = str(error).partition(" (at ")
            numbered = re.match(r"line (\d+)", place)
            line = int(numbered[1]) if numbered else self.text.count("\n") + 1
            raise self.error(f"this is not valid TOML: {message}", self.first_line + line - 1) from None
        except (RecursionError, ValueError):  # int() raises a ValueError of its own
            raise self.error("it is too long or nested too deeply, or a number in it is too long") from None

    def error(self, what: str, line: int = 0) -> CourseError:
        return CourseError(what, where=at(self.path, line), next_step=self.next_step)

    def line_of(self, header: str, index: int, key: str, value: str = "") -> int:
        """Return the line that sets *key* in the table, or the last line on which its *value* stands.

        Falls back to the line of the table's header, and to 0 where there is none.
        """
        lines = self._section(header, index)
        key_here = re.compile(rf"""\s*(\[\[?\s*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
        found = next((place for place, (_, line) in enumerate(lines) if key_here.match(line)), None)
        if found is None:
            return lines[0][0] if header and lines else 0
        last = lines[found][0]
        for number, line in lines[found:]:
            if number > lines[found][0] and re.match(r"""\s*[\w"'-]+\s*=""", line):
                break
            if value and (f'"{value}"' in line or f"'{value}'" in line):
                last = number
        return last

    def _section(self, header: str, index: int) -> list[tuple[int, str]]:
        """Return the numbered lines of a table with its header; for the root table, "", those of all headers too."""
        lines: list[tuple[int, str]] = []
        inside, seen = header == "", -1
        for number, line in enumerate(self.text.split("\n"), self.first_line):
            heading = re.match(r"\s*\[\[?\s*([\w.-]+)\s*\]\]?\s*(#.*)?$", line)
            if heading:
                seen += heading[1] == header
                inside = heading[1] == header and seen == index
            if inside or (heading and header == ""):
                lines.append((number, line))
        return lines


def read_toml(path: Path) -> Table:
    """Read a TOML file of the course. Raises CourseError."""
    return TomlText(read_file(path), path).parse()


class Table:
    """A TOML table whose values are asked for by key and type; a wrong one is a CourseError with its line."""

    def __init__(self, data: dict[str, Any], source: TomlText, header: str = "", index: int = 0) -> None:
        self.data = data
        self.source = source
        self.header = header
        self.index = index

    def error(self, what: str, key: str = "", value: str = "") -> CourseError:
        """Make a complaint about *key*, or about *value* inside it."""
        return self.source.error(what, self.source.line_of(self.header, self.index, key, value))

    def only(self, *keys: str) -> None:
        """Refuse every key but these."""
        for key in self.data:
            if key not in keys:
                import difflib  # here: only a mistyped key needs it

                close = difflib.get_close_matches(key, keys, 1)
                guess = f'did you mean "{close[0]}"?' if close else f"its keys are {', '.join(keys)}"
                raise self.error(f'"{key}" is not a key of {self._name}; {guess}', key)

    def text(self, key: str) -> str:
        """Return a string that is not empty."""
        value = self._require(key)
        if not isinstance(value, str) or not value.strip():
            raise self.error(f'"{key}" must be a text in quotes', key)
        return value

    def whole(self, key: str) -> int:
        """Return a whole number above zero."""
        value = self._require(key)
        if not _is_number(value) or not isinstance(value, int) or value <= 0:
            raise self.error(f'"{key}" must be a whole number above zero', key)
        return value

    def number(self, key: str) -> float:
        """Return a finite number above zero."""
        value = self._require(key)
        if not _is_number(value) or not 0 < value < float("inf"):
            raise self.error(f'"{key}" must be a number above zero', key)
        return float(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of different strings; empty if the key is missing."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            raise self.error(f'"{key}" must be a list of texts in quotes', key)
        for item in value:
            if value.count(item) > 1:
                raise self.error(f'"{key}" holds "{item}" twice', key, item)
        return tuple(value)

    def flag(self, key: str) -> bool:
        """Return true or false; false if the key is missing."""
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            raise self.error(f'"{key}" must be true or false', key)
        return value

    def table(self, key: str) -> Table:
        """Return a table inside this one; empty if it is missing."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.error(f'"{key}" must be a table: [{key}]', key)
        return Table(value, self.source, key)

    def tables(self, key: str) -> list[Table]:
        """Return a list of at least one table."""
        value = self._require(key)
        if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
            raise self.error(f'"{key}" must be a list of tables: [[{key}]]', key)
        return [Table(item, self.source, key, index) for index, item in enumerate(value)]

    def _require(self, key: str) -> Any:
        if key not in self.data:
            raise self.error(f'"{key}" is missing in {self._name}', key)
        return self.data[key]

    @property
    def _name(self) -> str:
        return f"[{self.header}]" if self.header else self.source.path.name


def _is_number(value: object) -> bool:
    """Return True for numbers but TOML's true and false, which are numbers to Python."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
