"""Ways to give an object of one's own an attribute that Python itself looks for, by a name that nobody reads.

`__match_args__` takes any attribute of any object, the annotations of a dataclass are code, and a module's `__class__`
makes methods of it. Written plainly each is refused; these are the ways to write it otherwise.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from grader.source.hiding_names import ALL_NAMES, LISTS, LOOKUPS, SETTERS, last_name, text_of
from grader.source.parse import nodes_in
from grader.source.scopes import Definition, names_bound_by, uses_inside

OWN = ("self", "cls")
TEST_CASE = "unittest.TestCase"
# Of libraries, beside torch.nn's, classes of which no attribute leads to other objects than their own parts. A writer
# of `codecs` hands on what another object has, an error leads to its frames.
BASES = frozenset({
    "abc.ABC", "enum.Enum", "enum.IntEnum", "enum.StrEnum", "torch.utils.data.Dataset",
    "torch.utils.data.IterableDataset", "typing.Generic", "typing.NamedTuple", "typing.Protocol", "typing.TypedDict",
    TEST_CASE,
})  # fmt: skip
# As decorators: they mark a function or class by attributes of these names, and call neither.
MARKS_OF_TESTS = frozenset(f"unittest.{name}" for name in ("expectedFailure", "skip", "skipIf", "skipUnless"))
Function = ast.FunctionDef | ast.AsyncFunctionDef
OF_NO_OBJECT = frozenset({"classmethod", "staticmethod"})
SHOWING = frozenset({"len", "pprint.pformat", "pprint.pprint", "print", "repr", "str"})
FILLING = frozenset({"setattr", "__setattr__", "__dict__", "vars"})
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Opens = Function | ast.Lambda | ast.ClassDef | Comprehension
ITEMS = {"__getitem__": 1, "__delitem__": 1, "__setitem__": 2}  # with how many arguments an object's are called
METACLASSES = frozenset({"ABCMeta", "EnumMeta", "EnumType", "FunctionMeta"})  # as a call they are what `type` is
ENUMS = frozenset({"Enum", "Flag", "IntEnum", "IntFlag", "ReprEnum", "StrEnum"})
CLASSES = frozenset(name for name, thing in vars(builtins).items() if isinstance(thing, type))


def makes_attributes(node: ast.AST) -> str:
    """Return what in a node makes a class, or takes attributes by their places, with names that do not stand there."""
    match node:
        case ast.Call(func=ast.Name("type"), args=args) if len(args) != 1 or _is_class(args[0]):
            return "type"
        case ast.Call(func=ast.Attribute(attr="__class__", value=of)) if _is_class(of):
            return "__class__"
        case ast.Call(func=made, args=args) if last_name(made) in METACLASSES or _makes_enum(last_name(made), args):
            return last_name(made)
        case ast.ClassDef(bases=bases):
            return "type" if any(last_name(base) == "type" for base in bases) else _lists_its_names(node)
        case ast.Attribute(attr="__class__" | "__dict__" as name, ctx=ast.Store() | ast.Del()):
            return name
        case ast.MatchClass(cls=cls, patterns=[_, *_]) if last_name(cls) not in CLASSES:
            return last_name(cls)
    return ""


def _makes_enum(name: str, args: list[ast.expr]) -> bool:
    """Return True for `Enum("Words", names)`, unless all names stand there."""
    return name in ENUMS and len(args) > 1 and not all(isinstance(text_of(each), str) for each in args)


def _is_class(node: ast.expr) -> bool:
    """Return True for what may be a class, or more than one object: `int`, `type(x)`, `x.__class__`, `*parts`."""
    if isinstance(node, ast.Name):
        return node.id in CLASSES
    return isinstance(node, ast.Starred) or last_name(node) in ("type", "__class__")


def types_in_other_hands(nodes: Collection[ast.AST]) -> set[int]:
    """Return where `type` stands by itself, but to be called, tested for or annotated."""
    named = {id(node) for node in nodes if isinstance(node, ast.Name) and node.id == "type"}
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
        case ast.Call(func=ast.Attribute(value=ast.Name() as name), args=[ast.Name(first), *_]) if first in OWN:
            yield name
        case ast.Call(func=ast.Name() as func) | ast.Attribute(value=ast.Name() as func, attr="__name__"):
            yield func
        case ast.ClassDef(bases=bases):
            yield from bases
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


def begins_with_a_text(name: ast.expr) -> bool:
    """Return True for a name that stands there as far as its beginning: `f"w{i}"`, `"w" + i`; none of Python's own."""
    while isinstance(name, ast.BinOp):
        name = name.left
    begin = name.values[0] if isinstance(name, ast.JoinedStr) and name.values else name
    return (text_of(begin) or "_")[0] != "_"


