"""Cut the functions that are wanted, and all that they use, out of a source."""

from __future__ import annotations

import ast
from collections.abc import Collection

from grader.source.parse import parse
from grader.source.scopes import Definition, Import, changed_names, imported_name, module_names, root_name

MAX_IMPORT_COLUMNS = 100
ALWAYS_KEPT = ("pytestmark",)  # pytest reads this name itself


def excerpt(source: str, names: Collection[str], docstring: str) -> str:
    """Return a source with the functions called *names* and every import, constant and helper that they use.

    The docstring is replaced, and comments between definitions are left out: they may speak of what is hidden.
    """
    body = parse(source).body
    bound = [_bound_names(node) for node in body]
    used = _used_names(body, bound, {*names, *ALWAYS_KEPT})
    kept = [node for node, binds in zip(body, bound, strict=True) if binds & used or _is_future(node)]
    pieces = [f'"""{docstring}"""\n']
    before: ast.stmt | None = None
    for node in kept:
        pieces.append("\n" * _blank_lines(before, node) + _statement_text(node, body, source, used))
        before = node
    return "".join(pieces)


# --- what is needed ---------------------------------------------------------------------------------------------------


def _used_names(body: list[ast.stmt], bound: list[set[str]], wanted: set[str]) -> set[str]:
    """Return *wanted* and every name that their definitions use, directly or not."""
    found: set[str] = set()
    waiting = set(wanted)
    while waiting:
        name = waiting.pop()
        found.add(name)
        for node, binds in zip(body, bound, strict=True):
            if name in binds and not isinstance(node, Import):
                waiting |= module_names(node).read - found
    return found


def _bound_names(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds, or whose objects it changes."""
    if isinstance(node, ast.Expr):  # `TABLE.update(...)`
        return {root_name(node.value, through_calls=True)} - {""}
    return {*module_names(node).bound, *changed_names(node)}


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


# --- how it is written ------------------------------------------------------------------------------------------------


def _blank_lines(before: ast.stmt | None, node: ast.stmt) -> int:
    if before is None:
        return 1
    if isinstance(before, Definition) or isinstance(node, Definition):
        return 2
    first = _first_line(node)
    return 0 if first == (before.end_lineno or 0) + 1 else 1


def _first_line(node: ast.stmt) -> int:
    """Return the line of the first decorator, else of the statement."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _statement_text(node: ast.stmt, body: list[ast.stmt], source: str, used: set[str]) -> str:
    if isinstance(node, Import):
        return _import_text(node, used)
    first, last = _first_line(node), node.end_lineno or node.lineno
    if any(other is not node and _first_line(other) <= last and (other.end_lineno or 0) >= first for other in body):
        return ast.unparse(node) + "\n"  # another statement stands on one of its lines
    return "\n".join(source.split("\n")[first - 1 : last]) + "\n"


def _import_text(node: Import, used: set[str]) -> str:
    """Return the import of those names that are used."""
    if _is_future(node):
        return ast.unparse(node) + "\n"
    kept = [alias for alias in node.names if imported_name(alias) in used]
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import(kept)) + "\n"
    line = ast.unparse(ast.ImportFrom(node.module, kept, node.level))
    if len(line) <= MAX_IMPORT_COLUMNS:
        return line + "\n"
    names = "".join(f"    {ast.unparse(alias)},\n" for alias in kept)
    return f"{line.partition(' import ')[0]} import (\n{names})\n"
