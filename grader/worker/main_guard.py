"""What runs only where a file is started by itself, for those who run a source and for those who only read it.

That is `if __name__ == "__main__":`, and a statement that runs the file's own tests: `doctest.testmod()`,
`unittest.main()`. No worker runs these, whatever a module calls itself: so whoever reads a source need not read them.
"""

from __future__ import annotations

import ast

TEST_RUNS = frozenset({
    "doctest.testmod", "doctest.testfile", "doctest.run_docstring_examples", "testmod", "run_docstring_examples",
    "unittest.main",
})  # fmt: skip
MARKS = ("__name__", "doctest", "unittest")


def may_have_main_guard(source: str) -> bool:
    """Return False for a source that surely has nothing to leave out, without parsing it."""
    return not source.isascii() or any(mark in source for mark in MARKS)  # other characters may be other ways to write


def without_main_guard(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements of a module that a worker runs."""
    return [node for node in tree.body if not (_is_guard(node) or _runs_tests(node))]


def disarm_main_guard(tree: ast.Module) -> bool:
    """Have what a worker does not run do nothing, in place; return whether there was any. Lines stay what they are."""
    found = False
    for node in tree.body:
        if isinstance(node, ast.If) and _is_guard(node):
            node.test = ast.copy_location(ast.Constant(False), node.test)
        elif isinstance(node, ast.Expr) and _runs_tests(node):
            node.value = ast.copy_location(ast.Constant(None), node.value)
        else:
            continue
        found = True
    return found


def _runs_tests(node: ast.stmt) -> bool:
    """Return True for an expression by itself in which tests are run: `print(doctest.testmod())`."""
    if not isinstance(node, ast.Expr):
        return False
    return any(isinstance(part, ast.Call) and _plain_name(part.func) in TEST_RUNS for part in ast.walk(node))


def _plain_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _is_guard(node: ast.stmt) -> bool:
    """Return True for `if __name__ == "__main__":` at the top level, without an `else`."""
    test = node.test if isinstance(node, ast.If) and not node.orelse else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = [test.left, test.comparators[0]]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    return names == ["__name__"] and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)
