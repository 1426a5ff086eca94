"""A notebook's code cells as one Python source. Nothing is run; outputs and text cells are not looked at."""

from __future__ import annotations

import json
import re
from typing import Any

from grader.course.stubs import parse

# `%timeit f(x)`, `%%time`, `!pip install x`, `?help` at the start of a line; `% b` with a space is Python's modulo.
_MAGIC = re.compile(r"^(?P<indent>[ \t]*)(?P<magic>%{1,2}[A-Za-z]|!|\?)")
_ASSIGNED = re.compile(r"^(?P<indent>[ \t]*)[\w.,\[\] \t]+=[ \t]*(%[A-Za-z]|!)")  # `files = !ls`
_HELP = re.compile(r"^(?P<indent>[ \t]*)[\w.]+\?{1,2}[ \t]*$")  # `torch.softmax?`
_CELL_OF_PYTHON = re.compile(r"%%(time|timeit|capture|prun)\b")


class NotebookError(Exception):
    """This is no notebook that can be read; the text is a sentence for the reader of the results."""


def to_source(raw: bytes) -> str:
    """The code cells one after the other, with a comment that numbers each. Raises NotebookError."""
    content = _parse(raw)
    language = _language(content)
    if language != "python":
        raise NotebookError(f"The notebook is written in {language}, not in Python.")
    cells = [_code(cell) for cell in _cells(content) if cell.get("cell_type") == "code"]
    return "\n\n".join(f"# --- code cell {number} ---\n{_python(code)}" for number, code in enumerate(cells, 1)) + "\n"


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "it is not the JSON of a notebook"
        raise NotebookError(f"The notebook cannot be read: {reason}.") from None
    if not isinstance(content, dict) or not isinstance(content.get("cells", content.get("worksheets")), list):
        raise NotebookError("The notebook cannot be read: it has no cells.")
    return content


def _language(content: dict[str, Any]) -> str:
    metadata = content.get("metadata")
    for section in ("language_info", "kernelspec"):
        found = metadata.get(section) if isinstance(metadata, dict) else None
        name = found.get("name" if section == "language_info" else "language") if isinstance(found, dict) else None
        if isinstance(name, str):
            return "python" if name.lower().startswith(("python", "ipython")) else name[:40]
    return "python"


def _cells(content: dict[str, Any]) -> list[dict[str, Any]]:
    cells = content.get("cells")
    if not isinstance(cells, list):  # format 3 and before: sheets of cells
        sheets = [sheet.get("cells") for sheet in content["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
    return [cell for cell in cells if isinstance(cell, dict)]


def _code(cell: dict[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str)).replace("\r\n", "\n").replace("\r", "\n")


def _python(code: str) -> str:
    """A cell without what only a notebook understands; a cell that is Python already stays as it is."""
    if _is_python(code):
        return code
    lines = code.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%") and not _CELL_OF_PYTHON.match(lines[first]):
        return "\n".join(f"# {line}" for line in lines)
    return "\n".join(map(_without_magic, lines))


def _is_python(code: str) -> bool:
    try:
        parse(code)
    except SyntaxError:
        return False
    return True


def _without_magic(line: str) -> str:
    """The line as a comment if it is magic; where it is indented, a `pass` keeps its block from being empty."""
    found = _MAGIC.match(line) or _ASSIGNED.match(line) or _HELP.match(line)
    if not found:
        return line
    indent = found["indent"]
    return f"{indent}{'pass  ' if indent else ''}# {line.strip()}"
