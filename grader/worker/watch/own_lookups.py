"""Let code look up names that stand nowhere in the source in what is the learner's own, and know there what it is.

`vars(x)`, `x.__dict__` and `getattr(x, n)` lead from a class of Python's to any function. Whoever reads the source does
not know what x is and n will be; here both are known. So a watched module has these functions in the place of Python's:
what an object of the learner's own class has is theirs to look up, and of any other what a reader would let pass.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

from grader.worker.watch.call_monitor import SEALED, ForbiddenCall, matches
from grader.worker.watch.cut_off import cut_off
from grader.worker.watch.hiding_words import DICT, HIDING_ATTRIBUTES, METHODS, OF_ANY_NAME, is_hiding

# a learner may put others in their places
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
LOOKUPS = frozenset({"getattr", "hasattr", "setattr", "delattr"})
FIRST = frozenset({"self", "cls"})
# What stands in a source that looks something up, by a function, in a dictionary, with arguments by names, or by a
# method that is told its object.
WORDS = ("vars", "attr", DICT)
ARGUMENTS = re.compile(r"(?:^|[^\w)\]}\"' \t])[ \t]*\*\*", re.MULTILINE)  # no power: that has something before it
PARAMETER = re.compile(r"\bdef\s+\w+\s*\(\s*(?:self|cls)\b")
OF_FIRST = re.compile(r"\b(?:self|cls)\b(?!-\w)(?:\s*\.\s*(\w+))?")
FIELDS = "__dataclass_fields__"
ASKED = frozenset({"__getattr__", "__getattribute__"})
GETTING, SETTING = "builtins.getattr", "builtins.setattr"
BUILD, OF_OBJECT = vars(builtins)["__build_class__"], object.__getattribute__
BASES_OF, MRO_OF, NAMES_OF = (vars(type)[name].__get__ for name in ("__bases__", "__mro__", DICT))
SELF_OF = vars(super)["__self__"].__get__


def may_look_up(source: str) -> bool:
    """Return False for a source that surely looks nothing up, without parsing it."""
    if not source.isascii():
        source = unicodedata.normalize("NFKC", source)  # as Python reads identifiers
    if any(word in source for word in WORDS) or ARGUMENTS.search(source):
        return True
    attributes = OF_FIRST.findall(PARAMETER.sub("", source))  # "" where the object itself stands
    return not HIDING_ATTRIBUTES.isdisjoint(attributes) or "" in attributes


class OwnLookups:
    """What the modules of one load have in the place of Python's own lookups.

    Args:
        forbids: What the lesson forbids.
        seen: Takes the entry of *forbids* that is looked up.

    Attributes:
        doors: Takes the name of what is refused because a forbidden call could be hidden behind it.
    """

    def __init__(self, forbids: tuple[str, ...], seen: list[str], doors: list[str]) -> None:
        self._forbids, self._seen, self.doors = forbids, seen, doors
        self._named = set[str]()  # what stands in a source as the name of a lookup: whoever reads that has seen it
        self._suffix = os.urandom(8).hex()  # no source can name what has it
        self._own: dict[int, type] = {}  # the classes that the learner's statements made
        torch = sys.modules.get("torch")
        self._layer = torch.nn.Module if torch else None

    def prepare(self, namespace: dict[str, Any]) -> None:
        """Give a module the functions, before it runs."""
        by_name: dict[str, Any] = {
            "getattr": self._get,
            "setattr": self._set,
            "delattr": self._delete,
            "__build_class__": self._build,
        }
        hidden = {"vars": self._choose_vars, "names": self._names, "method": self._method, "door": self._door}
        hidden |= {"own": self._of_own, "arguments": self._arguments}
        given = by_name | {self._hidden(name): function for name, function in hidden.items()}
        namespace["__builtins__"] = vars(builtins) | {name: _seal(function) for name, function in given.items()}

    def rewrite(self, tree: ast.Module) -> None:
        """Let a module's tree use them, in its place."""
        rewriter = _Rewriter(self._hidden)
        rewriter.rewrite(tree)
        self._named |= rewriter.named

    def _hidden(self, name: str) -> str:
        return f"{name} {self._suffix}"

    def _refuse(self, name: str) -> NoReturn:
        self.doors.append(name)
        raise ForbiddenCall(name)

    def _build(self, body: Any, name: str, /, *bases: Any, **keywords: Any) -> Any:
        """Carry out a class statement, and note the class, unless a metaclass gave something else in its place."""
        made = BUILD(body, name, *bases, **keywords)
        kinds = [keywords.get("metaclass", type), *(type(base) for base in bases if _is_a(type(base), type))]
        is_new = all(_is_a(type(kind), type) and _is_a(type(made), kind) for kind in kinds)
        is_plain = not any(self._is_own(type(base)) and not _is_a(type(base), type) for base in bases)
        if is_new and is_plain and BASES_OF(made):
            self._own[id(made)] = made
        return made

    def _is_own(self, kind: type) -> bool:
        """Return True for a class of the learner's, one that is derived from it, or its copy that has slots."""
        if any(id(each) in self._own for each in MRO_OF(kind)):
            return True
        fields = NAMES_OF(kind).get(FIELDS)
        return fields is not None and any(NAMES_OF(each).get(FIELDS) is fields for each in self._own.values())

    def _is_ones_own(self, thing: Any) -> bool:
        """Return True for an object of the learner's classes, and for these."""
        kind = type(thing)
        return self._is_own(thing) if _is_a(kind, type) else self._is_own(kind)

    def _may_get(self, thing: Any, name: Any) -> None:
        """Raise ForbiddenCall where a name that is looked up leads to what nobody has read."""
        if type(name) is not str:
            return self._refuse(GETTING) if _is_a(type(name), str) else None  # else Python says what is wrong
        if is_hiding(name):
            self._refuse(f"object.{name}")
        kind = type(thing)
        is_class = _is_a(kind, type)
        line = (*MRO_OF(thing), *MRO_OF(kind)) if is_class else MRO_OF(kind)
        holder = next((each for each in line if name in NAMES_OF(each)), None)
        in_itself = not is_class and name in _dict_of(thing)
        if self._is_own(kind if in_itself or holder is None else holder):
            return None
        if not in_itself and holder is None and not self._gives_any_name(line):
            return None  # there is no such thing
        if name in HIDING_ATTRIBUTES:
            self._refuse(f"object.{name}")
        if entry := matches(name, self._forbids):
            self._seen.append(entry)
            raise ForbiddenCall(entry)
        is_shut = name[:1] == "_" or (is_class and not self._is_own(thing))
        is_shut = is_shut or (_is_a(kind, ModuleType) and not self._gives(thing, name))
        return self._refuse(GETTING) if is_shut and name not in self._named else None

    def _gives(self, module: ModuleType, name: str) -> bool:
        """Return True for a function or a layer of a module that has no other, or for a type of numbers of torch's."""
        path = next((path for path in OF_ANY_NAME if sys.modules.get(path) is module), "")
        found = _dict_of(module).get(name) if path else None
        if path == "torch":
            return type(found) is type(module.float32)
        if path == "torch.nn":
            return _is_a(type(found), type) and self._layer in MRO_OF(found)
        return type(found) is type(len) or (type(found) is FunctionType and found.__module__ == path)

    def _gives_any_name(self, line: Iterable[type]) -> bool:
        """Return True where a class of a library gives what it has not, but for layers, which give their parts."""
        asked = [each for each in line if ASKED & NAMES_OF(each).keys() and each is not object and each is not type]
        return any(each is not self._layer and not self._is_own(each) for each in asked)

    def _may_set(self, thing: Any, name: Any) -> None:
        if type(name) is not str:
            return self._refuse(SETTING) if _is_a(type(name), str) else None
        kind = type(thing)
        is_shut = name[:2] == "__" or _is_a(kind, ModuleType) or (_is_a(kind, type) and not self._is_own(thing))
        return self._refuse(SETTING) if is_hiding(name) or (is_shut and name not in self._named) else None

    def _get(self, thing: Any, name: Any, *default: Any) -> Any:
        """As `getattr`."""
        if type(name) is str and name == DICT:
            try:
                return self._names(thing)
            except AttributeError:
                if default:
                    return default[0]
                raise
        self._may_get(thing, name)
        return getattr(thing, name, *default)

    def _set(self, thing: Any, name: Any, value: Any) -> None:
        """As `setattr`."""
        self._may_set(thing, name)
        setattr(thing, name, value)

    def _delete(self, thing: Any, name: Any) -> None:
        """As `delattr`."""
        self._may_set(thing, name)
        delattr(thing, name)

    def _names(self, thing: Any) -> Any:
        """As `thing.__dict__`."""
        found = getattr(thing, DICT)
        kind = type(thing)
        if _is_a(kind, type):
            return found if self._is_own(thing) else self._refuse(f"object.{DICT}")
        if type(found) is not dict:  # a property of the learner's
            return found if self._is_own(kind) else self._refuse(f"object.{DICT}")
        is_data = not any(callable(each) or _is_a(type(each), ModuleType) for each in found.values())
        if not (is_data or self._is_own(kind) or kind is SimpleNamespace):
            self._refuse(f"object.{DICT}")
        return _Names(found, _seal(self._check_key))

    def _check_key(self, name: Any) -> None:
        """Raise ForbiddenCall for what Python or a library looks for in any object."""
        if _is_a(type(name), str) and (type(name) is not str or is_hiding(name) or name[:2] == "__"):
            self._refuse(SETTING)

    def _arguments(self, given: Any) -> Any:
        """Return the arguments of `f(**given)`, which may become an object's attributes."""
        arguments = {**given}
        for name in arguments:
            if _is_a(type(name), str) and (type(name) is not str or is_hiding(name)):
                self._refuse(SETTING)
        return arguments

    def _vars(self, *things: Any) -> Any:
        """As `vars`; without an argument it would give what is here."""
        if len(things) != 1:
            return vars(*things) if things else self._refuse("builtins.vars")
        try:
            return self._names(*things)
        except AttributeError:
            raise TypeError("vars() argument must have __dict__ attribute") from None

    def _choose_vars(self, function: Any) -> Any:
        """Return what `vars` means: the learner's own function, or ours for Python's."""
        return _seal(self._vars) if function is vars else function

    def _method(self, thing: Any, name: str) -> Any:
        """As `thing.__setattr__` and the like, for a call."""
        found, kind = getattr(thing, name), type(thing)
        of = SELF_OF(thing) if kind is super else thing
        is_told = _is_a(type(of), type)  # the object comes first: `object.__setattr__(x, n, v)`
        check = self._may_get if name == "__getattr__" else self._may_set

        def call(*arguments: Any) -> Any:
            target, *others = arguments if is_told else (of, *arguments)
            check(target, *others[:1])
            return found(*arguments)

        return _seal(call)

    def _door(self, thing: Any, name: str) -> Any:
        """As `self.parser`: of a library's object such a name leads to a module."""
        found = getattr(thing, name) if self._is_ones_own(thing) else self._refuse(f"object.{name}")
        return self._refuse(f"object.{name}") if _is_a(type(found), ModuleType) else found

    def _of_own(self, thing: Any) -> Any:
        """Return the object that a method is told: a library's may look up any name in it."""
        return thing if self._is_ones_own(thing) else self._refuse("object.self")


