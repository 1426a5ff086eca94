"""Let code look up names that stand nowhere in the source in what is the learner's own, and know there what it is.

`vars(x)`, `x.__dict__` and `getattr(x, n)` lead from a class of Python's to any function. Whoever reads the source does
not know what x is and n will be; here both are known. So a watched module has these functions in the place of Python's:
what an object of the learner's own class has is theirs to look up, and of any other what a reader would let pass.
"""

from __future__ import annotations

import ast
import builtins
import os
import sys
import types
import weakref
from collections.abc import Callable
from types import FunctionType, MappingProxyType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

from grader.worker.watch.call_monitor import SEALED, ForbiddenCall, matches
from grader.worker.watch.hardened_modules import HardenedModules
from grader.worker.watch.hiding_words import DICT, HIDING_ATTRIBUTES, OF_ANY_NAME, OF_PARTS, is_hiding
from grader.worker.watch.module_namespace import MRO_OF, ModuleNamespace, is_kind, plain_text
from grader.worker.watch.rewritten_lookups import Rewriter

# a learner may put others in their places
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
FIELDS = "__dataclass_fields__"
ASKED = frozenset({"__getattr__", "__getattribute__"})
GETTING, SETTING = "builtins.getattr", "builtins.setattr"
BUILD, OF_OBJECT = vars(builtins)["__build_class__"], object.__getattribute__
NAMES_OF, FLAGS_OF, NAME_OF = (vars(type)[name].__get__ for name in (DICT, "__flags__", "__name__"))
SELF_OF = vars(super)["__self__"].__get__
DESCRIPTOR = vars(FunctionType)[DICT]  # of the same kind as that of a class
IN_PYTHON = 1 << 9  # of the flags of a class: a `class` statement made it
NUMBERS = frozenset({bool, int, float})
MAX_NAMES = 10_000  # that are known to be fine
# Python's own classes of which an object gives what another has. Nobody who learns derives a class from these.
FORWARDING = (super, type, ModuleType, types.GenericAlias, weakref.ProxyType, weakref.CallableProxyType)


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
        self._suffix = os.urandom(8).hex()  # no source can name what has it
        self._own: dict[int, type] = {}  # the classes that the learner's statements made
        self._sure = set[int]()  # of these, those of which no other class gives what another object has
        self._alone = set[int]()  # of these, those with nothing of another's: all that an object has is theirs
        self._fine = set[str]()  # names that lead nowhere in whatever object
        self._spaces = set[int]()  # the dictionaries of the learner's modules
        torch = sys.modules.get("torch")
        self._layer = torch.nn.Module if torch else None
        self._optimizer = torch.optim.Optimizer if torch else None
        self._modules = HardenedModules(self, _seal)

    def prepare(self, namespace: dict[str, Any]) -> None:
        """Give a module the functions, before it runs."""
        around = ModuleNamespace(namespace, self._refuse)
        self._spaces.add(id(namespace))
        given: dict[str, Any] = {
            "getattr": self.get, "setattr": self._set, "delattr": self._delete, "vars": self._vars,
            "globals": around.globals_, "__build_class__": self._build,
        }  # fmt: skip
        rewritten = {
            "names": self._names, "method": self._method, "door": self._door, "own": self._of_own, "part": self._part,
            "here": around.here, "getattr": self._get_read, "setattr": self._set_read, "delattr": self._delete_read,
        }  # fmt: skip
        given |= {self._hidden(name): function for name, function in rewritten.items()}
        given["__import__"] = self._modules.import_
        own = vars(builtins) | {name: _seal(function) for name, function in given.items()}
        around.vars_ = own["vars"]
        namespace["__builtins__"] = own

    def rewrite(self, tree: ast.Module) -> None:
        """Let a module's tree use them, in its place."""
        Rewriter(self._hidden).rewrite(tree)

    def _hidden(self, name: str) -> str:
        return f"{name} {self._suffix}"

    def _refuse(self, name: str) -> NoReturn:
        self.doors.append(name)
        raise ForbiddenCall(name)

    def refuse_name(self, name: str) -> None:
        """Raise ForbiddenCall for a name of Python's own, or what is no plain text."""
        if type(name) is not str or name[:2] == "__" or is_hiding(name):
            self._refuse(GETTING)

    # --- whose an object is

    def _build(self, body: Any, name: str, /, *bases: Any, **keywords: Any) -> Any:
        """Carry out a class statement, and note the class, unless a metaclass gave something else in its place."""
        if any(is_kind(base, each) for base in bases if _is_class(base) for each in FORWARDING):
            self._refuse("object.__bases__")
        made = BUILD(body, name, *bases, **keywords)
        kinds = [keywords.get("metaclass", type), *(type(base) for base in bases if _is_class(base))]
        if _is_class(made) and any(is_kind(made, each) for each in FORWARDING):  # by `__mro_entries__`
            self._refuse("object.__bases__")
        is_new = _is_class(made) and all(_is_class(kind) and is_kind(type(made), kind) for kind in kinds)
        is_plain = not any(self._is_own(type(base)) and not _is_class(base) for base in bases)
        if is_new and is_plain and NAME_OF(made) == name and FLAGS_OF(made) & IN_PYTHON:
            if type(NAMES_OF(made).get(DICT, DESCRIPTOR)) is not type(DESCRIPTOR):
                self._refuse(f"object.{DICT}")  # it would be told of what is put there
            self._note(made)
        return made

    def _note(self, made: type) -> None:
        self._own[id(made)] = made
        if self._is_own(made):
            self._sure.add(id(made))
        if all(each is object or id(each) in self._own for each in MRO_OF(made)):
            self._alone.add(id(made))

    def _is_own(self, kind: type) -> bool:
        """Return True for a class of the learner's, unless one of a library's in it gives what another object has."""
        line = MRO_OF(kind)
        return self._is_made_here(kind, line) and not any(map(self._forwards, line))

    def _is_made_here(self, kind: type, line: tuple[type, ...]) -> bool:
        if any(id(each) in self._own for each in line):
            return True
        fields = NAMES_OF(kind).get(FIELDS)  # the copy of a dataclass that has slots
        return fields is not None and any(NAMES_OF(each).get(FIELDS) is fields for each in self._own.values())

    def _forwards(self, kind: type) -> bool:
        """Return True for a class that gives what it has not, but for layers, which give their parts."""
        if id(kind) in self._own or kind is object or kind is self._layer:
            return False
        return bool(FLAGS_OF(kind) & IN_PYTHON and ASKED & NAMES_OF(kind).keys()) or kind in FORWARDING

    def _is_ones_own(self, thing: Any) -> bool:
        """Return True for an object of the learner's classes, and for these."""
        return self._is_own(thing if _is_class(thing) else type(thing))

    # --- what is looked up

    def _may_get(self, thing: Any, name: str, is_read: bool = False) -> None:
        """Raise an error where a name that is looked up leads to what nobody has read; *is_read*: it stands there.

        Raises:
            ForbiddenCall: It is forbidden, or what a library has.
            AttributeError: It leads to the interpreter: what asks for such a name may be honest, and goes on without.
        """
        kind, is_class = type(thing), _is_class(thing)
        line = (*MRO_OF(thing), *MRO_OF(kind)) if is_class else MRO_OF(kind)
        holder = next((each for each in line if name in NAMES_OF(each)), None)
        in_itself = not is_class and name in _dict_of(thing)
        if self._is_own(kind if in_itself or holder is None or (holder is object and not is_class) else holder):
            return
        if entry := matches(name, self._forbids):
            self._seen.append(entry)
            raise ForbiddenCall(entry)
        is_library = is_kind(kind, ModuleType) or (is_class and not self._is_own(thing))
        is_library = is_library and (in_itself or holder is not None)  # else there is no such thing
        is_fine = is_read and (name[:2] != "__" or not callable(getattr(thing, name, None)))
        if is_library and not is_fine and not self._gives(thing, name):
            self._refuse(GETTING)
        is_another = not (is_read or is_class or in_itself or holder) and any(map(self._forwards, line))
        if is_another or name in HIDING_ATTRIBUTES or is_hiding(name) or (name[:1] == "_" and not is_read):
            raise AttributeError(f"{name!r} is not looked up in what is not your own", name=name, obj=None)

    def _gives(self, module: Any, name: str) -> bool:
        """Return True for a function or a layer of a module that has no other, and for data of torch's or one's own."""
        if id(_dict_of(module)) in self._spaces:  # the learner's own
            return not _leads_on(_dict_of(module).get(name))
        path = next((path for path in OF_ANY_NAME if sys.modules.get(path) is module), "")
        found = _dict_of(module).get(name) if path else None
        if type(found) in NUMBERS:
            return True
        if path in ("logging", "torch"):
            return path == "torch" and type(found) is type(module.float32)
        if path in ("torch.nn", "torch.optim"):
            return _is_class(found) and any(each in (self._layer, self._optimizer) for each in MRO_OF(found))
        return type(found) is type(len) or (type(found) is FunctionType and found.__module__ == path)

    def _may_set(self, thing: Any, name: str, is_read: bool = False) -> None:
        is_module = is_kind(type(thing), ModuleType)
        is_library = is_module or (_is_class(thing) and not self._is_own(thing))
        if is_module or is_hiding(name) or name[:2] == "__" or (is_library and not is_read):
            self._refuse(SETTING)

    def get(self, thing: Any, name: Any, *default: Any) -> Any:
        """As `getattr`."""
        return self._find(thing, name, default, False)

    def _get_read(self, thing: Any, name: Any, *default: Any) -> Any:
        """As `getattr` of a name that stands there."""
        return self._find(thing, name, default, True)

    def _find(self, thing: Any, name: Any, default: tuple[Any, ...], is_read: bool) -> Any:
        if type(name) is str and self._is_usual(id(type(thing)), name):
            return getattr(thing, name, *default)
        name = plain_text(name)
        if type(name) is not str:
            return getattr(thing, name, *default)  # Python says what is wrong
        try:
            if name in OF_PARTS:  # it looks up what it is told
                self._refuse(GETTING)
            if name == DICT:
                return self._names(thing)
            self._may_get(thing, name, is_read)
        except AttributeError:
            if default:
                return default[0]
            raise
        return getattr(thing, name, *default)

    def _is_usual(self, kind: int, name: str) -> bool:
        """Return True for what is looked up often, in objects of one's own, and needs no further look."""
        if kind in self._alone:
            return name != DICT
        if kind in self._sure and name not in self._fine and len(self._fine) < MAX_NAMES:
            is_door = name[:1] == "_" or name in HIDING_ATTRIBUTES or name in OF_PARTS or is_hiding(name)
            if not is_door and not matches(name, self._forbids):
                self._fine.add(name)
        return kind in self._sure and name in self._fine

    def _settable(self, thing: Any, name: Any, is_read: bool) -> Any:
        name = plain_text(name)
        if type(name) is str:  # else Python says what is wrong
            self._may_set(thing, name, is_read)
        return name

    def _set(self, thing: Any, name: Any, value: Any) -> None:
        """As `setattr`."""
        setattr(thing, self._settable(thing, name, False), value)

    def _set_read(self, thing: Any, name: Any, value: Any) -> None:
        """As `setattr` of a name that stands there."""
        setattr(thing, self._settable(thing, name, True), value)

    def _delete(self, thing: Any, name: Any) -> None:
        """As `delattr`."""
        delattr(thing, self._settable(thing, name, False))

    def _delete_read(self, thing: Any, name: Any) -> None:
        """As `delattr` of a name that stands there."""
        delattr(thing, self._settable(thing, name, True))

    def _names(self, thing: Any) -> Any:
        """As `thing.__dict__`."""
        found, kind = getattr(thing, DICT), type(thing)
        if id(kind) in self._sure and type(found) is dict:
            return found
        if self._is_ones_own(thing) or is_kind(kind, SimpleNamespace):
            is_given = _is_class(thing) or type(found) is not MappingProxyType
        else:
            is_given = type(found) is dict and not is_kind(kind, ModuleType) and not any(map(_leads_on, found.values()))
        return found if is_given else self._refuse(f"object.{DICT}")

    def _vars(self, *things: Any) -> Any:
        """As `vars` of a thing."""
        if len(things) != 1:
            return vars(*things) if things else self._refuse("builtins.vars")  # it would give what is here
        try:
            return self._names(*things)
        except AttributeError:
            raise TypeError("vars() argument must have __dict__ attribute") from None

    # --- what is told its object, or the name of one

    def _method(self, thing: Any, method: str) -> Any:
        """As `thing.__setattr__` and the like, for a call."""
        if type(thing) is not super and not _is_class(thing) and any(map(self._forwards, MRO_OF(type(thing)))):
            self._refuse(f"object.{method}")
        found = getattr(thing, method)
        of = SELF_OF(thing) if type(thing) is super else thing
        is_told = _is_class(of)  # the object comes first: `object.__setattr__(x, n, v)`
        check: Callable[[Any, str], None] = self._may_get if method == "__getattr__" else self._may_set

        def call(*arguments: Any, **named: Any) -> Any:
            target, *others = arguments if is_told and arguments else (of, *arguments)
            for name in others[:1] or named.values():
                if type(name := plain_text(name)) is str:
                    check(target, name)
            return found(*arguments, **named)

        return _seal(call)

    def _door(self, thing: Any, name: str) -> Any:
        """As `self.parser`: of a library's object such a name leads to a module."""
        found = getattr(thing, name) if self._is_ones_own(thing) else self._refuse(f"object.{name}")
        return self._refuse(f"object.{name}") if is_kind(type(found), ModuleType) else found

    def _of_own(self, thing: Any) -> Any:
        """Return the object that a method is told: a library's may look up any name in it."""
        return thing if self._is_own(type(thing)) else self._refuse("object.self")

    def _part(self, name: Any) -> Any:
        """Return the name that a layer looks up in its parts."""
        name = plain_text(name)
        parts = name.split(".") if type(name) is str else ()
        return self._refuse(GETTING) if any(part[:2] == "__" or is_hiding(part) for part in parts) else name


def _seal(function: Callable[..., Any]) -> Any:
    """Return a function in C that calls one of ours, and leads nobody to it."""
    return SEALED(function, 0, False, None)


def _is_class(thing: Any) -> bool:
    return is_kind(type(thing), type)


def _leads_on(value: Any) -> bool:
    return callable(value) or is_kind(type(value), ModuleType)


def _dict_of(thing: Any) -> Any:
    """Return what an object has by itself."""
    try:
        found = OF_OBJECT(thing, DICT)
    except AttributeError:
        return {}
    return found if type(found) is dict else {}
