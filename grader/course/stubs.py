"""An exercise's stub file: what there is to write, read from its syntax tree. Nothing in it is run."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from grader.course.files import AUDIT, at, read_file
from grader.errors import CourseError
from grader.model import Function


def read_functions(path: Path) -> tuple[Function, ...]:
    """The public functions and classes at the top level of a file, in its order.

    A signature is the parameters as written, `(x, dim=-1)`; a class has those of its `__init__`, without `self`.
    Raises CourseError if the file cannot be read, is not Python, or has nothing to write.
    """
    try:
        tree = parse(read_file(path))
    except SyntaxError as error:
        what = f"the exercise is not valid Python: {error.msg}"
        raise CourseError(what, where=at(path, error.lineno or 0), next_step=AUDIT) from None
    written = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    found = tuple(_function(node) for node in written if not node.name.startswith("_"))
    if not found:
        raise CourseError("the exercise has no function or class to write", where=str(path), next_step=AUDIT)
    return found


def parse(source: str) -> ast.Module:
    """`ast.parse` without the compiler's warnings on our standard error: they belong to the source's author.

    Raises SyntaxError alone. Too deep a nesting and lone surrogates make `ast.parse` raise other errors.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (RecursionError, MemoryError) as error:
            raise SyntaxError("the source is nested too deeply") from error
        except ValueError as error:
            raise SyntaxError("the source holds characters that Python source cannot") from error


def _function(node: ast.FunctionDef | ast.ClassDef) -> Function:
    if isinstance(node, ast.ClassDef):
        kind, parameters = "class", _constructor(node)
    else:
        kind, parameters = "function", ast.unparse(node.args)
    return Function(node.name, kind, f"({parameters})", ast.get_docstring(node) or "", node.lineno)


def _constructor(node: ast.ClassDef) -> str:
    """The parameters of a class's `__init__` without its first one; none where it has no `__init__`."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            (method.args.posonlyargs or method.args.args).pop(0)
            return ast.unparse(method.args)
    return ""
