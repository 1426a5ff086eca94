"""Decide whether a source can change anything but its own objects: then its process may serve another lesson.

A lesson could help the next one in its process: exchange functions of torch, switch off the call monitor, leave a
thread behind. The process is the learner's and cannot be asked, so the judge reads the source. Allowed is the small
part of Python in which honest answers are written: a few imports, attributes set on `self` and on the layers that it
makes, nothing that reaches into the interpreter or changes global state. Any other source is graded in a fresh worker;
that costs one fork.
"""

from __future__ import annotations

import ast
import builtins
import pkgutil
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cache, cached_property, lru_cache
from types import ModuleType
from typing import Any

from grader.source.parse import TooDeep, TooLarge, nodes_in
from grader.source.scopes import names_bound_by, root_name
from grader.source.what_runs import parse_what_runs
from grader.worker.watch.hiding_words import HIDING_ATTRIBUTES, HIDING_NAMES

# fmt: off
MODULES = frozenset({
    "__future__", "collections.abc", "itertools", "math", "numpy", "torch", "torch.nn", "torch.nn.functional",
    "torch.nn.init", "torch.optim",
})
FROM = {
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"},
    "functools": {"cache", "lru_cache", "partial", "reduce"},
    "typing": {"Any", "Callable", "Dict", "Iterable", "Iterator", "List", "Optional", "Sequence", "Tuple", "Union"},
    "torch": {"nn", "optim"},
    "torch.nn": {"functional", "init"},
}
LEADING_ON = HIDING_NAMES | HIDING_ATTRIBUTES
OF_TORCH = frozenset({"torch", "torch.nn", "torch.nn.functional", "torch.optim"})
# Modules that may be reached by a dot: they hold only themselves and modules that are refused.
SAFE_SUBMODULES = frozenset({
    "nn", "functional", "init", "optim", "linalg", "special", "fft", "random", "cpu", "cuda", "grad",
})

BUILTINS = frozenset({
    "abs", "all", "any", "bool", "bytes", "callable", "chr", "complex", "dict", "dir", "divmod", "enumerate", "filter",
    "float", "format", "frozenset", "hasattr", "hash", "id", "input", "int", "isinstance", "issubclass", "iter", "len",
    "list", "map", "max", "min", "next", "object", "ord", "pow", "print", "property", "range", "repr", "reversed",
    "round", "set", "slice", "sorted", "staticmethod", "str", "sum", "super", "tuple", "zip", "Ellipsis",
    "NotImplemented",
    "_",  # the last value that an interactive prompt, or a doctest, has shown
}) | {
    name for name, thing in vars(builtins).items() if isinstance(thing, type) and issubclass(thing, Exception)
}
# fmt: on
# No `__repr__`: what notes the calls of an answer shows what a class has in the place of a method in C.
METHODS = frozenset({"__init__", "__call__", "__len__", "__getitem__", "__iter__"})
NO_LAYERS = frozenset({"Tensor", "Parameter", "Buffer", "Size", "Generator", "Function"}).union(*FROM.values())

# May be set on a layer or tensor that `self` made, to tie or freeze it. What any other name means nobody knows: on a
# function of torch's the next lesson would find it.
TENSOR_ATTRIBUTES = frozenset({"grad", "data", "requires_grad", "weight"})
# Beginnings of names that change global state: `set_default_dtype`, `register_module_forward_hook`.
STATE_CHANGING_PREFIXES = ("set", "use_", "register", "manual_seed", "seed", "compile", "load", "import")
HOLDERS = (ModuleType, dict, list, set)
CHANGES_ONE_OBJECT = frozenset({"load_state_dict"})
KEPT_BY_TORCH = frozenset({"stream", "StreamContext"})  # a context: in it torch keeps what it is given, of any kind


def has_no_side_effects(sources: Collection[str], own: Collection[str]) -> bool:
    """Return True if no source has side effects; *own* are the names under which they may import each other."""
    # what is bound to an attribute may stand in another file
    together = ["\n".join(sources)] if len(sources) > 1 else []
    with suppress(Exception):  # of a source that this does not get through nothing is known
        return all(_has_no_side_effects(source, frozenset(own)) for source in (*sources, *together))
    return False