class _Names(dict[str, Any]):
    """What an object has by itself; what is put here it has, too, if nothing but its own code looks for that."""

    __slots__ = ("_check_key_of_names", "_names_of_object")  # both are hiding names

    @cut_off()
    def __init__(self, names: dict[str, Any], check: Callable[[Any], None]) -> None:
        super().__init__(names)
        self._names_of_object, self._check_key_of_names = names, check

    @cut_off()
    def __reduce_ex__(self, _protocol: object) -> Any:
        return dict, (dict(self),)

    @cut_off()
    def __setitem__(self, name: str, value: Any) -> None:
        self._check_key_of_names(name)
        self._names_of_object[name] = value
        super().__setitem__(name, value)

    @cut_off()
    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._names_of_object.pop(name, None)

    @cut_off()
    def update(self, *given: Any, **named: Any) -> None:
        for name, value in dict(*given, **named).items():
            self[name] = value

    @cut_off()
    def __ior__(self, given: Any) -> Any:
        self.update(given)
        return self

    @cut_off()
    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    @cut_off()
    def pop(self, name: str, *default: Any) -> Any:
        self._names_of_object.pop(name, None)
        return super().pop(name, *default)

    @cut_off()
    def popitem(self) -> tuple[str, Any]:
        self._names_of_object.popitem()
        return super().popitem()

    @cut_off()
    def clear(self) -> None:
        self._names_of_object.clear()
        super().clear()


