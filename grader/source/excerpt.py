"""The part of a file of checks that its public checks need: their own text and what it uses, and nothing beside."""

from __future__ import annotations

import ast
from collections.abc import Collection

from grader.source.parse import parse
from grader.source.scopes import Definition, Import, changed_names, imported_name, module_names, root_name

WIDEST = 100  # columns of an import
KEPT_ALWAYS = ("pytestmark",)  # pytest reads this name itself


def excerpt(source: str, names: Collection[str], docstring: str) -> str:
    """The text of a file that has the functions called `names` as they stand in `source`, with every import, constant
    and helper that they use, directly or not. Its own docstring is `docstring`: the old one speaks of what is hidden.

    Comments between the definitions are left out for the same reason.
    """
    body = parse(source).body
    used = _used(body, {*names, *KEPT_ALWAYS})
    kept = [node for node in body if _is_kept(node, used)]
    pieces = [f'"""{docstring}"""\n']
    before: ast.stmt | None = None
    for node in kept:
        pieces.append("\n" * _blank_lines(before, node) + _text(node, body, source, used))
        before = node
    return "".join(pieces)


# --- what is needed ---------------------------------------------------------------------------------------------------


def _used(body: list[ast.stmt], wanted: set[str]) -> set[str]:
    """Every name that is needed for `wanted`: what their definitions use, what those use, and so on."""
    found: set[str] = set()
    coming = set(wanted)
    while coming:
        name = coming.pop()
        found.add(name)
        for node in body:
            if name in _bound(node) and not isinstance(node, Import):
                coming |= module_names(node).read - found
    return found


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement at the top level of a file defines, or of which it changes what they hold."""
    if isinstance(node, ast.Expr):  # `TABLE.update(...)`
        return {root_name(node.value, through_calls=True)} - {""}
    return {*module_names(node).bound, *changed_names(node)}


def _is_kept(node: ast.stmt, used: set[str]) -> bool:
    return bool(_bound(node) & used) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


# --- how it is written ------------------------------------------------------------------------------------------------


def _blank_lines(before: ast.stmt | None, node: ast.stmt) -> int:
    if before is None:
        return 1
    if isinstance(before, Definition) or isinstance(node, Definition):
        return 2
    first = _first_line(node)
    return 0 if first == (before.end_lineno or 0) + 1 else 1


def _first_line(node: ast.stmt) -> int:
    """The line of its first decorator, if it has any."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _text(node: ast.stmt, body: list[ast.stmt], source: str, used: set[str]) -> str:
    if isinstance(node, Import):
        return _import_of(node, used)
    first, last = _first_line(node), node.end_lineno or node.lineno
    if any(other is not node and _first_line(other) <= last and (other.end_lineno or 0) >= first for other in body):
        return ast.unparse(node) + "\n"  # another statement stands on one of its lines
    return "\n".join(source.split("\n")[first - 1 : last]) + "\n"


def _import_of(node: Import, used: set[str]) -> str:
    """The import, of the names that are used only."""
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return ast.unparse(node) + "\n"
    kept = [alias for alias in node.names if imported_name(alias) in used]
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import(kept)) + "\n"
    line = ast.unparse(ast.ImportFrom(node.module, kept, node.level))
    if len(line) <= WIDEST:
        return line + "\n"
    names = "".join(f"    {ast.unparse(alias)},\n" for alias in kept)
    return f"{line.partition(' import ')[0]} import (\n{names})\n"
