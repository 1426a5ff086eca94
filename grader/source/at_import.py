"""Which parts of a top-level statement run, or may be run by what gets hold of them, when the module is imported.

Of a definition that is its head: decorators, defaults, annotations, bases. Its body too, where the head, or what else
is in a class, hands it to code of the learner's, or to code that nobody knows here: a decorator may call what it gets,
a base may call the methods of a class that is derived from it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Iterable, Iterator

from grader.source.hiding_names import LIBRARIES
from grader.source.parse import nodes_in
from grader.source.scopes import Definition, names_bound_by, root_name

# fmt: off
# Decorators that run nothing of what they get, and bases whose classes run none of their methods when they are made.
DECORATORS = frozenset({
    "staticmethod", "classmethod", "property", "functools.cache", "functools.lru_cache", "functools.cached_property",
    "functools.total_ordering", "functools.wraps", "dataclasses.dataclass", "abc.abstractmethod",
    "contextlib.contextmanager", "typing.final", "typing.overload", "typing.override", "torch.no_grad",
    "torch.inference_mode", "torch.enable_grad",
})
BASES = frozenset({
    "abc.ABC", "abc.ABCMeta", "collections.OrderedDict", "collections.UserDict", "collections.UserList",
    "typing.Generic", "typing.NamedTuple", "typing.Protocol", "typing.TypedDict", "threading.Thread",
    "json.JSONEncoder", "unittest.TestCase",
})
# fmt: on
ANNOTATED = {ast.arg: "annotation", ast.FunctionDef: "returns", ast.AsyncFunctionDef: "returns"}
HINT = (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.BitOr, ast.Constant, ast.Tuple, ast.List, ast.Load)
PROPERTY_PARTS = frozenset({"setter", "getter", "deleter"})

# the dotted name of what is Python's or a library's; "" for what may be the learner's
Naming = Callable[[ast.AST], str]


def parts_run_at_import(statement: ast.stmt, name_of: Naming, methods: Collection[str] = ()) -> Iterator[ast.AST]:
    """Yield the parts of a statement that run when its module is imported; *methods* are those beside it in a class."""
    if not isinstance(statement, Definition):
        yield statement
        return
    is_known = all(_is_harmless_decorator(part, name_of, methods) for part in statement.decorator_list)
    if not is_known or (isinstance(statement, ast.ClassDef) and not _is_plain(statement, name_of)):
        yield statement
        return
    yield from head_of(statement)
    if isinstance(statement, ast.ClassDef):
        inner = _Inside(statement, name_of)
        for part in statement.body:
            yield from parts_run_at_import(part, inner.name_of, inner.methods)


def head_of(definition: Definition) -> Iterator[ast.expr]:
    """Yield the expressions of a definition that run when it is made: all but its body."""
    waiting = [child for name, child in _children(definition) if name != "body"]
    for part in waiting:  # grows while it is read
        if isinstance(part, ast.expr):
            yield part
        else:
            waiting += [child for _, child in _children(part)]


def plain_annotations(tree: ast.Module, nodes: Iterable[ast.AST]) -> set[int]:
    """Return annotations of functions that run nothing, whatever they name: a name by itself, a text.

    None runs anything where all of them are texts.
    """
    are_texts = any(
        isinstance(part, ast.ImportFrom) and part.module == "__future__" and alias.name == "annotations"
        for part in tree.body
        for alias in getattr(part, "names", ())
    )
    return {id(each) for each in _annotations(nodes) if are_texts or isinstance(each, ast.Name | ast.Constant)}


def hints(nodes: Iterable[ast.AST], name_of: Naming) -> set[int]:
    """Return what stands in annotations of functions that name kinds of Python's and of libraries alone.

    They are made, and nothing gets hold of them: `generator: torch.Generator | None = None`.
    """
    found = set()
    for annotation in _annotations(nodes):
        parts = nodes_in(annotation)
        if all(isinstance(part, HINT) and (not isinstance(part, ast.Name) or name_of(part)) for part in parts):
            found |= {
                id(part) for part in parts if not (isinstance(part, ast.Constant) and isinstance(part.value, str))
            }
    return found


def _annotations(nodes: Iterable[ast.AST]) -> list[ast.expr]:
    found = (getattr(node, field) for node in nodes if (field := ANNOTATED.get(type(node))))
    return [each for each in found if each]


def _children(node: ast.AST) -> list[tuple[str, ast.AST]]:
    found = []
    for name, value in ast.iter_fields(node):
        found += [(name, each) for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST)]
    return found


class _Inside:
    """The names that a class binds for its own statements."""

    def __init__(self, definition: ast.ClassDef, name_of: Naming) -> None:
        self.methods = frozenset(part.name for part in definition.body if isinstance(part, Definition))
        self.statements = [part for part in definition.body if not isinstance(part, Definition)]
        self.bound = self.methods.union(*(names_bound_by(node) for node in nodes_in(*self.statements)))
        self._name_of = name_of

    def name_of(self, node: ast.AST) -> str:
        return "" if isinstance(node, ast.expr) and root_name(node) in self.bound else self._name_of(node)


def _is_plain(definition: ast.ClassDef, name_of: Naming) -> bool:
    """Return True for a class of which nothing gets hold while it is made."""
    inner = _Inside(definition, name_of)
    if not all(_is_harmless_base(base, name_of) for base in definition.bases):
        return False
    for keyword in definition.keywords:
        if not isinstance(keyword.value, ast.Constant) and name_of(keyword.value) != "abc.ABCMeta":
            return False
    if not all(inner.name_of(node) for node in nodes_in(*inner.statements) if _is_read(node)):
        return False
    heads = [part for each in definition.body if isinstance(each, Definition) for part in _unmarked_head(each)]
    return not any(_is_read(node) and node.id in inner.bound for node in nodes_in(*heads))  # type: ignore[attr-defined]


def _unmarked_head(definition: Definition) -> Iterator[ast.expr]:
    """Yield the head of a method without `x.setter`, which is looked at by itself."""
    for part in head_of(definition):
        if not (isinstance(part, ast.Attribute) and part.attr in PROPERTY_PARTS and isinstance(part.value, ast.Name)):
            yield part


def _is_harmless_decorator(node: ast.expr, name_of: Naming, methods: Collection[str]) -> bool:
    if isinstance(node, ast.Attribute) and node.attr in PROPERTY_PARTS:  # of a property: no other method has such parts
        return isinstance(node.value, ast.Name) and node.value.id in methods
    return name_of(node.func if isinstance(node, ast.Call) else node) in DECORATORS


def _is_harmless_base(node: ast.expr, name_of: Naming) -> bool:
    name = name_of(node.value if isinstance(node, ast.Subscript) else node)
    return name in BASES or name.partition(".")[0] in LIBRARIES or isinstance(getattr(builtins, name, None), type)


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
