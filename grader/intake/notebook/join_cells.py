"""The cells of a notebook as one module.

Between the definitions of a notebook stand cells that plot, train for minutes, compare with a library or stop with an
error; a module of everything would fail with the first of them. So these are taken: imports, which come first,
functions and classes, and statements that set a name that a function uses. Each may fail without harm to the rest. A
cell that is no Python is left out; what it would define says so when called.

Line numbers show the cell: with 100 lines a cell, line 302 is line 2 of the third code cell.
"""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import tokenize
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from grader.intake.name_patterns import JUDGED
from grader.intake.notebook.cell_places import HEADER, NUMBERED
from grader.intake.notebook.changed_names import SURE, origin
from grader.intake.notebook.lost_definitions import DEFINITION, in_texts
from grader.intake.notebook.select_definitions import (
    Cell,
    Compound,
    Unit,
    defined_names,
    mark_given_anew,
    mark_taken,
    read_cell,
)
from grader.source.parse import nodes_in
from grader.source.scopes import Definition, Import, imported_name, module_names
from grader.submission import MAX_BYTES

LEFT_OUT = "was left out: it is no Python"
MAX_BLANK = MAX_BYTES // 2  # lines: they count towards the size of a source, too
PREAMBLE = """\
from __future__ import annotations


class _NotebookCell:
    def __init__(self, name):
        self.name = self.why = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, (Exception, SystemExit)):
            self.why = f"{self.name} of the notebook: {kind.__name__}: {error}"
            print(self.why)
            return True

    def __call__(self, *_, **__):
        raise NameError(f"it could not be defined. {self.why}")

    __mro_entries__ = __call__
"""
FUTURE = "from __future__ import annotations"
FILE_GUARD = (  # in one line, so that all others stay where they are
    "class _NotebookCell: __enter__ = lambda self: self; __exit__ = lambda self, kind, error, trace: "
    "isinstance(error, (Exception, SystemExit)) and "
    'not print(f"Line {trace.tb_lineno} of the notebook: {kind.__name__}: {error}")'
)
GUARD = "_NotebookCell"  # the class in both
BLANK = ("", "")

Line = tuple[str, str]  # with the guard around it, and as the learner wrote it


class Framed(NamedTuple):
    """What cells define: as the module that is judged, and the learner's own text on the same lines."""

    module: str
    own: str


def as_module(
    codes: Sequence[str], names: Sequence[str], note: Callable[[str], None], wanted: Collection[str] = ()
) -> Framed:
    """Return a module with the definitions of these cells; *note* is called with what is left out.

    *wanted* are names that are to be defined, in whatever way.
    """
    cells = [read_cell(number, *cell) for number, cell in enumerate(zip(codes, names, strict=True), 1)]
    for cell in cells:
        if cell.error:
            note(f"{cell.name.capitalize()} {LEFT_OUT} ({cell.error}).")
    units = [unit for cell in cells for unit in cell.units]
    mark_taken(units, wanted)
    mark_given_anew(units)
    lost = defaultdict[int, list[str]](list)
    for unit, name in in_texts(units, wanted):
        lost[id(unit)].append(name)
    for cell in cells:
        for name in dict.fromkeys(name for unit in cell.units for name in lost[id(unit)]):
            note(f"The definition of `{name}` in a text of {cell.name} was left out: it was not run.")
        for name in dict.fromkeys(unit.passed_over for unit in cell.units if unit.passed_over):
            note(f"The definition of `{name}`{JUDGED}what {cell.name} gives that name was not.")
        for name in dict.fromkeys(unit.may_change for unit in cell.units if unit.may_change):
            note(f"A call in {cell.name} was not run; if it changes `{name}`, write that outside of a function.")
    imports = _imports(cells)
    sure = _sure_names(units)
    defined = {node.name for unit in units for node in unit.statements if isinstance(node, Definition)}
    _mark_stand_ins(units)
    written = [_write_cell(cell, sure) if not cell.error else _failing_stubs(cell, defined) for cell in cells]
    lines = [*((line, "") for line in PREAMBLE.split("\n")), *imports]
    stride = _stride([lines, *written])
    if stride and cells:
        note(f"{NUMBERED}line {stride + 2} is line 2 of {cells[0].name}.")
    for cell, text in zip(cells, written, strict=True):
        lines += [BLANK] * (cell.number * stride - 1 - len(lines))
        lines += [(HEADER.format(cell.name),) * 2, *text]
    return _framed(lines)


