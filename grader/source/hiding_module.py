"""What in one file of a learner's hides a call from whoever reads it."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from functools import cached_property, lru_cache

from grader.source.hiding_names import (
    ALL_NAMES,
    DATACLASS,
    HIDING_CALLS,
    ITSELF,
    LIBRARIES,
    LISTS,
    LOOKUPS,
    MADE_OF_NAMES,
    NAMES_BY_TEXT,
    SETTERS,
    hiding_place,
    hiding_word,
    is_module,
    last_name,
    looked_into,
    looked_up_names,
    lookups_used_at_once,
    names_in_other_hands,
    text_of,
    used_place,
)
from grader.source.module_names import attributes_of
from grader.source.own_classes import (
    BASES,
    MARKS_OF_TESTS,
    OF_ANY_CLASS,
    TEST_CASE,
    items_asked_for,
    makes_attributes,
    methods_of_containers,
    own_dictionaries,
    plain_classes,
    types_in_other_hands,
)
from grader.source.own_names import OwnNames
from grader.source.parse import MAX_CACHED_CHARS, nodes_in
from grader.source.scopes import Definition, decorators, function_scopes, names_bound_by, uses_inside
from grader.worker.watch.hiding_words import (
    DICT,
    HIDING_ATTRIBUTES,
    METHODS,
    NAMES_OF_MODULES,
    OF_ANY_NAME,
    OF_PARTS,
    is_hiding,
)
from grader.worker.watch.rewritten_lookups import FIRST, told_calls

OF_PYTHON = frozenset({"getattr", "setattr", "delattr", "vars"})
UNREWRITTEN = METHODS | OF_PARTS | {DICT}  # in a pattern, where no call may stand
OF_ANY_OBJECT = LOOKUPS | SETTERS | OF_PARTS  # in other hands they look up what they are told
OF_LOAD = frozenset({"map_location", "mmap", "weights_only"})


class HidingModule(OwnNames):
    """One file, of which each node tells whether a call could be hidden with it."""

    @property
    def size(self) -> int:
        """How many nodes it has."""
        return len(self._nodes)

    @cached_property
    def _bound(self) -> Counter[str]:
        """How often each name is bound, in whatever scope."""
        return Counter(name for node in self._nodes for name in names_bound_by(node))

    @cached_property
    def _holds_modules(self) -> bool:
        return bool(self.own_modules or self.own_stars) or any(map(is_module, self.paths.values()))

    @cached_property
    def _used_at_once(self) -> set[int]:
        return lookups_used_at_once(self._nodes)

    def hiding_name(self, node: ast.AST) -> str:
        """Return the name in a node with which a forbidden call could be hidden, or ""."""
        if found := self._hands_out(node):
            return found
        match node:
            case ast.ImportFrom(level=level) if level:  # a lesson is in no package, unless it says that it is in torch
                return "." * level
            case ast.Import() | ast.ImportFrom():
                return self._imported_place(node)
            case ast.Call() | ast.Attribute() | ast.Name() | ast.Dict() if found := self._lookup_of_unread_names(node):
                return found
            case _ if found := makes_attributes(node, self._known_name, self.classes, self._dictionaries):
                return found
            case ast.Subscript(value=names, slice=key) if last_name(names) in NAMES_BY_TEXT and self._is_assembled(key):
                return last_name(names)
            case ast.Call() | ast.Attribute() | ast.Name(ctx=ast.Load()) if place := self._place(node):
                return place
            case ast.Attribute(of, name) if not is_hiding(name) and self._is_seen_by_worker(of, name):
                return ""
        return hiding_word(node, attributes_of(node))

    def _is_seen_by_worker(self, of: ast.expr, name: str) -> bool:
        """Return True for a name of which a worker sees whether it is one's own object's: `self.sys`, `node.obj`."""
        is_of_first = isinstance(of, ast.Name) and of.id in FIRST and name in HIDING_ATTRIBUTES
        return is_of_first or (name in NAMES_OF_MODULES and not self._is_known(of))

    def _imported_place(self, node: ast.Import | ast.ImportFrom) -> str:
        paths = [f"{getattr(node, 'module', None) or ''}.{alias.name}".strip(".") for alias in node.names]
        star = used_place(paths[0][:-2]) if paths[0].endswith(".*") else ""
        handed = filter(None, map(self._handed_by_class, paths)) if id(node) in self._of_classes else ()
        return next((found for path in paths if (found := hiding_place(path))), star) or next(iter(handed), "")

    def _handed_by_class(self, path: str) -> str:
        """Return what a class hands on that imports it: a module, or what is a library's: `A.name`."""
        where, _, name = path.rpartition(".")
        if where in self.own:
            path = self.linked[where].path_of(name) if where in self.linked else path
        known = path.partition(".")[0] in LIBRARIES or path in self.own or is_module(path)
        return path + ITSELF if path and known else used_place(path)

    def _hands_out(self, node: ast.AST) -> str:
        """Return what in a node gives a module, or any attribute, into hands that nobody follows."""
        match node:
            case ast.MatchClass(cls=cls, patterns=[_, *_]) if self._may_be_own_class(cls):
                return last_name(cls)
            case ast.MatchClass() | ast.Attribute() if self._is_lookup_in_a_pattern(node):
                return DICT
            case ast.Name(name, ast.Load()) if name in self.twice and id(node) not in self._local_uses:
                return name
            case ast.Name(name, ast.Load()) if self._hands_on_own(node):
                return name + ITSELF
            case ast.Name() | ast.Attribute() if id(node) in self._types:
                return self._known_name(node)
            case ast.Attribute() | ast.Call() if id(node) in self._items or self._is_method_of_a_library(node):
                return last_name(node)
            case ast.Global() if id(node) in self._of_classes:  # it makes a function of the module of a method
                return "global"
            case ast.Name() if names_in_other_hands(node, self.called, self._bound):
                return last_name(node)
            case ast.Subscript(value=ast.Call(args=[]) as names, slice=ast.Constant(str(name))) if last_name(
                names
            ) in ALL_NAMES and (name in self.own_modules or is_module(self.paths.get(name, ""))):
                return last_name(names)
        return DATACLASS if self._is_dataclass(node) else ""

    @cached_property
    def _types(self) -> set[int]:
        return types_in_other_hands(self._nodes, self._known_name)

    @cached_property
    def _items(self) -> set[int]:
        return items_asked_for(self._nodes) - self._of_containers

    @cached_property
    def _dictionaries(self) -> set[int]:
        return own_dictionaries(self._nodes)

    @cached_property
    def _of_containers(self) -> set[int]:
        return set() if self._any_may_be_own else methods_of_containers(reversed(self._nodes), self._bound)

    def _is_method_of_a_library(self, node: ast.AST) -> bool:
        """Return True for a library's method that one's own class, or an object's, is asked for: it takes any object.

        One that is called with an object of one's own is as its `super()`; `apply` has the class for its object.
        """
        if not isinstance(node, ast.Attribute) or node.attr in self.own_attributes or node.attr.isupper():
            return False
        if id(node) in self._of_self or node.attr in OF_ANY_CLASS or node.attr == "apply":
            return False
        of = node.value
        is_any = isinstance(of, ast.Call | ast.Attribute) and (
            (last_name(of) == "type" and isinstance(of, ast.Call) and len(of.args) == 1) or last_name(of) == "__class__"
        )
        is_class = isinstance(of, ast.Name | ast.Attribute) and last_name(of) in self._of_libraries
        return is_class or (is_any and id(node) in self.called)

    def _hands_on_own(self, node: ast.Name) -> bool:
        """Return True for a module of the learner's, in whatever hands, that leads to others or to a hiding place.

        And for a class of tests.
        """
        if node.id in self.tests and id(node) not in self.called | self._bases:
            return True
        module = self.linked.get(self.own_modules[node.id]) if node.id in self.own_modules else None
        if not isinstance(module, HidingModule) or not module._leads_to_others:
            return False
        return not any(id(node) in fine for fine in (self.harmless, self._looked_into, self._local_uses))

    @cached_property
    def _leads_to_others(self) -> bool:
        paths = self.paths.values()
        return bool(self.own_imports or self.stars) or any(is_module(path) or used_place(path) for path in paths)

    @cached_property
    def _looked_into(self) -> set[int]:
        return set(looked_into(self._nodes))

    def _is_lookup_in_a_pattern(self, node: ast.MatchClass | ast.Attribute) -> bool:
        if isinstance(node, ast.MatchClass):
            return bool(UNREWRITTEN.intersection(node.kwd_attrs))
        return node.attr in UNREWRITTEN | HIDING_ATTRIBUTES and id(node) in self._in_patterns

    @cached_property
    def _in_patterns(self) -> set[int]:
        """The parts of patterns: in the place of a lookup in one a worker can put no other."""
        patterns = [node for node in ast.walk(self.tree) if isinstance(node, ast.MatchValue)]
        return {id(part) for part in nodes_in(*patterns)}

    def running_calls(self, node: ast.AST) -> set[str]:
        """Return what runs a text that code takes from Python itself: from its line on, a function is the learner's."""
        read = HIDING_CALLS & {name for module, name in self.mentions(node) if module is None}
        line = getattr(node, "lineno", 0)
        return {name for name in read if not self.functions.get(name, line) < line}

    def _lookup_of_unread_names(self, node: ast.AST) -> str:
        """Return what looks up a name, or all, that no reader of the source knows: `getattr(torch, n)`; or ""."""
        name, found = self._known_name(node), False
        match node:
            case ast.Call(func=ast.Name(called)) if called in OF_PYTHON and called in self._bound:
                return called  # it may give what it is told
            case ast.Call(args=[]) if name in ALL_NAMES:
                # a library's functions are among one's own, or itself; a worker sees it of a function's own names
                found = bool(self.stars) or (self._holds_modules and id(node) not in self.named)
                found = found and id(node.func) not in self.lists_of_own
            case ast.Call(args=[_, *_]) if name in LOOKUPS:
                found = self._looks_up_unread_name(node, name)
            case ast.Call(args=[thing, *_] as given) if name in SETTERS:
                found = self._sets_unread_name(node, thing, given)
            case ast.Dict(keys=keys):  # which may become a class's names
                found = any(key and not text_of(key) and self._is_assembled(key) for key in keys)
                name = "a key that is put together"
            case ast.Call(args=[thing, *_]) if name in LISTS:
                found = self._is_known(thing)
            case ast.Attribute(attr="__dict__", value=thing):
                found = self._is_known(thing)
            case ast.Name() | ast.Attribute():
                found = name in OF_ANY_OBJECT and id(node) not in self.called and not self._is_harmless_value(node)
        return name if found else ""

    def _is_harmless_value(self, node: ast.Name | ast.Attribute) -> bool:
        """Return True for a method of dictionaries, and for what a worker has in the place of Python's own lookups."""
        is_own = isinstance(node, ast.Name) and node.id in OF_PYTHON and node.id not in self._bound
        return is_own or id(node) in self._of_containers

    def _looks_up_unread_name(self, lookup: ast.Call, name: str) -> bool:
        given, names = lookup.args, looked_up_names(lookup, name)
        if any(map(self._is_assembled, given)):
            return True
        is_read = bool(names) and all(map(text_of, names))
        if name in MADE_OF_NAMES:  # it is told the object later
            is_dictionary = any(DICT in (text_of(each) or "").split(".") for each in names)
            return not is_read or is_dictionary or id(lookup) not in self._used_at_once
        if is_read:
            return False
        if isinstance(lookup.func, ast.Attribute):  # x.__getattr__(n)
            return name not in METHODS or self._is_known(lookup.func.value)
        return self._is_known(given[0]) and self._path(given[0]) not in OF_ANY_NAME

    def _may_be_own_class(self, cls: ast.expr) -> bool:
        """Return True for what need not be Python's own class: its attributes by place may be any."""
        if not isinstance(cls, ast.Name) or self._any_may_be_own:
            return True
        is_pythons = cls.id not in self._bound and hasattr(builtins, cls.id)
        return not is_pythons and cls.id not in self._plain_classes

    @cached_property
    def _plain_classes(self) -> set[str]:
        """The classes whose attributes by place are those that stand there, as a dataclass's are."""
        plain = plain_classes(self._nodes, self._bound, self._path)
        return plain - self.paths.keys()  # what a star brings is bound by no name

    def _is_dataclass(self, node: ast.AST) -> bool:
        """Return True for `dataclass` but as a decorator: it runs the names of a class that was made otherwise."""
        match node:
            case ast.Name() | ast.Attribute():
                is_named = DATACLASS in (last_name(node), self._known_name(node))
            case ast.Call(func=ast.Name("getattr")):
                is_named = self._path(node) == f"dataclasses.{DATACLASS}"
            case _:
                is_named = False
        return is_named and id(node) not in self._decorators

    def _sets_unread_name(self, call: ast.Call, thing: ast.expr, given: list[ast.expr]) -> bool:
        """Return True for `setattr(x, n, v)`, unless *n* stands there, or a worker sees whose object it is."""
        key = given[1] if len(given) > 1 else thing
        if isinstance(call.func, ast.Attribute) and last_name(call.func.value) != "object":  # x.__setattr__(n, v)
            thing, key = call.func.value, thing
        is_other = not text_of(key) and (self._is_known(thing) or not self._is_plain(call.func))
        return is_other or self._is_assembled(key) or (text_of(key) or "").startswith("__")

    def _is_plain(self, function: ast.expr) -> bool:
        return isinstance(function, ast.Name) or last_name(function) in METHODS

    def _is_known(self, thing: ast.expr) -> bool:
        """Return True for what is a library's, or a module of the learner's.

        In any other a worker sees whether it is an object of the learner's own: see `own_lookups`.
        """
        return bool(self._path(thing)) or (isinstance(thing, ast.Name) and thing.id in self.own_modules)

    @cached_property
    def _bases(self) -> set[int]:
        return {id(base) for node in self._nodes if isinstance(node, ast.ClassDef) for base in node.bases}

    @cached_property
    def _all_decorators(self) -> set[int]:
        return decorators(node for node in self._nodes if isinstance(node, Definition))

    @cached_property
    def _local_uses(self) -> set[int]:
        """Where a function reads what it binds itself: a number called `m`, in a file that imports math as m."""
        uses = {id(use) for scope in function_scopes(self.tree) for use in scope.local_uses(self._path)}
        return uses.union(*map(uses_inside, self._nodes))

    def _place(self, node: ast.AST) -> str:
        """Return the hiding place that a node names, if it does not only lead to another."""
        path = "" if id(node) in self.harmless else self._path(node)
        # in other hands it may do more; an object of it can no more than one of a class that is derived from it
        if path in BASES and (id(node) in self._bases or (path == TEST_CASE and id(node) in self.called)):
            return ""
        if id(node) in self._harmless_calls or (path[-2:] == ".?" and path[:-2] in OF_ANY_NAME):
            return ""
        if path in MARKS_OF_TESTS and id(node) in self._all_decorators and self._foreign(node):
            return ""
        if path and isinstance(getattr(node, "ctx", None), ast.Store | ast.Del) and isinstance(node, ast.Attribute):
            return "" if path.startswith("torch.backends.") else path  # what a library has is made another: no setting
        if path and self._takes_any_object(path, node):
            return path
        # a module itself, in whatever hands, is as good as all that is in it
        is_asked = path in OF_ANY_NAME and id(node) in self._asked_for_names
        is_handed_on = path and not is_asked and id(node) not in self.only_named and is_module(path)
        found = path + ITSELF if is_handed_on else used_place(path)
        return "" if found and id(node) in self._local_uses else found

    @cached_property
    def _asked_for_names(self) -> set[int]:
        """What names are looked up in that a worker sees: `F` in `getattr(F, name)`."""
        calls = [node for node in self._nodes if isinstance(node, ast.Call) and node.args]
        return {id(call.args[0]) for call in calls if isinstance(call.func, ast.Name) and call.func.id == "getattr"}

    @cached_property
    def _harmless_calls(self) -> set[int]:
        """The functions that are called plainly: `signature(f)`, `weakref.ref(x)`, `torch.load(p, weights_only=True)`.

        Otherwise `signature` evaluates texts, `ref` calls a function whenever it likes, and torch's `load` runs what a
        pickle says.
        """
        found = set()
        for call in (node for node in self._nodes if isinstance(node, ast.Call)):
            given = {word.arg: word.value for word in call.keywords}
            match self._path(call.func), call.args:
                case "inspect.signature" | "weakref.ref", [_]:
                    is_harmless = not given
                case "torch.load", [_] | [_, _]:
                    is_harmless = given.keys() <= OF_LOAD and _is_true(given.get("weights_only"))
                case _:
                    is_harmless = False
            found |= {id(call.func)} if is_harmless else set()
        return found

    def _takes_any_object(self, path: str, node: ast.AST) -> bool:
        """Return True for a method that a class of torch is asked for, which is told its object later.

        Some look up, or set, whatever name stands in that: `nn.ParameterDict.__getitem__(torch, n)`.
        """
        *above, kind, name = ["", *path.split(".")]
        is_class = above[1:2] == ["torch"] and kind[:1].isupper() and not kind.endswith("Tensor")
        is_method = is_class and isinstance(node, ast.Attribute) and not name.isupper()  # as members of an Enum are
        is_fine = (kind, name) == ("Module", "__init__") or name in OF_ANY_CLASS  # it asks `super()`, which refuses
        return is_method and not is_fine and id(node) not in self._of_self

    @cached_property
    def _of_self(self) -> set[int]:
        """The functions that are called, plainly, with the object of a method: `nn.Module.__init__(self)`.

        A worker sees whether that is one of the learner's own.
        """
        return {id(call.func) for call in told_calls(self._nodes)}


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def read_module(source: str, own: frozenset[str]) -> HidingModule:
    """Read a file, or return what was read of it for an earlier lesson of the same learner. Raises SyntaxError."""
    return (_read_cached if len(source) <= MAX_CACHED_CHARS else _read)(source, own)


def _read(source: str, own: frozenset[str]) -> HidingModule:
    return HidingModule(source, own)


_read_cached = lru_cache(maxsize=32)(_read)  # of a learner's lessons in turn, each beside others