@lru_cache(maxsize=64)
def _has_no_side_effects(source: str, own: frozenset[str]) -> bool:
    try:
        _, body = parse_what_runs(source)
    except SyntaxError as error:
        return not isinstance(error, TooDeep | TooLarge)  # else it never runs
    analysis = _Analysis(body, own)
    if len(analysis.nodes) > MAX_NODES:
        return False
    return all(analysis.allows(node) for node in analysis.nodes if type(node) in EXAMINED)


# The kinds of nodes that `_note` and `allows` look at, out of the thousands in a source.
MAX_NODES = 20_000  # that are examined, some once for each class around them; exercises have a few hundred
DEFINITIONS = frozenset({ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom})
NOTED = DEFINITIONS | {ast.Call, ast.arg, ast.AnnAssign}
EXAMINED = DEFINITIONS | {ast.Name, ast.Attribute, ast.alias, ast.Global, ast.Nonlocal, ast.MatchClass}


class _Analysis:
    """One source, and the nodes in it for which more is allowed than for others."""

    def __init__(self, body: list[ast.stmt], own: frozenset[str]) -> None:
        self.own = own
        self.nodes = nodes_in(*body)
        self.classes: set[str] = set()  # of this source, and names imported from the learner's other ones
        self.modules: set[str] = set()  # names of the learner's other modules
        self.uses: set[int] = set()  # ids of nodes where a class may stand: called, derived from, tested for, annotated
        self.selves: set[int] = set()  # ids of attributes of a method's own object
        self.inits: set[int] = set()  # ids of `super().__init__`, `nn.Module.__init__(self)`
        for node in self.nodes[:MAX_NODES]:
            if type(node) in NOTED:
                self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.ClassDef):
            self.classes.add(node.name)
            self.uses.update(map(id, node.bases))
            for method in node.body:
                if name := _self_name(method):
                    self._note_self(method, name)
        elif isinstance(node, ast.ImportFrom) and node.module in self.own:
            self.classes.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            self.modules.update(alias.asname or alias.name for alias in node.names if alias.name in self.own)
        elif isinstance(node, ast.Call):
            self.uses.add(id(node.func))
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name in ("isinstance", "issubclass", "super") and name not in self._binders:
                self.uses.update(id(part) for argument in node.args for part in self._only_named(argument))
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(annotation, ast.expr):
                self.uses.update(id(part) for part in self._only_named(annotation))

    def _only_named(self, node: ast.expr) -> list[ast.expr]:
        """Return the parts of an annotation, or of what `isinstance` is told, of which nobody gets hold there."""
        found = [node]
        for part in found:  # grows while it is read
            match part:
                case ast.Attribute(value=value) | ast.Starred(value=value):
                    found.append(value)
                case ast.Tuple(elts=parts) | ast.List(elts=parts):
                    found += parts
                case ast.BinOp(left=left, right=right) if self._is_known_kind(left) and self._is_known_kind(right):
                    found += [left, right]
                case ast.Subscript(value=ast.Name() as value, slice=index) if self._is_known_kind(value):
                    found += [value, index]  # of another what it is looked up in may be one's own
        return found

    def _is_known_kind(self, node: ast.expr) -> bool:
        """Return True for `None`, a name of Python's own or of `typing`, and a class of this very source."""
        if isinstance(node, ast.BinOp):
            return self._is_known_kind(node.left) and self._is_known_kind(node.right)
        if not isinstance(node, ast.Name):
            return isinstance(node, ast.Constant)
        is_own = node.id in self.classes and self._binders.get(node.id) == {ast.ClassDef}
        return is_own or node.id not in self._binders or self._is_imported(node.id, ("typing", "collections.abc"))

    def _is_imported(self, name: str, modules: Collection[str]) -> bool:
        """Return True for what imports alone bind, and one of these modules gives by its own name."""
        return self._binders.get(name) == {ast.alias} and not self._modules_of.get(name, set()).isdisjoint(modules)

    @cached_property
    def _modules_of(self) -> dict[str, set[str]]:
        """Return for each name that is imported as it is called the modules that it comes from."""
        found = defaultdict[str, set[str]](set)
        for node in (node for node in self.nodes if isinstance(node, ast.ImportFrom)):
            for alias in node.names:
                if alias.asname in (None, alias.name):
                    found[alias.name].add(node.module or "")
        return dict(found)

    def _note_self(self, method: ast.stmt, name: str) -> None:
        """Note the attributes of *name* in a method, and where it calls `__init__` and the like on that object."""
        for node in nodes_in(method):
            if isinstance(node, ast.Attribute) and _is_name(node.value, name):
                self.selves.add(id(node))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
                of = node.func.value
                of_super = isinstance(of, ast.Call) and _is_name(of.func, "super")
                if of_super or (node.args and _is_name(node.args[0], name)):
                    self.inits.add(id(node.func))

    @cached_property
    def made_for_self(self) -> set[str]:
        """Return the attributes to which nothing is ever bound but new objects of torch's classes."""
        if not all(self._is_plain(base) for node in self.nodes for base in getattr(node, "bases", ())):
            return set()  # a class of torch's may bind functions to attributes
        made = Counter(name for node in self.nodes for name in self._made_by(node))
        bound = Counter(part.attr for part in self.nodes if isinstance(part, ast.Attribute) and is_bound(part))
        return {name for name, times in bound.items() if made[name] == times and name not in self._binders}

    def _made_by(self, node: ast.AST) -> Iterator[str]:
        """Yield the attributes to which an assignment binds new objects."""
        targets: list[Any] = getattr(node, "targets", [getattr(node, "target", None)])
        value = getattr(node, "value", None)
        for target in targets if isinstance(node, ast.Assign | ast.AnnAssign) else ():
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(target.elts, value.elts, strict=False))
            for each, made in pairs:
                if isinstance(each, ast.Attribute) and isinstance(made, ast.Call) and self._is_of_torch(made.func):
                    yield each.attr

    def _is_of_torch(self, thing: ast.expr) -> bool:
        """Return True for a class such as `nn.Linear`, where imports alone bind `nn`, none of them from the learner."""
        root, name = root_name(thing), getattr(thing, "attr", getattr(thing, "id", ""))
        if isinstance(thing, ast.Name):
            return name[:1].isupper() and self._is_imported(name, OF_TORCH)
        own = self.classes | self.modules
        return name[:1].isupper() and self._binders.get(root) == {ast.alias} and root not in own

    def _is_plain(self, base: ast.expr) -> bool:
        """Return True for `nn.Module`, and for a class of this very source."""
        if isinstance(base, ast.Name) and self._binders.get(base.id) == {ast.ClassDef}:
            return True
        return self._is_of_torch(base) and getattr(base, "attr", getattr(base, "id", "")) == "Module"

    def _has_no_methods_in_c(self, base: ast.expr) -> bool:
        """Return True for a class of the learner's, a layer of torch's, `object` or an error."""
        name = base.id if isinstance(base, ast.Name) else getattr(base, "attr", "")
        if isinstance(base, ast.Name) and hasattr(builtins, name):
            thing = getattr(builtins, name)
            return thing is object or (isinstance(thing, type) and issubclass(thing, Exception))
        is_own = isinstance(base, ast.Name) and name in self.classes
        return is_own or (self._is_of_torch(base) and name not in NO_LAYERS)

    @cached_property
    def _binders(self) -> dict[str, set[type]]:
        """Return for each name the kinds of nodes that bind it."""
        found = defaultdict[str, set[type]](set)
        for node in self.nodes:
            for name in names_bound_by(node):
                found[name].add(type(node))
        return dict(found)

    def allows(self, node: ast.AST) -> bool:
        """Return True if the node itself, without what is in it, has no side effects."""
        match node:
            case ast.Import():
                return all(alias.name in MODULES or alias.name in self.own for alias in node.names)
            case ast.ImportFrom():
                return self._allows_from(node)
            case ast.Name():
                return self._allows_name(node)
            case ast.Attribute():
                return self._allows_attribute(node)
            case ast.ClassDef():
                return _is_plain_class(node) and all(map(self._has_no_methods_in_c, node.bases))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return not node.name.startswith("__") or node.name in METHODS
            case ast.alias():
                return not (node.asname or "").startswith("__")
            case ast.Global() | ast.Nonlocal():
                return not any(name.startswith("__") for name in node.names)
        return not isinstance(node, ast.MatchClass)

    def _allows_from(self, node: ast.ImportFrom) -> bool:
        module, names = node.module or "", {alias.name for alias in node.names}
        if node.level or "*" in names:
            return False
        if module in self.own or names <= FROM.get(module, set()):
            return True
        return module in MODULES and not any(map(_is_far_reaching, names))

    def _allows_name(self, node: ast.Name) -> bool:
        if node.id in self.classes:  # handed on, its methods could be called on other objects
            return id(node) in self.uses
        if node.id.startswith("__"):
            return node.id == "__all__" or (node.id in ("__name__", "__file__") and isinstance(node.ctx, ast.Load))
        return node.id in BUILTINS or not hasattr(builtins, node.id)

    def _allows_attribute(self, node: ast.Attribute) -> bool:
        name, owner = node.attr, node.value.id if isinstance(node.value, ast.Name) else ""
        if name.startswith("__"):
            return id(node) in self.inits
        if id(node) in self.selves:
            return name not in LEADING_ON  # a class in whatever hands has any object for its own
        if owner in self.modules:
            return id(node) in self.uses and isinstance(node.ctx, ast.Load)
        if is_bound(node):
            holder = node.value.attr if isinstance(node.value, ast.Attribute) and id(node.value) in self.selves else ""
            return name in TENSOR_ATTRIBUTES and holder in self.made_for_self
        return not _is_far_reaching(name)


