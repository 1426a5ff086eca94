"""Read the functions to write from the syntax tree of an exercise file."""

from __future__ import annotations

import ast
from copy import deepcopy
from pathlib import Path

from grader.errors import CourseError
from grader.files import AUDIT, at, read_file
from grader.model import Function
from grader.source.parse import parse


def read_functions(path: Path) -> tuple[Function, ...]:
    """Return the public functions and classes at the top level of a file, in order.

    A signature is the parameters as written, `(x, dim=-1)`; that of a class is its `__init__`'s, without `self`.
    Raises CourseError if the file cannot be read, is not Python, or has nothing to write.
    """
    try:
        tree = parse(read_file(path))
    except SyntaxError as error:
        what = f"the exercise is not valid Python: {error.msg}"
        raise CourseError(what, where=at(path, error.lineno or 0), next_step=AUDIT) from None
    found = find_functions(tree)
    if not found:
        raise CourseError("the exercise has no function or class to write", where=str(path), next_step=AUDIT)
    return found


def find_functions(tree: ast.Module) -> tuple[Function, ...]:
    """Return the public functions and classes at the top level of a module, in order."""
    written = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return tuple(_function(node) for node in written if not node.name.startswith("_"))


def _function(node: ast.FunctionDef | ast.ClassDef) -> Function:
    if isinstance(node, ast.ClassDef):
        kind, parameters = "class", _constructor(node)
    else:
        kind, parameters = "function", ast.unparse(node.args)
    return Function(node.name, kind, f"({parameters})", ast.get_docstring(node) or "", node.lineno)


def _constructor(node: ast.ClassDef) -> str:
    """Return the parameters of `__init__` without the first; "" if there is no `__init__`."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            parameters = deepcopy(method.args)
            (parameters.posonlyargs or parameters.args).pop(0)
            return ast.unparse(parameters)
    return ""
