"""Where a name means an object of the learner's own classes, whatever else the file does."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable
from functools import cached_property

from grader.source.hiding_names import LOOKUPS, last_name, text_of
from grader.source.linked_names import LinkedNames
from grader.source.own_classes import (
    BASES,
    ENUMS,
    OWN,
    TEST_CASE,
    Function,
    fills_by_arguments,
    first_of,
    gives_any_arguments,
    is_class_of_layers,
    methods_of,
    relied_on,
)
from grader.source.parse import nodes_in
from grader.source.scopes import names_bound_by, root_name

# Of methods: with those decorators the function is in no other hands.
TOLD = frozenset({"__set_name__", "__subclasshook__", "__subclasscheck__", "__mro_entries__"})  # to these another is
OF_THE_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})  # they are told their own
COMPARES = frozenset({"__eq__", "__ne__", "__contains__"})
OF_CLASSES = frozenset({"dataclass", "final", "runtime_checkable", "total_ordering", "unique"})  # decorators
OF_ANY_CLASS = frozenset({"__name__", "__qualname__", "__module__", "__doc__", "__members__"})
TAKING_CLASSES = frozenset({
    "collections.defaultdict", "isinstance", "issubclass", "len", "list", "print", "repr", "str",
})  # fmt: skip
ANY_CLASS = "any class"
MAX_ROUNDS = 8  # until no class is found any more that is in other hands because of another
DECORATORS = frozenset({"abstractmethod", "cached_property", "classmethod", "no_grad", "inference_mode", "property"})


class OwnClasses:
    """The classes of a file, and where a name means an object of one of them whatever else the file does.

    That is so in a method that nobody takes of its class, where it would take any object for its own: `A.find(torch,
    n)`, `keep(A)`, `@keep`. Classes that are derived from each other stand and fall together.
    """

    def __init__(
        self,
        nodes: list[ast.AST],
        leads_on: Callable[[ast.expr], bool],
        path_of: Callable[[ast.AST], str],
        others: Iterable[str] = (),
        methods: Iterable[str] = (),
    ) -> None:
        """Read the classes; `path_of` tells what is a library's or Python's, `leads_on` which base may be any."""
        self._nodes, self._path_of = nodes, path_of
        self._classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
        self._family = _families(self._classes, others)
        self._enums = {each.name for each in self._classes if ENUMS & {last_name(base) for base in each.bases}}
        self._objects: dict[int, str] = {}  # where a name means an object of a class, and the class
        self._kinds: dict[int, str] = {}  # where one means the class itself
        self._supers: list[tuple[str, str]] = []  # which functions of classes are asked for as methods of these
        self._methods = {"mro", *methods}
        self._shared = {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
        self._lost = set[str]()
        for each in self._classes:
            if any(map(leads_on, each.bases)) or self._shows_its_methods(each):
                self._lose(each.name)
            for method in each.body:
                if isinstance(method, Function):
                    self._read_method(each, method)

    def own_objects(self) -> dict[int, str]:
        """Return where a name, or `super`, means an object of one's own, with the class."""
        self._follow()
        return {place: name for place, name in self._objects.items() if self._is_kept(name)}

    def shown(self, names: Iterable[str]) -> str:
        """Return which of these classes may be in hands that nobody follows, or ""."""
        self._follow()
        return next((name for name in names if not self._is_kept(name)), "")

    def _follow(self) -> None:
        """Find all classes that are in other hands."""
        if any(map(self._may_show_a_class, self._nodes)):
            self._lost.add(ANY_CLASS)
        for name in (of for of, method in self._supers if method in self._methods and method[:2] != "__"):
            self._lose(name)
        for _ in range(MAX_ROUNDS):
            before = len(self._lost)
            fine = {id(part) for node in self._nodes for part in self._fine_places(node)}
            for node in self._nodes:
                if id(node) not in fine and (name := self._class_in(node)):
                    self._lose(name)
            if len(self._lost) == before:
                return
        self._lost.add(ANY_CLASS)

    def _lose(self, name: str) -> None:
        self._lost.add(self._family.get(name, ANY_CLASS))

    def _is_kept(self, name: str) -> bool:
        return not self._lost & {self._family[name], ANY_CLASS}

    def _shows_its_methods(self, definition: ast.ClassDef) -> bool:
        """Return True where a decorator gets a class, or its own statements do more with its methods than define."""
        names = {part.name for part in definition.body if isinstance(part, Function)}
        known = [self._path_of(each.func if isinstance(each, ast.Call) else each) for each in definition.decorator_list]
        used = [part for part in definition.body if not isinstance(part, Function)]
        heads = [part for part in definition.body if isinstance(part, Function)]
        used += [default for part in heads for default in (*part.args.defaults, *part.args.kw_defaults) if default]  # type: ignore
        return (
            any(path.rpartition(".")[2] not in OF_CLASSES for path in known)
            or any(not self._path_of(word.value) for word in definition.keywords if word.arg == "metaclass")
            or any(isinstance(part, ast.Global | ast.Nonlocal) for each in used for part in nodes_in(each))
            or any(isinstance(part, ast.Name) and part.id in names for each in used for part in nodes_in(each))
        )

    def _read_method(self, of: ast.ClassDef, method: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Note what the first parameter of a method means, wherever it stands."""
        first, marks = first_of(method.args), [last_name(each) for each in method.decorator_list]
        is_plain = all(self._is_plain(each, of) for each in method.decorator_list)
        inside = nodes_in(method)
        if "staticmethod" in marks:
            return
        if "classmethod" in marks or method.name in OF_THE_CLASS:
            bound = [node for node in inside if first in names_bound_by(node)]
            if not is_plain or not first or len(bound) > 1 or first in self._shared:
                self._lose(of.name)
            self._kinds |= {id(node): of.name for node in inside if isinstance(node, ast.Name) and node.id == first}
            asked = [each for each in inside if isinstance(each, ast.Attribute) and last_name(each.value) == "super"]
            self._supers += [(of.name, each.attr) for each in asked]
            if len(asked) < sum(isinstance(each, ast.Name) and each.id == "super" for each in inside):
                self._lose(of.name)
            return
        self._methods.add(method.name)
        if is_plain and first in OWN and first not in self._shared:
            self._objects |= {id(name): of.name for name in _uses_of_first(method, first)}

    def _is_plain(self, mark: ast.expr, of: ast.ClassDef) -> bool:
        """Return True for a decorator that keeps the function to itself: `@property`, `@size.setter`."""
        match mark:
            case ast.Attribute(ast.Name(name), "setter" | "getter" | "deleter"):
                bound = [part for part in of.body if name in names_bound_by(part) or not isinstance(part, Function)]
                bound = [part for part in bound if any(name in names_bound_by(node) for node in _of_class(part))]
                first = bound[0] if bound else None
                return all(isinstance(part, Function) and part.decorator_list for part in bound) and (
                    isinstance(first, Function) and [last_name(each) for each in first.decorator_list] == ["property"]
                )
        called = mark.func if isinstance(mark, ast.Call) else mark
        return last_name(mark) in DECORATORS and bool(self._path_of(called))

    def _may_show_a_class(self, node: ast.AST) -> bool:
        """Return True for what may get a class into hands that nobody follows, or hand it to one's own code."""
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                return name in TOLD
            case ast.Name("globals" | "locals" | "__class__") | ast.Constant("__class__"):
                return True
            case ast.Call(args=[], func=ast.Name("vars")):
                return True
            case ast.MatchClass(kwd_attrs=names):
                return "__class__" in names
            case ast.Attribute(attr="default_factory"):
                return True
            case ast.Attribute(attr="type"):
                return any(last_name(each) == "fields" for each in self._nodes)
            case ast.Attribute(attr="__wrapped__") | ast.Constant("__wrapped__"):
                return True
            case ast.Subscript(slice=ast.Constant(str(name))):
                return name in self._family
            case ast.Call(args=args) if last_name(node) in LOOKUPS:
                return any(text_of(arg) in self._family for arg in args)
        return False

    def _class_in(self, node: ast.AST) -> str:
        """Return the class that a node stands for by itself, or ""; any, for that of an object."""
        match node:
            case ast.Name(name, ast.Load()) | ast.Attribute(attr=name) if name in self._family:
                return name
            case ast.Call(func=ast.Name("type"), args=[of]) | ast.Attribute(attr="__class__", value=of):
                return self._objects.get(id(of), ANY_CLASS)
            case ast.Call(func=ast.Name("super"), args=[_, of, *_]) if id(of) not in self._objects:
                return ANY_CLASS
        return self._kinds.get(id(node), "")

    def _fine_places(self, node: ast.AST) -> Iterable[ast.AST]:
        """Yield where a class may stand, and `A.__init__` of `A.__init__(self, n)`."""
        match node:
            case ast.Call(func=func, args=args):
                yield func
                yield from self._fine_arguments(node, func, args)
            case ast.Attribute(value=of, attr=name):
                yield from [of] if name in OF_ANY_CLASS or ("__" not in name and name not in self._methods) else []
            case ast.ClassDef(bases=bases, decorator_list=marks):
                yield from (*nodes_in(*bases), *marks)
            case ast.arg(annotation=found) | ast.AnnAssign(annotation=found) if found:
                yield from nodes_in(found)
            case ast.FunctionDef(returns=found, decorator_list=marks):
                yield from (*marks, *(nodes_in(found) if found else ()))
            case ast.Compare(left=left, ops=ops, comparators=others):
                is_same = all(isinstance(op, ast.Is | ast.IsNot) for op in ops)
                yield from _each(left, *others) if is_same or not self._methods & COMPARES else ()
            case ast.FormattedValue(value=of) | ast.For(iter=of) | ast.comprehension(iter=of):
                yield of
            case ast.Subscript(value=of) if last_name(of) in self._enums:  # `A[int]` of another is as good as `A`
                yield of
            case ast.MatchClass(cls=of) | ast.ExceptHandler(type=of) | ast.Raise(exc=of) if of:
                yield from _each(of)

    def _fine_arguments(self, call: ast.Call, func: ast.expr, args: list[ast.expr]) -> Iterable[ast.AST]:
        """Yield the arguments of a call that may be classes, and the class in `A.find(self, n)`."""
        path = self._path_of(func)
        if path in TAKING_CLASSES:
            yield from _each(*args)
        if path == "dataclasses.field":
            yield from (word.value for word in call.keywords if word.arg == "default_factory")
        match call:
            case ast.Call(func=ast.Name("super"), args=[kind, of]) if id(of) in self._objects:
                yield kind
            case ast.Call(func=ast.Attribute(value=ast.Name() as kind, attr=name), args=[of, *_]):
                is_kept = id(of) in self._objects and self._is_kept(self._objects[id(of)])
                yield from [kind] if is_kept else []
                yield from [of] if name == "__new__" and kind.id == "object" else []
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name("super")), attr="__new__"), args=[of, *_]):
                yield of


