"""A notebook's code cells as one Python source. Nothing is run; outputs and text cells are ignored.

Magics and shell lines become comments, but for what `%time` runs; `join_cells.py` says what is taken of the rest.
"""

from __future__ import annotations

import ast
import builtins
import json
import keyword
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from textwrap import dedent
from typing import Any

from grader.intake.answers.last_bindings import last_bindings
from grader.intake.notebook.join_cells import Framed, as_module
from grader.intake.notebook.lost_definitions import DEFINITION, PYTHON_CELL_MAGIC, below_magic
from grader.source.parse import nodes_in, parse
from grader.source.scopes import module_names, names_bound_by
from grader.submission import MAX_BYTES, RESERVED

# `%timeit f(x)`, `%%time`, `!pip install x`, `?help` at the start of a line; `% b` with a space is Python's modulo.
_MAGIC = re.compile(r"^(?P<indent>[ \t]*)(?P<magic>%{1,2}[A-Za-z]|!(?!=)|\?)")
_OPTIONS = r"(?:[ \t]+-(?:[qr]|[slTD][ \t]*\S+))*"
_TIMED = re.compile(  # what it sets stays
    rf"^(?P<indent>[ \t]*)%(?:time|prun{_OPTIONS})[ \t]+(?P<statement>[^ \t].*)"
)
_RUN = re.compile(  # a file by its path, without arguments
    r"%run[ \t]+(?:-[in][ \t]+)*(?P<quote>['\"]?)(?:\.{1,2}/)*(?P<path>[A-Za-z_]\w*(?:/[A-Za-z_]\w*)*)(?:\.py|\.ipynb)?"
    r"(?P=quote)[ \t]*$"
)
_RAN = re.compile(r"^from [\w.]+ import \*  (# %run .*)$", re.MULTILINE)
_NOT_RUN = re.compile(r"^# (%run[ \t].*)$", re.MULTILINE)
_ASSIGNED = re.compile(r"^(?P<indent>[ \t]*)[\w.,\[\]][\w.,\[\] \t]*=[ \t]*(%[A-Za-z]|!)")  # `files = !ls`
_LISTED = re.compile(r"^[ \t]*\w+[ \t]*=(?=[ \t]*!)")  # lines of what a shell prints
_HELP = re.compile(r"^(?P<indent>[ \t]*)[\w.]+\?{1,2}[ \t]*$")  # `torch.softmax?`
# as nbconvert writes it
_EXPORTED = re.compile(r"^(?P<start>[ \t]*(?P<given>\w+ = )?)get_ipython\(\)\.(?P<call>\w+\(.*\))[ \t]*$", re.MULTILINE)
_PROMPT = re.compile(r"^# (?:In ?\[[ \d]*\]:|%%.*)$", re.MULTILINE)  # which nbconvert and VS Code write above each cell
_SHOWN = re.compile(r"^(?P<start>[ \t]*)display\([^;]*\)(?:[ \t]*;)?[ \t]*$")  # known there without an import
_COLABS = "# Commented out IPython magic to ensure Python compatibility.\n"
_CELL_BEGINS = re.compile(r"# (?:%%(?: .*)?|\+.*)$")  # as jupytext writes it
_DATABRICKS = re.compile(r"# MAGIC ?")
_SIGN = re.compile(rf"{_DATABRICKS.pattern}|# ?")
_MAYBE_EXPORTED = re.compile(
    rf"^[ \t]*(?:[!%]|display\()|=[ \t]*[!%]|\?[ \t]*$|get_ipython\(\)\.|^{_COLABS}"
    r"|^# (?:MAGIC |(?:%%|\+).*\n# )%%[a-z]",
    re.MULTILINE,
)
# before code that was pasted out of a session of Python or IPython, as that takes it off
_PASTED = re.compile(r"\s*(?:>>>(?: |$)|In \[\d+\]: )", re.MULTILINE)
_PASTED_PROMPT = re.compile(r"^(?:(?:>>>|\.\.\.)(?: |$)|In \[\d+\]: |[ \t]*\.{3,}: ?)", re.MULTILINE)

CELL_MAGIC = "run_cell_magic("
MAX_NUMBER = 1_000_000  # of a cell: nobody has run so many


class NotebookError(Exception):
    """The notebook cannot be read; the text is a sentence for readers of the results."""


def to_source(raw: bytes, note: Callable[[str], None] = lambda text: None, wanted: Collection[str] = ()) -> str:
    """Return the module that `read_notebook` makes, as it is judged. Raises NotebookError."""
    return read_notebook(raw, note, wanted).module