def as_file(codes: Sequence[str], wanted: Collection[str] = ()) -> str:
    """Return the same definitions as people write a file: imports first, of what is defined twice the last."""
    cells = [read_cell(number, code) for number, code in enumerate(codes, 1)]
    units = [(cell, unit) for cell in cells for unit in cell.units]
    mark_taken([unit for _, unit in units], wanted)
    texts = {id(unit): "\n".join(cell.lines[unit.first - 1 : unit.last]) for cell, unit in units if unit.taken}
    imports = dict.fromkeys(texts[id(unit)] for _, unit in units if unit.taken and unit.is_import)
    named = {
        tuple(getattr(node, "name", number) for node in unit.statements): unit
        for number, (_, unit) in enumerate(units)
        if unit.taken and not unit.is_import
    }
    last = {id(unit) for unit in named.values()}
    parts = ["\n".join(imports), *(texts[id(unit)] for _, unit in units if id(unit) in last)]
    return "\n\n\n".join(filter(None, parts)) + "\n"


def _framed(lines: Iterable[Line]) -> Framed:
    return Framed(*("\n".join(text) + "\n" for text in zip(*lines, strict=True)))


def guard_file(text: str, note: Callable[[str], None], wanted: Collection[str] = ()) -> Framed | None:
    """Return a file that was saved out of a notebook with the same definitions, on the lines that they have.

    None if it is to stay as it is: it is no Python, or begins with what there is no room for a guard before.
    """
    cell = read_cell(1, text)
    mark_taken(cell.units, wanted)
    _leave_future(cell)
    lines = _write_cell(cell, _sure_names(cell.units), with_imports=True)
    _make_room(lines, cell)
    head = [FUTURE, FILE_GUARD] if not any(map(any, lines[1:2])) else [FILE_GUARD]
    if cell.error or any(map(any, lines[: len(head)])) or (FUTURE in text and FUTURE not in head):
        return None
    for unit, name in in_texts(cell.units, wanted):
        note(f"The definition of `{name}` in a text of line {unit.first} was left out: it was not run.")
    for unit in cell.units:
        if unit.passed_over:
            note(f"The definition of `{unit.passed_over}`{JUDGED}what line {unit.first} gives that name was not.")
        if unit.may_change:
            note(f"Line {unit.first} was not run; if it changes `{unit.may_change}`, write that outside of a function.")
    if left := next((unit for unit in cell.units if not unit.taken and not _says_nothing(unit)), None):
        note(f"It was saved out of a notebook: what only tries its functions out, as line {left.first}, was not run.")
    return _framed([*((line, "") for line in head), *lines[len(head) :]])


def _make_room(lines: list[Line], cell: Cell) -> None:
    """Move imports in the first two lines to the first empty ones, if nothing but imports stands between."""
    movable = {unit.first - 1 for unit in cell.units if unit.is_import and unit.first == unit.last}
    for number in range(min(2, len(lines))):
        free = next((place for place in range(number + 1, len(lines)) if not any(lines[place])), 0)
        if any(lines[number]) and free and movable.issuperset(range(number, free)):
            lines[number], lines[free] = BLANK, lines[number]
            movable.add(free)


def _leave_future(cell: Cell) -> None:
    """Leave out imports that may stand at the very beginning alone."""
    for unit in cell.units:
        if any(getattr(node, "module", "") == "__future__" for node in unit.statements):
            unit.taken = False


def _mark_stand_ins(units: Sequence[Unit]) -> None:
    """Mark what is taken and defines one name to which nothing gives a value above: its guard may stand for it.

    A block that does not fail may define nothing: its guard would take the name without a reason. What imports give is
    above all; what a star gives is not known.
    """
    imports = [(unit, part) for unit in units for part in nodes_in(*unit.statements) if isinstance(part, ast.alias)]
    if any(alias.name == "*" for _, alias in imports):
        return
    above = {*dir(builtins), *(imported_name(alias) for unit, alias in imports if unit.is_import)}
    for unit in units:
        if unit.taken:
            names = defined_names(unit)
            is_plain = not any(isinstance(node, Compound) for node in unit.statements)
            if is_plain and len(unit.statements) == len(names) == 1 and above.isdisjoint(names):
                (unit.stands_for,) = names
            above |= names.union(*(module_names(node).bound for node in unit.statements))


def _says_nothing(unit: Unit) -> bool:
    """Return True for texts, which Colab makes of cells without code, and for imports and what stands for magics."""
    plain = (ast.Pass, ast.Import, ast.ImportFrom)
    return all(
        isinstance(node, plain) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in unit.statements
    )


def _stride(written: Sequence[Sequence[Line]]) -> int:
    """Return how many lines each cell gets; 0 if that would make the source too long."""
    longest = max(map(len, written)) + 1
    stride = 100
    while stride <= longest:
        stride *= 10
    return stride if stride * len(written) <= MAX_BLANK else 0


