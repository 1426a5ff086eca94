"""Ways to give a class an attribute that Python itself looks for, by a name that nobody reads.

`__match_args__` takes any attribute of any object, the annotations of a dataclass are code, and a module's `__class__`
makes methods of it. Written plainly each is refused; these are the ways to write it otherwise.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Container, Iterable, Mapping

from grader.source.hiding_names import ALL_NAMES, LOOKUPS, last_name, text_of
from grader.source.parse import nodes_in
from grader.source.scopes import Definition
from grader.worker.watch.rewritten_lookups import FIRST

OF_ANY_CLASS = frozenset({"__name__", "__qualname__", "__module__", "__doc__", "__members__"})
TEST_CASE = "unittest.TestCase"
NAMED_TUPLE = "typing.NamedTuple"
# Of libraries, beside torch.nn's, classes of which no attribute leads to other objects than their own parts. A writer
# of `codecs` hands on what another object has, an error leads to its frames.
BASES = frozenset({
    "abc.ABC", "enum.Enum", "enum.IntEnum", "enum.StrEnum", "torch.utils.data.Dataset",
    "torch.utils.data.IterableDataset", "typing.Generic", NAMED_TUPLE, "typing.Protocol", "typing.TypedDict",
    TEST_CASE,
})  # fmt: skip
# As decorators: they mark a function or class by attributes of these names, and call neither.
MARKS_OF_TESTS = frozenset(f"unittest.{name}" for name in ("expectedFailure", "skip", "skipIf", "skipUnless"))
ITEMS = {"__getitem__": 1, "__delitem__": 1, "__setitem__": 2}  # with how many arguments an object's are called
# Names of Python's own that are read as such; of an object of one's own they would be, too, if that is a module.
NEVER_SET = frozenset({
    "__class__", "__dict__", "__bases__", "__module__",
    "dict", "list", "getattr", "setattr", "delattr", "vars", "locals", "globals",
})  # fmt: skip
METACLASSES = frozenset({"ABCMeta", "EnumMeta", "EnumType", "FunctionMeta"})  # as a call they are what `type` is
ENUMS = frozenset({"Enum", "Flag", "IntEnum", "IntFlag", "ReprEnum", "StrEnum"})
NameOf = Callable[[ast.AST], str]
CLASSES = frozenset(name for name, thing in vars(builtins).items() if isinstance(thing, type))


def makes_attributes(node: ast.AST, name_of: NameOf, classes: Container[str], fine: Container[int]) -> str:
    """Return what in a node makes a class with names that do not stand there.

    Args:
        name_of: Tells what a node names, as its library calls it.
        classes: The learner's own.
        fine: Where an object is given its own dictionary.
    """
    match node:
        case ast.Call(func=ast.Name("type"), args=args) if len(args) != 1 or _is_class(args[0]):
            return "type"
        case ast.Attribute(attr="__class__", value=of) if _is_class(of) or (
            isinstance(of, ast.Name) and of.id in classes
        ):
            return "__class__"
        case ast.Call(args=args, keywords=words):
            called = name_of(node)
            return called if called in METACLASSES or _makes_enum(called, [*args, *words]) else ""
        case ast.ClassDef(bases=bases):
            return "type" if any(last_name(base) == "type" for base in bases) else _lists_its_names(node)
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) if name in NEVER_SET and id(node) not in fine:
            return name
    return ""


def _makes_enum(name: str, given: list[ast.expr | ast.keyword]) -> bool:
    """Return True for `Enum("Words", names)`, unless all names stand there."""
    texts = [text_of(each.value if isinstance(each, ast.keyword) else each) for each in given]
    return name in ENUMS and len(texts) > 1 and None in texts


def _is_class(node: ast.expr) -> bool:
    """Return True for what may be a class, or more than one object: `int`, `type(x)`, `x.__class__`, `*parts`."""
    if isinstance(node, ast.Name):
        return node.id in CLASSES
    return isinstance(node, ast.Starred) or last_name(node) in ("type", "__class__")


def types_in_other_hands(nodes: Collection[ast.AST], name_of: NameOf) -> set[int]:
    """Return where `type` or a class of classes stands by itself, but to be called, tested for, annotated or a kind."""
    names = [node for node in nodes if isinstance(node, ast.Name | ast.Attribute)]
    types = [node for node in names if isinstance(node, ast.Name) and node.id == "type"]
    named = set(map(id, [*types, *(node for node in names if name_of(node) in METACLASSES)]))
    if not named:  # as in most
        return set()
    fine = {id(part) for node in nodes for part in _fine_types(node)}
    compared = {id(part) for node in nodes if isinstance(node, ast.Compare) for part in (node.left, *node.comparators)}
    return named - fine - compared


def _fine_types(node: ast.AST) -> Iterable[ast.AST]:
    """Yield where `type` may stand: where it is called, tested for, or a base or an annotation."""
    match node:
        case ast.Call(func=ast.Name("isinstance" | "issubclass" | "super"), args=args):
            yield from (part for argument in args for part in nodes_in(argument))
        case ast.Call(func=ast.Attribute(value=ast.Name() as name), args=[ast.Name(first), *_]) if first in FIRST:
            yield name
        case ast.Call(func=ast.Name() as func) | ast.Attribute(value=ast.Name() as func, attr="__name__"):
            yield func
        case ast.ClassDef(bases=bases, keywords=words):
            yield from (*bases, *(word.value for word in words))
        case ast.arg(annotation=found) | ast.FunctionDef(returns=found) | ast.AnnAssign(annotation=found) if found:
            yield from nodes_in(found)


def _lists_its_names(definition: ast.ClassDef) -> str:
    """Return `locals` where a class's own statements change its names as a dictionary."""
    calls: list[ast.AST] = []
    waiting: list[ast.AST] = [part for part in definition.body if not isinstance(part, Definition)]
    for node in waiting:  # grows while it is read
        waiting += [part for part in ast.iter_child_nodes(node) if not isinstance(part, Definition | ast.Lambda)]
        calls += [node] if isinstance(node, ast.Call) and not node.args and last_name(node) in ALL_NAMES else []
    return last_name(calls[0]) if calls else ""