def read_notebook(raw: bytes, note: Callable[[str], None], wanted: Collection[str]) -> Framed:
    """Return one module of the definitions in all code cells; *note* is called with what could not be used.

    *wanted* are names that are to be defined, in whatever way.

    A notebook with more code than a file may have gives a source that is too large as well. Raises NotebookError.
    """
    found = _code_cells(raw)
    cells = [_code(cell) for cell in found]
    if sum(len(code.encode("utf-8", "replace")) for code in cells) > MAX_BYTES:
        too_large = "\n".join(cells).ljust(MAX_BYTES + 1)[: MAX_BYTES + 1]
        return Framed(too_large, too_large)
    names = _name_cells(found)
    for name, code in zip(names, cells, strict=True):
        if why := below_magic(code, wanted):
            note(f"{name.capitalize()} was left out: {why}")
    plain = _run_if_needed(_without_shown([to_python(code) for code in cells]), note)
    return as_module(plain, names, note, wanted)


def code_cells(raw: bytes) -> list[str]:
    """Return the code of a notebook, cell by cell. Raises NotebookError."""
    return [_code(cell) for cell in _code_cells(raw)]


def exported_calls(source: str) -> Iterator[tuple[int, str]]:
    """Yield the cells that nbconvert has made calls of in such a file, as they were, with the place of each call."""
    found = ((call.start(), _cell_of(call)) for call in _EXPORTED.finditer(source))
    yield from ((start, cell) for start, cell in found if cell)


def exported_cells(raw: bytes) -> list[str]:
    """Return the cells of a Python file that was saved out of a notebook; one with a magic as it was there."""
    source = one_kind_of_ends(raw.decode("utf-8", "replace")) if CELL_MAGIC.encode() in raw else ""
    parts = _PROMPT.split(source)[1:] or [call[0] for call in _EXPORTED.finditer(source)]
    found = [_EXPORTED.search(part) for part in parts]
    return [(_cell_of(one) if one else "") or part for one, part in zip(found, parts, strict=True)]


def _code_cells(raw: bytes) -> list[dict[str, Any]]:
    content = _parse(raw)
    language = _language(content)
    if language != "python":
        raise NotebookError(f"The notebook is written in {language}, not in Python.")
    return [cell for cell in _cells(content) if cell.get("cell_type") == "code"]


def _name_cells(cells: Sequence[dict[str, Any]]) -> list[str]:
    """Name each code cell by the number that the notebook shows beside it; by its place if it has none of its own."""
    shown = [cell.get("execution_count", cell.get("prompt_number")) for cell in cells]
    numbers = [each if type(each) is int and 0 < each < MAX_NUMBER else 0 for each in shown]
    cells_with = Counter(numbers)
    return [
        f"cell [{number}]" if number and cells_with[number] == 1 else f"code cell {place}"
        for place, number in enumerate(numbers, 1)
    ]


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
    code = "".join(line for line in lines if isinstance(line, str))
    return _dedent(one_kind_of_ends(code))


def one_kind_of_ends(text: str) -> str:
    """Return a text with the ends of lines that the rest of this knows: Windows' own are `\\r\\n`."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _dedent(code: str) -> str:
    """Return a cell that is indented as a whole without that, as IPython runs it; any other as it is."""
    return dedent(code) if code.lstrip("\n")[:1] in (" ", "\t") else code


def to_python(code: str) -> str:
    """Return a cell without notebook syntax; a cell that is plain Python stays as it is."""
    code = _dedent(code)
    if _PASTED.match(code):  # at the beginning no Python has such; further down it may stand in a docstring
        code = _PASTED_PROMPT.sub("", code)
    if _is_python(code):
        return code
    lines = code.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%") and not PYTHON_CELL_MAGIC.match(lines[first]):
        return "\n".join(f"# {line}" for line in lines)
    if lines[first].startswith("%%"):  # which is taken off before the indent is
        lines = [*lines[: first + 1], *_dedent("\n".join(lines[first + 1 :])).split("\n")]
    return "\n".join(_without_magics(lines))


def file_to_python(source: str, note: Callable[[str], None] = lambda text: None) -> str:
    """Return a file that was saved out of a notebook without what only that understands; any other as it is.

    Colab leaves `!pip install` in it as it stands, nbconvert writes `get_ipython().system(...)`. *note* is called where
    there is such.
    """
    read = one_kind_of_ends(source)
    if not _MAYBE_EXPORTED.search(read):
        return source
    lines = read.split("\n")
    plain = list(_uncommented(lines))
    plain = plain if _is_python("\n".join(plain)) else list(_without_magics(plain))
    plain = [_EXPORTED.sub(_run_by, line) for line in plain]  # a line of these may have become several
    text = _run_if_needed(_without_shown(["\n".join(plain)]), note)[0]
    made = plain if plain != lines else text.split("\n")
    changed = next((old.strip() for old, new in zip(lines, made, strict=True) if old != new), "")
    if not changed or not _is_python(text):
        return source
    note(f"It was saved out of a notebook: {changed[:60]} and the like were left out, but for what they run.")
    return text


def _without_shown(texts: Sequence[str]) -> list[str]:
    """Leave out what `display` shows, unless one of these texts of the same program gives that name a value."""
    trees = [_statements(text) if "display" in text else [] for text in texts]
    if any("display" in names_bound_by(node) for tree in trees for node in nodes_in(*tree)):
        return list(texts)
    made = ["\n".join(_SHOWN.sub(r"\g<start>pass", line) for line in text.split("\n")) for text in texts]
    return [new if new == old or _is_python(new) else old for old, new in zip(texts, made, strict=True)]


def _run_if_needed(texts: Sequence[str], note: Callable[[str], None]) -> list[str]:
    """Leave out the files that `%run` runs, unless what gives this program its names reads one that nothing gives.

    A function without a body yet gives nothing: the file may be where it is written.
    """
    nodes = [node for text in texts for node in _statements(text)] if any("%run" in text for text in texts) else []
    named = [names for names in map(module_names, nodes) if names.bound]
    bound = {*dir(builtins), "display", "get_ipython"}.union(*(names.bound for names in named))
    read = set[str]().union(*(names.read for names in named))
    without = [_RAN.sub(r"\1", text) for text in texts]
    last = last_bindings("\n".join(without), read) if nodes else {}
    if missing := sorted(read - bound | {name for name, body in last.items() if not body}):
        for run in (each[1] for text in texts for each in _NOT_RUN.finditer(text)):
            note(f"`{run[:60]}` was not run, and nothing else defines `{missing[0]}`.")
        return list(texts)
    return without


def _uncommented(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines with the Python that was made a comment because of its magic, in a line (Colab) or a whole cell.

    Colab's own words stand above it, jupytext's sign of a cell, or Databricks' word before each line.
    """
    of_colab = in_cell = False
    before = ""
    for line in lines:
        of_colab = line == _COLABS.rstrip() or (of_colab and line != "")
        of_databricks = _DATABRICKS.match(line)
        made = _SIGN.sub("", line, count=1)
        may_begin = line.startswith("#") and (of_colab or of_databricks or _CELL_BEGINS.match(before))
        begins = may_begin and PYTHON_CELL_MAGIC.match(made)
        in_cell = bool(begins or (in_cell and line.startswith("#") and not _CELL_BEGINS.match(line)))
        yield made if in_cell or (of_colab and (_TIMED.match(made) or _import_for_run(made))) else line
        before = line