def _families(classes: Iterable[ast.ClassDef], others: Iterable[str]) -> dict[str, str]:
    """Return for each class one of those from which it is derived, or which are derived from it: always the same."""
    found: dict[str, str] = {}

    def top(name: str) -> str:
        while found.setdefault(name, name) != name:
            found[name] = name = found[found[name]]
        return name

    names = {*others, *(each.name for each in classes)}
    for each in classes:
        for base in [each.name, *(last_name(base) for base in each.bases)]:
            if base in names:
                found[top(base)] = top(each.name)
    return {name: top(name) for name in names}


def _uses_of_first(method: ast.FunctionDef | ast.AsyncFunctionDef, first: str) -> Iterable[ast.Name]:
    """Yield where a method reads its first parameter or says `super`, unless it gives that another value."""
    waiting: list[ast.AST] = [*method.body, *(arg for arg in ast.iter_child_nodes(method.args) if _name(arg) != first)]
    found: list[ast.Name] = []
    for node in waiting:  # grows while it is read
        if first in names_bound_by(node):
            return
        if isinstance(node, ast.Name) and node.id in (first, "super"):
            found.append(node)
        is_other = isinstance(node, Function | ast.Lambda) and any(first == _name(arg) for arg in ast.walk(node.args))
        if not is_other and not isinstance(node, ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    yield from found


def _name(node: ast.AST) -> str:
    return node.arg if isinstance(node, ast.arg) else ""


def _of_class(statement: ast.AST) -> Iterable[ast.AST]:
    """Return what a statement of a class binds names with: of a function in it, its own name alone."""
    return [statement] if isinstance(statement, Function) else nodes_in(statement)


def _each(*things: ast.expr) -> Iterable[ast.expr]:
    """Yield each thing, and each in a tuple."""
    for thing in things:
        yield from thing.elts if isinstance(thing, ast.Tuple) else [thing]


class OwnNames(LinkedNames):
    """One file, which knows where its names mean objects of the learner's own classes."""

    @cached_property
    def _modules(self) -> list[OwnNames]:
        """This file and those that it is linked with."""
        return [module for module in (self, *self.linked.values()) if isinstance(module, OwnNames)]

    @cached_property
    def own_objects(self) -> dict[int, str]:
        """Where a name means an object of the learner's own classes, whatever else the file does, with the class."""
        return OwnClasses(self._nodes, self._leads_on, self._path_of_others).own_objects()

    @cached_property
    def _relied_on(self) -> set[str]:
        """The classes of which an object may be all that a method is called with, or a name is looked up in another."""
        return relied_on(self._nodes, self.own_objects, self._known_name)

    @cached_property
    def _shown_class(self) -> str:
        """A class of one file that relies on it that its methods have objects of it, in another file's other hands."""
        modules, nodes = self._modules, [module._nodes for module in self._modules]
        if any(map(fills_by_arguments, nodes)) and any(map(gives_any_arguments, nodes)):
            return "setattr"
        names = {name for module in modules for name in module._relied_on}
        handed = [(local, name) for module in modules for local, of in module.imported.items() for _, name in of]
        while names and (more := {local for local, name in handed if name in names} - names):
            names |= more
        methods = {name for each in nodes for name in methods_of(each)} if names else set()
        return next((found for module in modules if names and (found := module._shows(names, methods))), "")

    def _shows(self, names: set[str], methods: set[str]) -> str:
        """Return which of the classes with these names, its own or other files', it has in other hands, or ""."""
        return OwnClasses(self._nodes, self._leads_on, self._path_of_others, names, methods).shown(names)

    def _path_of_others(self, node: ast.AST) -> str:
        """Return the dotted name of what is a library's or Python's own, "" for what any code may have made another."""
        root = root_name(node) if isinstance(node, ast.expr) else ""
        if not root or root in self._given_values or self.own_stars:
            return ""
        return self._path(node) or (root if isinstance(node, ast.Name) and hasattr(builtins, root) else "")

    @cached_property
    def _given_values(self) -> set[str]:
        """The names that stand for something of the learner's anywhere, or could."""
        bound = {name for node in self._nodes if not isinstance(node, ast.alias) for name in names_bound_by(node)}
        return {*bound, *self.imported, *self.own_modules, *(self.own_attributes if self.own_modules else ())}

    def _leads_on(self, base: ast.expr) -> bool:
        """Return True for a class of a library, or an error of Python's, of which an attribute may be anything."""
        base = base.value if isinstance(base, ast.Subscript) else base  # Generic[T]
        name = last_name(base)
        is_error = isinstance(base, ast.Name) and name.endswith(("Error", "Exception", "Warning", "Exit", "Interrupt"))
        path = self._path(base)
        if not path and name not in self.classes and not is_error:
            whences = self._whences(base)
            return name in self.bindings or any(self._leads_on_in(where, given) for where, given in whences)
        return is_error or bool(path and path not in BASES and not is_class_of_layers(path))

    def _whences(self, base: ast.expr) -> set[tuple[str, str]]:
        """Return the learner's other modules that a class may come from, and its name there."""
        if isinstance(base, ast.Attribute):
            where = self.own_modules.get(last_name(base.value))
            return {(where, base.attr)} if where else set()
        name = last_name(base)
        return self.imported.get(name, set()) | {(where, name) for where in self.own_stars}

    def _leads_on_in(self, where: str, name: str) -> bool:
        """Return True for what another file has under a name, if that is no class, or one that leads on."""
        module = self.linked.get(where)
        if not isinstance(module, OwnNames) or name not in module.handed:
            return module is None
        classes = [node for node in module._nodes if isinstance(node, ast.ClassDef) and node.name == name]
        try:
            return not classes or any(module._leads_on(base) for node in classes for base in node.bases)
        except RecursionError:  # files whose classes are derived in a circle
            return True

    @cached_property
    def _of_libraries(self) -> set[str]:
        """The learner's classes that are derived from one of torch's, or of unittest's, here or in another file."""
        found = {name for module in self._modules for name in module._derived(set())}
        while more := {name for module in self._modules for name in module._derived(found)} - found:
            found |= more
        return found

    def _derived(self, known: set[str]) -> set[str]:
        """Return its classes that have a library's or a *known* one for a base, and its names for known ones."""
        found = {local for local, whences in self.imported.items() if any(name in known for _, name in whences)}
        for node in (node for node in self._nodes if isinstance(node, ast.ClassDef)):
            paths = [self._path(base) for base in node.bases]
            is_class = any(each.startswith(("torch.", "unittest.")) and each[-6:] != "Tensor" for each in paths)
            found |= {node.name} if is_class or known & {last_name(base) for base in node.bases} else set()
        return found

    def _known_name(self, node: ast.AST) -> str:
        """Return the last name of what is called or used, as its module calls it: `attrgetter`, imported as `a`."""
        name = last_name(node)
        return self.paths[name].rpartition(".")[2] if name in self.paths and "." in self.paths[name] else name

    @cached_property
    def tests(self) -> set[str]:
        """The learner's classes of tests: of one in other hands `run` looks up any name of any object."""
        found = set[str]()
        for node in (node for node in self._nodes if isinstance(node, ast.ClassDef)):
            is_test = any(self._path(base) == TEST_CASE or last_name(base) in found for base in node.bases)
            found |= {node.name} if is_test else set()
        return found