def own_dictionaries(nodes: Iterable[ast.AST]) -> set[int]:
    """Return where a dictionary becomes its own object's: `self.__dict__ = self`."""
    found = set()
    for node in nodes:
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(of), attr="__dict__") as target], value=ast.Name(name)
            ):
                found |= {id(target)} if of == name else set()
    return found


def methods_of_containers(nodes: Iterable[ast.AST], bound: Container[str]) -> set[int]:
    """Return where a method of Python's own dictionary stands, which takes such alone, and what a class calls it."""
    found = set()
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name("dict" | "list" as name)) if name not in bound:
                found.add(id(node))
            case ast.ClassDef(body=body):
                assigned = [each for each in body if isinstance(each, ast.Assign) and id(each.value) in found]
                found |= {id(target) for each in assigned for target in each.targets}
    return found


def plain_classes(nodes: Iterable[ast.AST], bound: Mapping[str, int], name_of: NameOf) -> set[str]:
    """Return the classes, bound once, that have no base but such classes and named tuples."""
    plain: set[str] = set()
    for node in nodes:
        if not isinstance(node, ast.ClassDef) or node.keywords or bound[node.name] != 1:
            continue
        others = [base for base in node.bases if name_of(base) != NAMED_TUPLE]
        if all(isinstance(base, ast.Name) and base.id in plain for base in others):
            plain.add(node.name)
    return plain


def items_asked_for(nodes: Iterable[ast.AST]) -> set[int]:
    """Return where a method for items is asked for that may be a class's: such a one takes any object for its own.

    `nn.ParameterDict.__getitem__(thing, name)` looks up a name; who has the class need not say its name.
    """
    found, fine = set(), set()
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr=name) as func, args=args, keywords=[]) if name in ITEMS:
                is_plain = len(args) == ITEMS[name] and not any(isinstance(arg, ast.Starred) for arg in args)
                fine |= {id(func)} if is_plain or last_name(func.value) == "super" else set()
            case ast.Call(func=ast.Name("map" | "filter"), args=[func, _]):
                fine.add(id(func))
            case ast.Call(args=args) if last_name(node) in LOOKUPS and any(text_of(arg) in ITEMS for arg in args):
                found.add(id(node))
            case ast.Attribute(attr=name) if name in ITEMS:
                found.add(id(node))
        if isinstance(node, ast.Call):
            fine |= {id(word.value) for word in node.keywords if word.arg == "key"}
    return found - fine
