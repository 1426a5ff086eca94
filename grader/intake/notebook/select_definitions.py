"""Which statements of a notebook's code cells are taken: definitions, and what they need."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from grader.intake.notebook.changed_names import ChangedNames, origin
from grader.intake.notebook.given_callables import GivenCallables, given_values
from grader.source.parse import nodes_in, parse
from grader.source.scopes import (
    Definition,
    Import,
    imported_name,
    module_names,
    root_name,
)
from grader.submission import RESERVED

CHANGES = frozenset({"setattr", "delattr", "exec"})  # calls that may define something
# What reads one of these may use any definition.
ALL_NAMES = frozenset({"globals", "locals", "vars", "eval", "exec", "__name__"})

Compound = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Try | ast.TryStar | ast.Match


@dataclass(eq=False)
class Unit:
    """Statements of a cell that share lines: `first` to `last` of the cell, counted from 1.

    `names_callables`: they only give names to what can be called. `passed_over`: the name, defined above, to which they
    give what may be another answer. `gives_anew`: imports of what may have a name of something taken above.
    `stands_for`: the name that their guard has until they define it; it says why they did not, if they fail.
    `may_change`: a name of what is taken that they give to a function of the author's own, though they are not.
    """

    first: int
    last: int
    statements: list[ast.stmt]
    taken: bool = False
    names_callables: bool = False
    passed_over: str = ""
    gives_anew: bool = False
    stands_for: str = ""
    may_change: str = ""

    @property
    def is_simple(self) -> bool:
        return not any(isinstance(node, Definition | Compound) for node in self.statements)

    @property
    def is_import(self) -> bool:
        return all(isinstance(node, Import) for node in self.statements)


@dataclass
class Cell:
    """A code cell: its lines and units; without units, and with an `error`, if it is no Python."""

    number: int
    lines: list[str]
    name: str = ""  # as people find it
    units: list[Unit] = field(default_factory=list)
    error: str = ""


def read_cell(number: int, code: str, name: str = "") -> Cell:
    """Split a cell into units of statements, or say what is wrong with it. Nothing is run.

    What awaits at the top level, where a notebook may and a module may not, is in no unit.
    """
    cell = Cell(number, code.split("\n"), name)
    try:
        tree = parse(code)
        if _is_compiled(tree.body):  # which finds a `return` outside of a function
            kept = tree.body
        else:
            _compile(tree.body, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            kept = [node for node in tree.body if _is_compiled([node])]
    except SyntaxError as error:
        cell.error = f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
        return cell
    except (RecursionError, MemoryError, ValueError, OverflowError):
        cell.error = "it is nested too deeply"
        return cell
    for node in kept:
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        last = node.end_lineno or node.lineno
        if cell.units and first <= cell.units[-1].last:
            cell.units[-1].statements.append(node)
            cell.units[-1].last = max(last, cell.units[-1].last)
        else:
            cell.units.append(Unit(first, last, [node]))
    return cell


def _compile(statements: list[ast.stmt], flags: int = 0) -> None:
    """Compile statements as a module, with the compiler's *flags*. Raises what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(ast.Module(statements, []), "cell", "exec", flags, dont_inherit=True)


def _is_compiled(statements: list[ast.stmt]) -> bool:
    try:
        _compile(statements)
    except SyntaxError:
        return False
    return True


def mark_taken(units: Sequence[Unit], wanted: Collection[str] = ()) -> None:
    """Mark definitions as taken, and statements that set or change a name that a taken one uses.

    So are those that set one of the *wanted* names, where nothing defines it: what it is made of is not known. Where
    something does, what else sets it below is left out: a function reads what defines it, and no trial of that.

    Where there is a wanted name, what definitions need that nothing wanted uses, as tests do, is not taken.
    """
    setters: dict[str, list[Unit]] = defaultdict(list)
    later: dict[str, list[Unit]] = {}  # by a wanted name that is defined: what sets it below
    waiting: list[Unit] = []
    definitions = [node for unit in units for node in unit.statements if isinstance(node, Definition)]
    given = GivenCallables(definitions, wanted)
    changed = ChangedNames([node for unit in units for node in unit.statements])
    apart = set(_used_by_name(units, set(wanted)))
    for unit in units:
        unit.names_callables = all([given.defines(node) for node in unit.statements])
        defines = unit.names_callables or any(map(_defines, unit.statements))
        for node in unit.statements:
            for name in changed.names(node):
                is_trial = name in later and not defines and name in module_names(node).assigned
                (later if is_trial else setters)[name].append(unit)
        if unit in apart:
            for name in defined_names(unit) | ALL_NAMES:
                setters[name].append(unit)
        elif defines:
            waiting.append(unit)
            for name in defined_names(unit) & set(wanted):
                setters[name] += later.get(name, ())
                later[name] = []
    for name in wanted:
        waiting += [] if name in later else setters.pop(name, ())
    _take(waiting, setters)
    _take([*apart], {})
    for name, unit in ((name, unit) for name, found in later.items() for unit in found):
        unit.passed_over = "" if unit.taken or _calls(unit, name) else name
    _mark_left_out(units, apart if wanted else units, changed)