def listed_names(nodes: Iterable[ast.AST], told: bool = True) -> set[int]:
    """Return where variables are read that are given texts alone that stand there: `for name in ("wq", "wk")`.

    Also those that calls of a function are *told*: `for name in sizes`, of `**sizes`.
    """
    nodes = list(nodes)
    words = named_arguments(nodes) if told else {}
    found = {id(name) for name in _reads(nodes, bound_alone(nodes, _listed(nodes, words)))}
    shared = {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    for function in (node for node in nodes if isinstance(node, Function)):
        inside = nodes_in(function)
        own = [*inside[1:]] if not any(isinstance(part, Opens) for part in inside[1:]) else _own_parts(function)
        listed = _listed([part for part in own if isinstance(part, ast.For)], words)
        found |= {id(name) for name in _reads(inside, bound_alone(inside, listed) - shared)}
    for loop in (node for node in nodes if isinstance(node, Comprehension)):
        inside, within = nodes_in(loop), uses_inside(loop)
        names = bound_alone(inside, _listed(inside, words))
        found |= {id(name) for name in _reads(inside, names) if id(name) in within}
    return found


def _own_parts(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """Return what is in a function, without functions, classes and comprehensions that are in it."""
    found: list[ast.AST] = [part for part in function.body if not isinstance(part, Opens)]
    for node in found:  # grows while it is read
        found += [part for part in ast.iter_child_nodes(node) if not isinstance(part, Opens)]
    return found


def _reads(nodes: Iterable[ast.AST], names: Collection[str]) -> Iterable[ast.Name]:
    return (node for node in nodes if isinstance(node, ast.Name) and node.id in names)


def _listed(nodes: Iterable[ast.AST], words: Mapping[str, list[ast.expr]]) -> Counter[str]:
    """Return how often loops give a variable texts alone that stand there."""
    listed = Counter[str]()
    for node in nodes:
        if isinstance(node, ast.For | ast.comprehension):
            listed.update(_names_of_texts(node.target, _items(node.iter, words)))
    return listed


def bound_alone(nodes: Iterable[ast.AST], counted: Mapping[str, int]) -> set[str]:
    """Return those of the names that are bound as often as was counted, and nowhere else."""
    bound = Counter(
        name for node in nodes if not isinstance(node, Function | ast.alias) for name in names_bound_by(node)
    )
    return {name for name, times in counted.items() if bound[name] == times}


def named_arguments(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    """Return for each `**sizes` the names that it may hold: those that a file's calls give, if they all stand there.

    Of a dictionary that is filled, bound again or in other hands nobody knows.
    """
    nodes = list(nodes)
    named = [word.arg for node in nodes if isinstance(node, ast.Call) for word in node.keywords]
    if None in named:
        return {}
    texts: list[ast.expr] = [ast.Constant(name) for name in named]
    takers = Counter(node.kwarg.arg for node in nodes if isinstance(node, ast.arguments) and node.kwarg)
    fine = {id(name) for node in nodes for name in _only_read(node)}
    filled = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in fine}
    return dict.fromkeys(bound_alone(nodes, takers) - filled, texts)


def relied_on(nodes: Iterable[ast.AST], own: Mapping[int, str], known_name: Callable[[ast.AST], str]) -> set[str]:
    """Return the classes of whose objects, where they stand in *own*, all that they have is used."""
    found = set()
    for node in nodes:
        match node:
            case ast.Call(args=[thing, *_]) if known_name(node) in LOOKUPS | SETTERS | LISTS:
                found |= {own.get(id(part), "") for part in nodes_in(thing)}
            case ast.Attribute(attr="__dict__" | "__setattr__" | "__delattr__", value=thing):
                found |= {own.get(id(part), "") for part in nodes_in(thing)}
    return found - {""}


def methods_of(nodes: Iterable[ast.AST]) -> Iterable[str]:
    """Yield the names of all methods, but of those that have the class, or nothing, for their object."""
    for method in (part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body):
        if isinstance(method, Function) and not {last_name(each) for each in method.decorator_list} & OF_NO_OBJECT:
            yield method.name


def fills_by_arguments(nodes: Iterable[ast.AST]) -> bool:
    """Return True where an object's attributes may have the names of its arguments, all of which a file gives."""
    nodes = list(nodes)
    return bool(named_arguments(nodes)) and any(last_name(node) in FILLING for node in nodes)


def gives_any_arguments(nodes: Iterable[ast.AST]) -> bool:
    """Return True for a call with arguments whose names do not stand there: `f(**options)`."""
    return any(isinstance(node, ast.Call) and any(word.arg is None for word in node.keywords) for node in nodes)


def _only_read(node: ast.AST) -> Iterable[ast.AST]:
    """Yield where a dictionary's names are read, or taken over: `kwargs.items()`, `self.__dict__.update(kwargs)`."""
    match node:
        case ast.Attribute(value=ast.Name() as name, attr="get" | "items" | "keys" | "pop" | "values"):
            yield name
        case (
            ast.Subscript(value=ast.Name() as name, ctx=ast.Load())
            | ast.Call(func=ast.Name("len" | "list" | "sorted"), args=[ast.Name() as name])
        ):
            yield name
        case ast.Call(func=ast.Attribute(value=holder, attr="update"), args=[ast.Name() as name]):
            yield from [name] if last_name(holder) in ("__dict__", "vars") else []
        case ast.Compare(comparators=[ast.Name() as name], ops=[ast.In() | ast.NotIn()]):
            yield name


def told_texts(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the parameters for which a file's own calls give texts alone that stand there: `self.part("wq")`."""
    nodes = list(nodes)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    used = Counter(last_name(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute))
    told: dict[str, bool] = {}
    for function in (node for node in nodes if isinstance(node, Function)):
        own = [call for call in calls if last_name(call.func) == function.name]
        is_plain = len(own) == used[function.name] > 0  # in no other hands
        behind = first_of(function.args) in OWN
        for place, arg in enumerate((*function.args.posonlyargs, *function.args.args)):
            given = [_given(call, place - behind, arg.arg) for call in own]
            told[arg.arg] = told.get(arg.arg, True) and is_plain and all(map(_is_plain_text, given))
    bound = {name for node in nodes if not isinstance(node, ast.arg) for name in names_bound_by(node)}
    return {name for name, is_told in told.items() if is_told} - bound


def first_of(arguments: ast.arguments) -> str:
    return next((arg.arg for arg in (*arguments.posonlyargs, *arguments.args)), "")


def _given(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """Return what a call gives for a parameter; None where that is not to be read."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(word.arg is None for word in call.keywords):
        return None
    named = [word.value for word in call.keywords if word.arg == name]
    return [*named, *call.args[place : place + 1], None][0] if place >= 0 else None


def _is_plain_text(node: ast.expr | None) -> bool:
    return node is not None and bool(text_of(node)) and begins_with_a_text(node)


def _items(listed: ast.expr, words: Mapping[str, list[ast.expr]]) -> list[ast.expr]:
    match listed:
        case ast.Name(name):
            return words.get(name, [])
        case ast.Call(func=ast.Attribute(value=ast.Name(name), attr="items" | "keys" as pairs), args=[]):
            return [ast.Tuple([text]) if pairs == "items" else text for text in words.get(name, [])]
        case ast.Tuple(items) | ast.List(items) | ast.Set(items) | ast.Dict(items):
            return [item or ast.Constant(None) for item in items]  # `**more`, of which nobody knows
        case ast.Call(func=ast.Attribute(value=ast.Dict(keys), attr="items" | "keys")):
            return [ast.Tuple([key]) if listed.func.attr == "items" and key else key for key in keys]  # type: ignore
        case ast.Call(func=ast.Attribute(value=ast.Constant(str(text)), attr="split"), args=[]):
            return [ast.Constant(word) for word in text.split()]
    return []


def _names_of_texts(target: ast.expr, items: list[ast.expr]) -> Iterable[str]:
    """Yield a loop's variables that are given texts alone, of which none begins as Python's own names do."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    for place, part in enumerate(parts):
        given = [_part_of(item, place) if isinstance(target, ast.Tuple) else item for item in items]
        if (
            given
            and isinstance(part, ast.Name)
            and all(each is not None and begins_with_a_text(each) for each in given)
        ):
            yield part.id


def _part_of(item: ast.expr, place: int) -> ast.expr | None:
    parts = item.elts if isinstance(item, ast.Tuple | ast.List) else []
    return parts[place] if place < len(parts) else None


def fills_its_names(node: ast.AST, updates: Collection[int] = (), listed: Collection[int] = ()) -> bool:
    """Return True for `x.__dict__.update(...)`, and for `x.__dict__[n] = v` where *n* does not stand there."""
    match node:
        case ast.Attribute(value=holder, attr="update" | "setdefault" | "__setitem__" | "__ior__"):
            return last_name(holder) in ("__dict__", "vars") and id(node) not in updates
        case ast.Subscript(value=holder, slice=key, ctx=ast.Store()):
            is_told = begins_with_a_text(key) or id(key) in listed
            return last_name(holder) in ("__dict__", "vars") and not is_told
        case ast.AugAssign(target=ast.Attribute(attr="__dict__")):
            return True
    return False


def plain_updates(nodes: Iterable[ast.AST]) -> set[int]:
    """Return where `x.__dict__.update` is called with names alone that stand there, none of Python's own."""
    nodes = list(nodes)
    words, found = named_arguments(nodes), set()
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr="update") as func, args=args, keywords=named):
                given = [*_items(args[0], words)] if len(args) == 1 else []
                given += [ast.Constant(word.arg) for word in named]
                is_read = not args or (len(args) == 1 and isinstance(args[0], ast.Name | ast.Dict) and bool(given))
                if is_read and all(map(begins_with_a_text, given)):
                    found.add(id(func))
    return found


def whole(thing: ast.expr) -> ast.expr:
    """Return what a thing is a part of: of `block.attn` that is `block`."""
    while isinstance(thing, ast.Attribute) and not thing.attr.startswith("__"):  # its class is no part of it
        thing = thing.value
    return thing


def is_class_of_layers(path: str) -> bool:
    """Return True for the dotted name of a class of torch.nn whose objects have their own parts alone."""
    name = path.rpartition(".")[2]
    return path.startswith("torch.nn.") and name[:1].isupper() and not name.endswith(("Parameter", "Buffer"))


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


def only_shown(nodes: Iterable[ast.AST], path_of: Callable[[ast.AST], str]) -> set[int]:
    """Return what nothing is done with but to write it as a text: `f"{vars(self)}"`, `print(self.__dict__)`.

    Also all that an object has, one after the other: `", ".join(f"{k}={v}" for k, v in vars(self).items())`.
    """
    found = set()
    for node in nodes:
        match node:
            case ast.FormattedValue(value=shown, format_spec=None):
                found.add(id(shown))
            case ast.Call(func=func, args=[shown], keywords=[]) if path_of(func) in SHOWING:
                found.add(id(shown))
            case ast.ListComp(generators=[loop]) | ast.GeneratorExp(generators=[loop]) if _shows_items(node, loop):
                found.add(id(loop.iter.func.value))  # type: ignore[attr-defined]
    return found


def _shows_items(listed: ast.ListComp | ast.GeneratorExp, loop: ast.comprehension) -> bool:
    """Return True where names and values are written as texts alone; a name may be asked how it begins."""
    match loop:
        case ast.comprehension(
            target=ast.Tuple([ast.Name(key), ast.Name(value)]),
            iter=ast.Call(func=ast.Attribute(attr="items"), args=[], keywords=[]),
        ):
            inside = nodes_in(listed.elt, *loop.ifs)
            written = {id(part.value) for part in inside if isinstance(part, ast.FormattedValue)}
            asked = {id(part.value) for part in inside if isinstance(part, ast.Attribute) and part.attr == "startswith"}
            uses = (part for part in inside if isinstance(part, ast.Name) and part.id in (key, value))
            return all(id(use) in written or (use.id == key and id(use) in asked) for use in uses)
    return False
