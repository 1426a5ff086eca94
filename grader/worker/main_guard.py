"""What runs only where a file is started by itself, for those who run a source and for those who only read it.

That is `if __name__ == "__main__":`, and what runs the file's own tests: `doctest.testmod()`, `unittest.main()`. No
worker runs these, whatever a module calls itself: so whoever reads a source need not read them.
"""

from __future__ import annotations

import ast

from grader.worker.own_tests import TEST_RUNNERS, statements_that_test

MARKS = ("__name__", *TEST_RUNNERS)


def may_have_main_guard(source: str) -> bool:
    """Return False for a source that surely has nothing to leave out, without parsing it."""
    return not source.isascii() or any(mark in source for mark in MARKS)  # other characters may be other ways to write


def is_guard(node: ast.stmt) -> bool:
    """Return True for `if __name__ == "__main__":` without an `else`."""
    test = node.test if isinstance(node, ast.If) and not node.orelse else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = [test.left, test.comparators[0]]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    return names == ["__name__"] and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


def without_main_guard(tree: ast.Module, source: str) -> list[ast.stmt]:
    """Return the statements of a module that a worker runs."""
    left_out = _left_out(tree, source)
    return [node for node in tree.body if node not in left_out]


def disarm_main_guard(tree: ast.Module, source: str) -> bool:
    """Have what a worker does not run do nothing, in place; return whether there was any. Lines stay what they are."""
    if not may_have_main_guard(source):
        return False
    left_out = _left_out(tree, source)
    guards = {node for node in ast.walk(tree) if isinstance(node, ast.If) and is_guard(node)}
    for guard in guards:  # what is wrong in it is still no Python, and a name that it binds is local
        guard.test = ast.copy_location(ast.Constant(False), guard.test)
    for place, node in enumerate(tree.body):
        if node in left_out and node not in guards:
            tree.body[place] = ast.copy_location(ast.Pass(), node)
    return bool(left_out | guards)


def _left_out(tree: ast.Module, source: str) -> set[ast.stmt]:
    """Return the guards, and the statements that run the file's own tests."""
    if not may_have_main_guard(source):  # else each reader of a source would walk all of it
        return set()
    guards = {node for node in tree.body if is_guard(node)}
    return guards | statements_that_test(tree.body, guards)
