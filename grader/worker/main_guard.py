"""What `if __name__ == "__main__":` is, for those who run a source and for those who only read it.

No worker runs what is behind it, whatever a module calls itself: so whoever reads a source need not read it either.
"""

from __future__ import annotations

import ast


def without_main_guard(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements of a module that a worker runs."""
    return [node for node in tree.body if not _is_guard(node)]


def disarm_main_guard(tree: ast.Module) -> bool:
    """Make every guard of a module untrue, in place; return whether there was one. Lines stay what they are."""
    guards = [node for node in tree.body if _is_guard(node)]
    for guard in guards:
        guard.test = ast.copy_location(ast.Constant(False), guard.test)  # type: ignore[attr-defined]
    return bool(guards)


def _is_guard(node: ast.stmt) -> bool:
    """Return True for `if __name__ == "__main__":` at the top level, without an `else`."""
    test = node.test if isinstance(node, ast.If) and not node.orelse else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = [test.left, test.comparators[0]]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    return names == ["__name__"] and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)
