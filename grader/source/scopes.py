"""Which names a piece of Python binds, reads and changes, by the standard library's `symtable`."""

from __future__ import annotations

import ast
import builtins
import symtable
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeGuard

from grader.source.parse import nodes_in

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Import = ast.Import | ast.ImportFrom
Scope = Definition | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Names(NamedTuple):
    """Names of a module that some of its code assigns, imports and reads."""

    assigned: frozenset[str]
    imported: frozenset[str]
    read: frozenset[str]

    @property
    def bound(self) -> frozenset[str]:
        """The names that are given a value, in either way."""
        return self.assigned | self.imported


def module_names(code: ast.AST | str) -> Names:
    """Return the names of the module that *code*, from its top level, uses; names local to a function are left out.

    Raises SyntaxError for a text that the compiler refuses. For a node that it refuses, every name counts as assigned
    and as read.
    """
    try:
        return _module_names(code if isinstance(code, str) else ast.unparse(code))
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        if isinstance(code, str):
            raise SyntaxError("the source has no symbol table") from error
        names = frozenset(part.id for part in nodes_in(code) if isinstance(part, ast.Name))
        return Names(names, frozenset(), names)


def names_read(code: ast.AST, parts: Iterable[ast.AST]) -> Iterable[str]:
    """Return the names of the module that *code* reads; *parts* are its nodes.

    A symbol table, for which the code is written out and parsed again, is only made where a scope is opened.
    """
    if any(isinstance(part, Scope) for part in parts):
        return module_names(code).read
    return [part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)]


def _module_names(text: str) -> Names:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they belong to the author of the source
        table = symtable.symtable(text, "source", "exec")
    symbols = _symbols(table)
    read = {symbol.get_name() for symbol in symbols if symbol.is_referenced()}
    inner = table.get_children()
    for scope in inner:  # grows while it is read
        of_class = scope.get_type() == "class"  # there a name is the module's until the class has given it a value
        read |= {each.get_name() for each in _symbols(scope) if each.is_global() or (of_class and each.is_referenced())}
        inner += scope.get_children()
    assigned = {symbol.get_name() for symbol in symbols if symbol.is_assigned()}
    imported = {symbol.get_name() for symbol in symbols if symbol.is_imported()}
    return Names(frozenset(assigned), frozenset(imported), frozenset(read))


def _symbols(table: symtable.SymbolTable) -> list[symtable.Symbol]:
    """Return the symbols of a scope; `get_symbols` compares each with all inner scopes: hours for a hostile source."""
    flags: dict[str, int] = table._table.symbols  # type: ignore[attr-defined]
    is_module = table.get_type() == "module"
    return [symtable.Symbol(name, bits, module_scope=is_module) for name, bits in flags.items()]


def changed_names(code: ast.AST) -> set[str]:
    """Return the names whose objects are changed by assignment: `table` of `table.rows[0] = 1`."""
    return {
        root_name(part)
        for part in nodes_in(code)
        if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store)
    } - {""}


def root_name(node: ast.expr, *, through_calls: bool = False) -> str:
    """Return `a` for `a.b[0].c`; "" where an expression begins with no name. A call ends it, unless `through_calls`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(node, ast.Call):
            if not through_calls:
                return ""
            node = node.func
        else:
            node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def imported_name(alias: ast.alias) -> str:
    """Return the name that an import binds: `np` for `numpy as np`, `torch` for `torch.nn`."""
    return alias.asname or alias.name.partition(".")[0]


def names_bound_by(node: ast.AST) -> set[str]:
    """Return the names that a single node binds or deletes, in whatever scope it stands."""
    match node:
        case ast.arg():
            return {node.arg}
        case ast.Name(ctx=ast.Store() | ast.Del()):
            return {node.id}
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.alias():
            return {imported_name(node)}
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() | ast.MatchMapping():
            return {name for name in (getattr(node, "name", None), getattr(node, "rest", None)) if name}
    return set()


def names_bound_anywhere(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that the file binds anywhere, and Python's own."""
    yield from dir(builtins)
    for node in nodes:
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, Definition):
            yield node.name


