"""Parse Python source once, keep the tree, and walk its nodes."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from functools import cache, lru_cache

MAX_CACHED_CHARS = 12 << 10  # a tree takes up to seven hundred times the memory of its text
MAX_TOKENS = 60_000  # of words, numbers and signs; exercises have a few thousand
_TOKEN = re.compile(r"\w+|[^\w\s]")
_LEAVES = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "asname", "level", "module", "kind"})


class TooLarge(SyntaxError):
    """A source has more in it than can be read in a few hundred megabytes."""


class TooDeep(SyntaxError):
    """Nobody can read a source; code of a learner's that raises Python's limit may run it nevertheless."""


def parse(source: str) -> ast.Module:
    """Parse *source* like `ast.parse`, but raise only SyntaxError and print no warnings.

    Trees of recent sources are cached and shared: treat them as read-only.
    """
    return _parse_cached(source) if len(source) <= MAX_CACHED_CHARS else parse_anew(source)


def nodes_in(*roots: ast.AST) -> list[ast.AST]:
    """Return these nodes and all below them, without contexts and operators.

    The order is that of `ast.walk`, at less than half its cost.
    """
    found = list(roots)
    for node in found:  # grows while it is read
        for name in _fields_with_nodes(type(node)):  # type: ignore[arg-type]  # a class is hashable
            value = getattr(node, name)
            if type(value) is list:
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


@cache
def _fields_with_nodes(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in _LEAVES)


def imports_in(source: str) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports that a source holds anywhere; none of one with a syntax error."""
    try:
        nodes = nodes_in(parse(source)) if "import" in source else []
    except SyntaxError:
        return []
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def imported_module(node: ast.Import | ast.ImportFrom) -> str:
    """Return the module out of which names are imported, with the dots of a relative one."""
    return "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else ""


def parse_anew(source: str) -> ast.Module:
    """Parse *source* like `parse`; the tree is the caller's own."""
    if len(source) > MAX_CACHED_CHARS and sum(1 for _ in _TOKEN.finditer(source)) > MAX_TOKENS:
        raise TooLarge("the source is too large to be read")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _parse_anywhere(source)
        except (RecursionError, MemoryError) as error:
            raise TooDeep("the source is nested too deeply") from error
        except ValueError as error:
            raise SyntaxError("the source holds characters that Python source cannot") from error


def _parse_anywhere(source: str) -> ast.Module:
    """Parse what a worker compiles, however many frames are below this one: each takes from the depth of a tree.

    A thread begins without any; a worker has some. What is too deep there as well runs only where a learner raises the
    limit. Raises what Python does.
    """
    try:
        return ast.parse(source)
    except RecursionError:
        made: list[ast.Module | RecursionError] = []
        thread = threading.Thread(target=lambda: made.append(_tree_or_error(source)))
        thread.start()
        thread.join()
        if isinstance(made[0], RecursionError):
            raise made[0] from None
        return made[0]


def _tree_or_error(source: str) -> ast.Module | RecursionError:
    try:
        return ast.parse(source)
    except RecursionError as error:
        return error


_parse_cached = lru_cache(maxsize=16)(parse_anew)