def _mark_left_out(units: Sequence[Unit], apart: Collection[Unit], changed: ChangedNames) -> None:
    """Mark what is not taken, and gives a function of the author's own what others than those *apart* read."""
    read = {name for unit in units if unit.taken and unit not in apart for name in _used_names(unit)}
    for unit in units:
        given = set() if unit.taken else changed.given_to_own(unit.statements)
        unit.may_change = min(given & read - changed.functions, default="")


def mark_given_anew(units: Sequence[Unit]) -> None:
    """Mark imports out of the author's own modules that give what was taken above another value, or may do so."""
    given = set[str]()
    for unit in units:
        for node in unit.statements if unit.taken else ():
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] not in RESERVED:
                names = {each.asname or each.name for each in node.names}
                unit.gives_anew |= bool(given if "*" in names else given & names)
            elif not isinstance(node, Import):
                given |= module_names(node).bound


def _take(waiting: list[Unit], setters: dict[str, list[Unit]]) -> None:
    """Mark units as taken, and what sets the names that they use."""
    while waiting:
        unit = waiting.pop()
        if unit.taken:
            continue
        unit.taken = True
        for name in _used_names(unit):
            waiting += setters.pop(name, ())


def _used_by_name(units: Sequence[Unit], wanted: set[str]) -> Iterator[Unit]:
    """Yield definitions that are used only where their name is, if there is a wanted one beside them.

    A decorator or a base class of the author's own, in the notebook or beside it, may keep them under another.
    """
    names = [module_names(node) for unit in units for node in unit.statements]
    bound = set[str]().union(*(each.assigned for each in names))
    imports = [node for unit in units for node in nodes_in(*unit.statements) if isinstance(node, Import)]
    imported = {imported_name(each) for node in imports for each in node.names if origin(node, each) in RESERVED}
    for unit in units if wanted & bound else ():
        nodes = [node for node in unit.statements if isinstance(node, Definition)]
        if len(nodes) == len(unit.statements) and wanted.isdisjoint(node.name for node in nodes):
            around = [each for node in nodes for each in (*node.decorator_list, *getattr(node, "bases", ()))]
            around += [each.value for node in nodes for each in getattr(node, "keywords", ())]
            if all(root_name(each, through_calls=True) in imported - bound for each in around):
                yield unit


def _defines(node: ast.stmt) -> bool:
    """Return True for an import or a definition, a block that holds one, or a call that may define something."""
    if isinstance(node, Compound):
        return any(isinstance(part, Definition | Import) for part in ast.walk(node))
    return isinstance(node, Definition | Import) or _called_function(node) in CHANGES


def defined_names(unit: Unit) -> set[str]:
    """Return the names to which statements give a function, a class or what else can be called."""
    parts = [part for node in unit.statements for part in (ast.walk(node) if isinstance(node, Compound) else [node])]
    names = {part.name for part in parts if isinstance(part, Definition)}
    return names | {name for part in parts if unit.names_callables for name, _ in given_values(part)}


def _calls(unit: Unit, name: str) -> bool:
    """Return True if statements call what has this name: what that gives is not meant to take its place."""
    calls = [part.func for part in nodes_in(*unit.statements) if isinstance(part, ast.Call)]
    return any(isinstance(func, ast.Name) and func.id == name for func in calls)


def _called_function(node: ast.stmt) -> str:
    """Return the name of the function if a statement only calls one; else an empty string."""
    call = node.value if isinstance(node, ast.Expr) else None
    return call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""


def _used_names(unit: Unit) -> Iterator[str]:
    """Yield the module's names that statements use; of a definition only those that are free in it."""
    for node in unit.statements:
        names = module_names(node)
        only_reads = isinstance(node, Definition) or unit.names_callables
        yield from names.read if only_reads else names.read | names.assigned