class _Rewriter:
    """Puts calls in the places of what Python itself would look up. It calls itself nowhere: a tree may be deep."""

    def __init__(self, hidden: Callable[[str], str]) -> None:
        self._hidden = hidden
        self.named = set[str]()

    def rewrite(self, tree: ast.Module) -> None:
        """Rewrite a tree in its place. In a pattern no call may stand: whoever reads the source refuses it there."""
        nodes = list(ast.walk(tree))
        left = {id(part) for node in nodes if isinstance(node, ast.MatchValue) for part in ast.walk(node)}
        for node in reversed(nodes):  # what is in a node before itself
            if id(node) not in left:
                self._rewrite_parts(node)

    def _rewrite_parts(self, node: ast.AST) -> None:
        match node:
            case ast.Call(func=ast.Name("vars"), args=[], keywords=[]):
                return  # of the function that it stands in
            case ast.Call(func=ast.Attribute(), args=[ast.Name(first) as of, *others]) if first in FIRST:
                node.args = [self._call("own", of, of), *others]
            case ast.Call(func=ast.Name(name), args=[_, ast.Constant(str(text)), *_]) if name in LOOKUPS:
                self.named.add(text)
            case ast.keyword(arg=None, value=given):
                node.value = self._call("arguments", given, given)
        for name, part in ast.iter_fields(node):
            if isinstance(part, list):
                part[:] = map(self._replace, part)
            elif isinstance(part, ast.expr):
                setattr(node, name, self._replace(part))

    def _replace(self, node: Any) -> Any:
        match node:
            case ast.Name("vars", ast.Load()):
                return self._call("vars", node, node)
            case ast.Attribute(of, "__dict__", ast.Load()):
                return self._call("names", node, of)
            case ast.Attribute(of, name, ast.Load()) if name in METHODS:
                return self._call("method", node, of, ast.Constant(name))
            case ast.Attribute(ast.Name(first) as of, name, ast.Load()) if first in FIRST and name in HIDING_ATTRIBUTES:
                return self._call("door", node, of, ast.Constant(name))
        return node

    def _call(self, function: str, node: ast.expr, *arguments: ast.expr) -> ast.Call:
        made = ast.Call(ast.Name(self._hidden(function), ast.Load()), [*arguments], [])
        for part in (made, made.func, *(each for each in arguments if isinstance(each, ast.Constant))):
            ast.copy_location(part, node)
        return made


def _seal(function: Callable[..., Any]) -> Any:
    """Return a function in C that calls one of ours, and leads nobody to it."""
    return SEALED(function, 0, False, None)


def _is_a(kind: type, of: type) -> bool:
    return any(each is of for each in MRO_OF(kind))


def _dict_of(thing: Any) -> Any:
    """Return what an object has by itself."""
    try:
        found = OF_OBJECT(thing, DICT)
    except AttributeError:
        return ()
    return found if type(found) is dict else ()