def _run_by(exported: re.Match[str]) -> str:
    """Return what stands for a call of IPython's: a cell that defines something, what it times, if that is simple.

    Else it is nothing, or an empty list.
    """
    cell = _cell_of(exported)
    if not exported["start"] and PYTHON_CELL_MAGIC.match(cell) and DEFINITION.search(cell):
        return to_python(cell)
    match _statements(exported["call"]):
        case [ast.Expr(ast.Call(args=[ast.Constant("time" | "prun"), *_, ast.Constant(str(code))]))]:
            line = "; ".join(map(ast.unparse, _statements(code)))
            if line and not exported["given"] and "\n" not in line:
                return exported["start"] + line
        case [ast.Expr(ast.Call(args=[ast.Constant("run"), ast.Constant(str(words))]))] if not exported["start"]:
            return _import_for_run(f"%run {words}") or "pass"
    return exported["start"] + ("[]" if exported["given"] else "pass")


def _cell_of(exported: re.Match[str]) -> str:
    """Return the cell that nbconvert has made a call of; nothing for any other call."""
    match _statements(exported["call"]) if exported["call"].startswith(CELL_MAGIC) else []:
        case [ast.Expr(ast.Call(args=words))]:
            match [word.value for word in words if isinstance(word, ast.Constant)]:
                case [str(name), str(line), str(code)]:
                    return f"%%{name} {line}".rstrip() + f"\n{code}"
    return ""


def _is_python(code: str) -> bool:
    try:
        parse(code)
    except SyntaxError:
        return False
    return True


def _statements(code: str) -> list[ast.stmt]:
    return parse(code).body if _is_python(code) else []


def _without_magics(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines with magics as comments; one that ends in a backslash goes on in the next, as for IPython."""
    goes_on = False
    for line in lines:
        made = f"# {line.strip()}" if goes_on else _without_magic(line)
        goes_on = made != line and line.endswith("\\")
        yield made


def _import_for_run(line: str) -> str:
    """Return an import of all that the file defines which a line runs; empty for any other line."""
    run = _RUN.fullmatch(line)
    parts = run["path"].split("/") if run else []
    is_import = parts and RESERVED.union(keyword.kwlist).isdisjoint(parts)
    return f"from {'.'.join(parts)} import *  # {line.strip()}" if is_import else ""


def _without_magic(line: str) -> str:
    """Return a magic line as a comment, but for what it times; indented, `pass` keeps its block from being empty."""
    if (timed := _TIMED.match(line)) and _is_python(timed["statement"]):
        return timed["indent"] + timed["statement"]
    if imported := _import_for_run(line):
        return imported
    if listed := _LISTED.match(line):
        return f"{listed[0]} []  # {line[listed.end() :].strip()}"
    found = _MAGIC.match(line) or _ASSIGNED.match(line) or _HELP.match(line)
    if not found:
        return line
    indent = found["indent"]
    return f"{indent}{'pass  ' if indent else ''}# {line.strip()}"
