"""An exercise's stub file: what there is to write, read from its syntax tree. Nothing in it is run."""

from __future__ import annotations

import ast
import warnings
from copy import deepcopy
from functools import cache, lru_cache
from pathlib import Path

from grader.errors import CourseError
from grader.files import AUDIT, at, read_file
from grader.model import Function

_LEAVES = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "asname", "level", "module", "kind"})
LONGEST_KEPT = 64 << 10  # characters: the tree of a source takes a hundred times the room of its text


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

    A source is often read for several reasons in turn: the tree may be another reader's too, and nobody changes it.
    Raises SyntaxError alone. Too deep a nesting and lone surrogates make `ast.parse` raise other errors.
    """
    return _parsed_lately(source) if len(source) <= LONGEST_KEPT else _parsed(source)


def nodes_in(*roots: ast.AST) -> list[ast.AST]:
    """These nodes and all below them but contexts and operators: what `ast.walk` gives, in less than half the time."""
    found = list(roots)
    for node in found:  # which grows meanwhile
        for name in _inner(type(node)):  # type: ignore[arg-type]  # a class is hashable, its protocol says otherwise
            value = getattr(node, name)
            if type(value) is list:
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


@cache
def _inner(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node in which other nodes may be."""
    return tuple(name for name in kind._fields if name not in _LEAVES)


@lru_cache(maxsize=16)
def _parsed_lately(source: str) -> ast.Module:
    return _parsed(source)


def _parsed(source: str) -> ast.Module:
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
            parameters = deepcopy(method.args)
            (parameters.posonlyargs or parameters.args).pop(0)
            return ast.unparse(parameters)
    return ""