def attributes_given(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of attributes that the file gives to its own objects."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                targets = getattr(part, "targets", None) or [getattr(part, "target", None)]
                yield from (target.id for target in targets if isinstance(target, ast.Name))
                if isinstance(part, Definition):
                    yield part.name


def open_case(node: ast.AST) -> Iterable[ast.AST]:
    """Return what is in a `case`, whose names are those of the `match`; any other node as it is."""
    return ast.iter_child_nodes(node) if isinstance(node, ast.match_case) else [node]


def class_statements(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements of classes themselves, not of their methods: what these bind, others can take, `A.lib`."""
    waiting = [part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body]
    for part in waiting:  # grows while it is read
        yield part
        if not isinstance(part, Definition):
            waiting += [each for child in ast.iter_child_nodes(part) for each in open_case(child) if _has_body(each)]


def _has_body(node: ast.AST) -> TypeGuard[ast.stmt]:
    return isinstance(node, ast.stmt | ast.ExceptHandler)


def decorators(definitions: Iterable[Definition]) -> set[int]:
    """Return where the decorators of functions or classes stand, called or not."""
    found = (each for node in definitions for each in node.decorator_list)
    return {id(each.func if isinstance(each, ast.Call) else each) for each in found}


class FunctionScope:
    """What one function binds itself, without what is in it.

    Attributes:
        foreign: Names that are not its own: it imports them, or a function of the file shares them with another.
        uses: For each name, where the function reads it, or one in it that has it of this one.
        bound: The names of its parameters, and those that its statements give a value, each with the values.
    """

    def __init__(self, shared: Iterable[str], outer: FunctionScope | None = None) -> None:
        """Begin with the names that are *shared*; *outer* is the function around this one."""
        self.outer = outer
        self.uses: dict[str, list[ast.Name]] = {}
        self.bound: dict[str, list[ast.expr]] = {}
        self.foreign = set(shared)

    def note(self, node: ast.AST) -> None:
        """Take in one node of the function."""
        match node:
            case ast.Import(names) | ast.ImportFrom(names=names):
                self.foreign.update(map(imported_name, names))
            case ast.Assign(targets=[ast.Name(name)], value=value):
                self.bound.setdefault(name, []).append(value)
            case ast.Name(name, ast.Store()) | ast.arg(name):
                self.bound.setdefault(name, [])
            case ast.Name(name, ast.Load()):
                self.uses.setdefault(name, []).append(node)
            case _:
                self.foreign.update(names_bound_by(node))

    def hand_out(self) -> None:
        """Give the function around this one the uses of names that this one does not bind."""
        for name in self.uses.keys() - self.bound.keys() - self.foreign if self.outer else ():
            self.outer.uses.setdefault(name, []).extend(self.uses[name])  # type: ignore[union-attr]

    def local_uses(self, leads_on: Callable[[ast.expr], object]) -> Iterator[ast.Name]:
        """Yield where its own names are read that are given no value that `leads_on`."""
        for name in (self.uses.keys() & self.bound.keys()) - self.foreign:
            if not any(map(leads_on, self.bound[name])):
                yield from self.uses[name]


def uses_inside(node: ast.AST) -> set[int]:
    """Return where a comprehension or lambda reads what it binds itself."""
    match node:
        case ast.Lambda(args=args, body=body):
            names = {arg.arg for arg in ast.iter_child_nodes(args) if isinstance(arg, ast.arg)}
            parts: list[ast.AST] = [body]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first, *rest = node.generators
            names = {name for each in node.generators for name in _names_of_target(each.target)}
            elements = [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.comprehension)]
            parts = [*elements, *first.ifs, *rest]  # its first iterable stands outside
        case _:
            return set()
    found = (part for top in parts for part in ast.walk(top))
    return {id(part) for part in found if isinstance(part, ast.Name) and part.id in names}


def _names_of_target(target: ast.expr) -> Iterator[str]:
    """Yield the variables of a loop; in `for x[n] in ...` there is none."""
    match target:
        case ast.Name(name):
            yield name
        case ast.Starred(value=value):
            yield from _names_of_target(value)
        case ast.Tuple(parts) | ast.List(parts):
            for part in parts:
                yield from _names_of_target(part)


def function_scopes(tree: ast.AST) -> list[FunctionScope]:
    """Return the scopes of all functions and lambdas. What comprehensions and classes bind is in none of them."""
    found: list[FunctionScope] = []
    shared = {name for node in nodes_in(tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    waiting: list[tuple[ast.AST, FunctionScope | None, FunctionScope | None]] = [(tree, None, None)]
    while waiting:
        node, scope, outer = waiting.pop()
        if scope:
            scope.note(node)
        inside = {id(part): (scope, outer) for part in ast.iter_child_nodes(node)}
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            found.append(own := FunctionScope(shared, outer))
            inside |= {id(part): (own, own) for part in ([node.body] if isinstance(node, ast.Lambda) else node.body)}
            for arg in ast.iter_child_nodes(node.args):
                if isinstance(arg, ast.arg):
                    own.note(arg)
        if isinstance(node, ast.ClassDef | ast.arguments):
            inside = dict.fromkeys(inside, (None, outer))
        if isinstance(node, ast.comprehension):
            inside[id(node.target)] = None, outer
        waiting += [(part, *inside[id(part)]) for part in ast.iter_child_nodes(node)]
    for each in reversed(found):  # what is inside of another comes after it
        each.hand_out()
    return found


def lists_of_own_names(tree: ast.AST, nodes: Iterable[ast.AST]) -> set[int]:
    """Return where a function lists its own names: `locals` and `vars`, called in one without an argument."""
    names = ("locals", "vars")
    calls = [node for node in nodes if isinstance(node, ast.Call) and not (node.args or node.keywords)]
    bare = {id(node.func) for node in calls if isinstance(node.func, ast.Name) and node.func.id in names}
    scopes = function_scopes(tree) if bare else []  # as in most
    return bare & {id(use) for scope in scopes for name in names for use in scope.uses.get(name, ())}