def is_bound(node: ast.Attribute) -> bool:
    """Return True if the attribute is given a value, or deleted."""
    return not isinstance(node.ctx, ast.Load)


def _is_far_reaching(name: str) -> bool:
    """Return True if the name may be of what holds more than functions of tensors, or of a change to the process."""
    changes = name.startswith(STATE_CHANGING_PREFIXES) and name not in CHANGES_ONE_OBJECT
    leads_on = name.startswith("_") or name in HIDING_NAMES or name in KEPT_BY_TORCH
    return changes or leads_on or (name in _holders_inside() and name not in SAFE_SUBMODULES)


@cache
def _holders_inside() -> frozenset[str]:
    """Return the names under which allowed modules hold others, as `torch.library`, or dicts, as `np.typecodes`.

    Some are loaded only when they are asked for, so all in the folders of the modules count.
    """
    known = [*MODULES, *(f"{base}.{part}" for base in ("torch", "torch.nn", "numpy") for part in SAFE_SUBMODULES)]
    loaded = [sys.modules[name] for name in known if name in sys.modules]
    held = {name for module in loaded for name, thing in vars(module).items() if isinstance(thing, HOLDERS)}
    folders = [folder for module in loaded for folder in getattr(module, "__path__", ())]
    return frozenset(held | {found.name for found in pkgutil.iter_modules(folders)})