def _failing_stubs(cell: Cell, defined: Iterable[str]) -> list[Line]:
    """Return definitions that fail with the reason, for what only a cell that is no Python defines."""
    where, colon, what = cell.error.partition(": ") if cell.error.startswith("line ") else ("", "", cell.error)
    why = repr(f"{where}{' of ' if colon else ''}{cell.name}: {what}")
    lines = []
    for kind, name in dict.fromkeys(DEFINITION.findall("\n".join(cell.lines))):
        if name in defined or keyword.iskeyword(name) or not name.isidentifier():
            continue
        function = f"def {name if kind == 'def' else '__init__'}(*_, **__): raise SyntaxError({why})"
        lines += [function] if kind == "def" else [f"class {name}:", f"    {function}"]
    return [(line, line) for line in lines]


def _imports(cells: Sequence[Cell]) -> list[Line]:
    """Return the imports of all cells, which come first: what a cell below runs may be needed above it."""
    lines: list[Line] = []
    for cell in cells:
        for unit in cell.units:
            is_future = any(getattr(node, "module", "") == "__future__" for node in unit.statements)
            if unit.is_import and not is_future:
                lines += _guard(cell, unit)
    return lines


def _guard(cell: Cell, unit: Unit) -> list[Line]:
    """Return simple statements on the same lines, in a block that absorbs errors."""
    first, *rest = cell.lines[unit.first - 1 : unit.last]
    return [(f"{_header(cell, unit)} {first}", first), *((line, line) for line in rest)]


def _header(cell: Cell, unit: Unit) -> str:
    """Return the line before a guarded block; what it was to define is the guard, which says why, if that fails."""
    stand_in = f" as {unit.stands_for}" if unit.stands_for else ""
    return f"with {GUARD}({repr(cell.name.capitalize()) if cell.name else ''}){stand_in}:"


def _write_cell(cell: Cell, sure: frozenset[str], *, with_imports: bool = False) -> list[Line]:
    """Return a cell's part of the module, with what is taken on its original lines where possible."""
    lines: list[Line] = []
    for unit in cell.units:
        if not unit.taken or (unit.is_import and not (with_imports or unit.gives_anew)):
            continue
        own = cell.lines[unit.first - 1 : unit.last]
        inner, header = [(line, line) for line in own], []
        if not all(_is_sure(node, sure) for node in unit.statements):
            if unit.is_simple:
                inner = _guard(cell, unit)
            elif (moved := _indent(own)) is not None:
                header, inner = [(_header(cell, unit), "")], [*zip(moved, own, strict=True)]
        lines += [BLANK] * (unit.first - 1 - len(header) - len(lines))
        lines += [*header, *inner]
    return lines


def _sure_names(units: Sequence[Unit]) -> frozenset[str]:
    """Return names that always exist: builtins, and imports of packages that every worker has."""
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for unit in units
        for node in unit.statements
        if isinstance(node, Import)
        for alias in node.names
        if origin(node, alias) in SURE
    }
    return frozenset(dir(builtins)) | imported


def _is_sure(node: ast.stmt, sure: frozenset[str]) -> bool:
    """Return True for plain definitions and values, which cannot fail and stay as they are."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        defaults = [one for one in (*node.args.defaults, *node.args.kw_defaults) if one is not None]
        return _all_plain([*node.decorator_list, *defaults], sure, calls=True)
    if isinstance(node, ast.Import):
        return all(alias.name in SURE for alias in node.names)
    if isinstance(node, ast.ClassDef):
        around = [*node.decorator_list, *node.bases, *(one.value for one in node.keywords)]
        inner = [one for one in node.body if not isinstance(one, ast.Pass)]
        return _all_plain(around, sure, calls=True) and all(_is_sure(one, sure) for one in inner)
    if isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) for target in node.targets):
        return isinstance(node.value, ast.Lambda) or _all_plain([node.value], sure, calls=False)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _all_plain(values: Iterable[ast.expr], sure: frozenset[str], *, calls: bool) -> bool:
    """Return True if values consist of constants and sure names, and with *calls* of calls of those."""
    plain = (ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.UnaryOp, ast.expr_context, ast.unaryop)
    allowed = (*plain, ast.Call, ast.keyword) if calls else plain
    parts = [part for value in values for part in ast.walk(value)]
    return all(isinstance(part, allowed) and (not isinstance(part, ast.Name) or part.id in sure) for part in parts)


def _indent(lines: list[str]) -> list[str] | None:
    """Indent lines by one space, except those that begin inside a string; None if that is unknown."""
    inside = _lines_in_strings(lines)
    if inside is None:
        return None
    return [line if number in inside or not line else f" {line}" for number, line in enumerate(lines, 1)]


def _lines_in_strings(lines: Sequence[str]) -> set[int] | None:
    """Return the numbers of the lines that begin inside a string; None if that is unknown."""
    inside: set[int] = set()
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            kind = tokenize.tok_name[token.type]
            if kind == "FSTRING_START":  # from Python 3.12 on
                opened.append(token.start[0])
            elif kind in ("STRING", "FSTRING_END"):
                start = opened.pop() if kind == "FSTRING_END" else token.start[0]
                inside.update(range(start + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError, IndexError):
        return None
    return inside
