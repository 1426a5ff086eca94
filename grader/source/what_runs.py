"""Read of a source only what may run: no tests of its own, and nothing that stands behind a `return` or in a guard.

Code that never runs has a meaning all the same: a `yield` makes a generator of its function, `global` a name that of
the module. Where it has such a word it is read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from grader.source.parse import MAX_CACHED_CHARS, nodes_in, parse, parse_anew
from grader.worker.main_guard import is_guard, without_main_guard

LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
MEANS_ELSEWHERE = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom)
BLOCKS = ("body", "orelse", "finalbody")
PARTS = ("handlers", "cases")


def parse_what_runs(source: str) -> tuple[ast.Module, list[ast.stmt]]:
    """Return the tree of a source without what cannot run, and those of its statements that a worker runs.

    Those of recent sources are cached and shared: treat them as read-only. Raises what `parse` does.
    """
    return (_read_cached if len(source) <= MAX_CACHED_CHARS else _read)(source)


def _read(source: str) -> tuple[ast.Module, list[ast.stmt]]:
    tree = parse(source)
    if not any(_unreached(block) for block in _inner_blocks(tree)):
        return tree, without_main_guard(tree, source)
    tree = parse_anew(source)
    body = without_main_guard(tree, source)  # before anything is cut: a worker decides it on the whole source
    for block in _inner_blocks(tree):
        if unreached := _unreached(block):
            block[:] = [node for node in block if node not in unreached] or [ast.copy_location(ast.Pass(), block[0])]
    return tree, body


_read_cached = lru_cache(maxsize=16)(_read)


def _inner_blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Yield the statements of each block. Those of the module are no block: one that fails may be left out alone."""
    waiting: list[ast.AST] = [*tree.body]
    for node in waiting:  # grows while it is read
        waiting += [part for name in PARTS for part in getattr(node, name, ())]
        for block in filter(None, (getattr(node, name, None) for name in BLOCKS)):
            yield block
            waiting += block


def _unreached(block: list[ast.stmt]) -> set[ast.stmt]:
    """Return the statements of a block that never run, whatever its names mean."""
    ends = next((place for place, node in enumerate(block, 1) if isinstance(node, LEAVING)), len(block))
    found = {*block[ends:], *filter(is_guard, block)}
    return set() if any(isinstance(part, MEANS_ELSEWHERE) for part in nodes_in(*found)) else found