def _is_plain_class(node: ast.ClassDef) -> bool:
    """Return True if the methods of a class get only its own objects as `self`.

    No decorator and no metaclass gets hold of the class, and its body calls none of its methods by a bare name.
    """
    methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    outside = [part for statement in node.body for part in _definition_time_parts(statement)]
    inner = [part for piece in outside for part in nodes_in(piece)]
    named = {part.id for part in inner if isinstance(part, ast.Name)}
    shares = any(isinstance(part, ast.Global | ast.Nonlocal) for part in inner)  # a method is a function of all then
    return not (node.decorator_list or node.keywords or named & methods or shares)


def _definition_time_parts(statement: ast.stmt) -> list[ast.AST]:
    """Return the parts of a class's statement that run when the class is made."""
    if not isinstance(statement, ast.FunctionDef):
        return [statement]
    arguments = statement.args
    defaults = [default for default in (*arguments.defaults, *arguments.kw_defaults) if default is not None]
    return [*statement.decorator_list, *defaults]


def _self_name(method: ast.stmt) -> str:
    """Return a method's name for its own object; "" if the name could mean another object."""
    if not isinstance(method, ast.FunctionDef) or method.decorator_list:
        return ""
    first = (method.args.posonlyargs + method.args.args)[:1]
    once = first and sum(first[0].arg in names_bound_by(node) for node in nodes_in(method)) == 1
    return first[0].arg if once else ""


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
