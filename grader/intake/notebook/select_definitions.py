"""The code cells of a notebook, and what of them is taken: definitions, and of the rest only what they need."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from grader.source.parse import parse
from grader.source.scopes import Definition, Import, changed_names, module_names, root_name

CHANGES = frozenset({"setattr", "delattr", "exec"})  # calls that define something without saying so

Compound = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Try | ast.TryStar | ast.Match


@dataclass
class Unit:
    """Statements of a cell that share lines: `first` to `last` of the cell, counted from 1."""

    first: int
    last: int
    statements: list[ast.stmt]
    taken: bool = False

    @property
    def is_simple(self) -> bool:
        return not any(isinstance(node, Definition | Compound) for node in self.statements)

    @property
    def is_import(self) -> bool:
        return all(isinstance(node, Import) for node in self.statements)


@dataclass
class Cell:
    """A code cell: its lines and its units; without units, and with an `error`, if it is no Python."""

    number: int
    lines: list[str]
    units: list[Unit] = field(default_factory=list)
    error: str = ""


def read_cell(number: int, code: str) -> Cell:
    """A cell as its statements, or as what is wrong with it. Nothing is run."""
    cell = Cell(number, code.split("\n"))
    try:
        tree = parse(code)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, "cell", "exec", dont_inherit=True)  # finds a `return` outside of a function
    except SyntaxError as error:
        cell.error = f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
        return cell
    except (RecursionError, MemoryError, ValueError, OverflowError):
        cell.error = "it is nested too deeply"
        return cell
    for node in tree.body:
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        last = node.end_lineno or node.lineno
        if cell.units and first <= cell.units[-1].last:
            cell.units[-1].statements.append(node)
            cell.units[-1].last = max(last, cell.units[-1].last)
        else:
            cell.units.append(Unit(first, last, [node]))
    return cell


def take(units: Sequence[Unit]) -> None:
    """Mark the definitions, and what gives a value to, or changes, a name that something marked uses."""
    declared = {
        node.name: {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
        for unit in units
        for node in unit.statements
        if isinstance(node, ast.FunctionDef)
    }
    giving: dict[str, list[Unit]] = defaultdict(list)
    waiting: list[Unit] = []
    for unit in units:
        for node in unit.statements:
            for name in _given(node, declared):
                giving[name].append(unit)
        if any(_defines(node) for node in unit.statements):
            waiting.append(unit)
    while waiting:
        unit = waiting.pop()
        if unit.taken:
            continue
        unit.taken = True
        for name in _used(unit):
            waiting += giving.pop(name, ())


def _defines(node: ast.stmt) -> bool:
    """Whether a statement is an import or a definition, or a block that holds one; or a call that may be as good."""
    if isinstance(node, Compound):
        return any(isinstance(part, Definition | Import) for part in ast.walk(node))
    return isinstance(node, Definition | Import) or _called(node) in CHANGES


def _called(node: ast.stmt) -> str:
    """The name of the function that a statement does nothing but call."""
    call = node.value if isinstance(node, ast.Expr) else None
    return call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""


def _given(node: ast.stmt, declared: dict[str, set[str]]) -> set[str]:
    """The names that a statement gives a value to, or whose value it may change."""
    if isinstance(node, Definition | Import):
        return set()
    names = set(declared.get(_called(node), ()))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        names |= {root_name(node.value.func)}  # table.append(1)
    return (names | module_names(node).assigned | changed_names(node)) - {""}


def _used(unit: Unit) -> Iterator[str]:
    """The names of the module that statements use; of a definition, only those that are not its own."""
    for node in unit.statements:
        names = module_names(node)
        yield from names.read if isinstance(node, Definition) else names.read | names.assigned
