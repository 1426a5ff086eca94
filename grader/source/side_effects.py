"""Whether a source can change nothing but its own: then its process may serve the same learner's next lesson too.

What a lesson leaves behind in a process could help the next one: functions of torch exchanged for others, our own watch
switched off, a thread that goes on answering. The process itself cannot be asked, for it is the learner's. So the
source is read here, by the judge. Tame is the small part of Python in which honest answers are written: a few imports,
attributes set on `self` and nowhere else, nothing that reaches into the interpreter or changes what is the same for
all. Whatever else a learner writes is judged as well, and costs one fork more.
"""

from __future__ import annotations

import ast
import builtins
import pkgutil
import sys
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from types import ModuleType

from grader.source.parse import nodes_in, parse
from grader.source.scopes import names_bound_by

MODULES = frozenset({
    "__future__", "collections.abc", "itertools", "math", "numpy", "torch", "torch.nn", "torch.nn.functional",
    "torch.nn.init", "torch.optim",
})  # fmt: skip
FROM = {
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"},
    "functools": {"cache", "lru_cache", "partial", "reduce"},
    "typing": {"Any", "Callable", "Dict", "Iterable", "Iterator", "List", "Optional", "Sequence", "Tuple", "Union"},
    "torch": {"nn", "optim"},
    "torch.nn": {"functional", "init"},
}
# Modules that may be reached by a dot, and hold none but themselves and those that are refused.
PARTS = frozenset({"nn", "functional", "init", "optim", "linalg", "special", "fft", "random", "cpu", "cuda", "grad"})

BUILTINS = frozenset({
    "abs", "all", "any", "bool", "bytes", "callable", "chr", "complex", "dict", "dir", "divmod", "enumerate", "filter",
    "float", "format", "frozenset", "hasattr", "hash", "id", "input", "int", "isinstance", "issubclass", "iter", "len",
    "list", "map", "max", "min", "next", "object", "ord", "pow", "print", "property", "range", "repr", "reversed",
    "round", "set", "slice", "sorted", "staticmethod", "str", "sum", "super", "tuple", "zip", "Ellipsis",
    "NotImplemented",
}) | {
    name for name, thing in vars(builtins).items() if isinstance(thing, type) and issubclass(thing, Exception)
}  # fmt: skip
METHODS = frozenset({"__init__", "__call__", "__len__", "__getitem__", "__iter__", "__repr__"})

# Set on a tensor by name, as training does. On a class it would be seen: the worker looks at those of tensors.
OF_TENSORS = frozenset({"grad", "data", "requires_grad"})
# Beginnings of names that change what is the same for all: `set_default_dtype`, `register_module_forward_hook`.
CHANGES = ("set", "use_", "register", "manual_seed", "seed", "compile", "load", "import")
OF_ONE_OBJECT = frozenset({"load_state_dict"})


def has_no_side_effects(sources: Collection[str], own: Collection[str]) -> bool:
    """Whether all of these sources are tame. `own`: the names under which they may import each other."""
    return all(_has_no_side_effects(source, frozenset(own)) for source in sources)


@lru_cache(maxsize=64)
def _has_no_side_effects(source: str, own: frozenset[str]) -> bool:
    try:
        tree = parse(source)
    except SyntaxError:
        return True  # it never runs
    reading = _Reading([node for node in tree.body if not is_main_guard(node)], own)
    return all(reading.allows(node) for node in reading.nodes if type(node) in JUDGED)


def is_main_guard(node: ast.stmt) -> bool:
    """Whether a statement is `if __name__ == "__main__":` without an `else`, which no worker runs."""
    test = node.test if isinstance(node, ast.If) and not node.orelse else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = [test.left, test.comparators[0]]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    return names == ["__name__"] and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)


# The kinds of nodes that `_note` and `allows` look at: most are of no such kind, and a source has thousands.
DEFINITIONS = frozenset({ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom})
NOTED = DEFINITIONS | {ast.Call, ast.arg, ast.AnnAssign}
JUDGED = DEFINITIONS | {ast.Name, ast.Attribute, ast.alias, ast.Global, ast.Nonlocal, ast.MatchClass}


class _Reading:
    """One source, and the places in it where more is allowed than elsewhere."""

    def __init__(self, body: list[ast.stmt], own: frozenset[str]) -> None:
        self.own = own
        self.nodes = nodes_in(*body)
        self.classes: set[str] = set()  # names of classes: of this source, and perhaps of the learner's other ones
        self.modules: set[str] = set()  # names of the learner's other modules
        self.uses: set[int] = set()  # where a class may stand: called, derived from, asked for, annotated
        self.selves: set[int] = set()  # attributes of a method's own object
        self.inits: set[int] = set()  # what makes such an object: `super().__init__`, `nn.Module.__init__(self)`
        for node in self.nodes:
            if type(node) in NOTED:
                self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.ClassDef):
            self.classes.add(node.name)
            self.uses.update(map(id, node.bases))
            for method in node.body:
                self.selves.update(map(id, _of_self(method)))
                self.inits.update(map(id, _inits(method)))
        elif isinstance(node, ast.ImportFrom) and node.module in self.own:
            self.classes.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            self.modules.update(alias.asname or alias.name for alias in node.names if alias.name in self.own)
        elif isinstance(node, ast.Call):
            self.uses.add(id(node.func))
            if isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass", "super"):
                self.uses.update(id(part) for argument in node.args for part in nodes_in(argument))
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(annotation, ast.AST):
                self.uses.update(id(part) for part in nodes_in(annotation))

    def allows(self, node: ast.AST) -> bool:
        """Whether a node is tame, whatever is inside of it."""
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
                return _is_plain_class(node)
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
        return module in MODULES and not any(map(_reaches_far, names))

    def _allows_name(self, node: ast.Name) -> bool:
        if node.id in self.classes:  # handed on, its methods could be called on what is no object of it
            return id(node) in self.uses
        if node.id.startswith("__"):
            return node.id == "__all__" or (node.id in ("__name__", "__file__") and isinstance(node.ctx, ast.Load))
        return node.id in BUILTINS or not hasattr(builtins, node.id)

    def _allows_attribute(self, node: ast.Attribute) -> bool:
        name, owner = node.attr, node.value.id if isinstance(node.value, ast.Name) else ""
        if name.startswith("__"):
            return id(node) in self.inits
        if id(node) in self.selves:
            return True
        if owner in self.modules:
            return id(node) in self.uses and isinstance(node.ctx, ast.Load)
        if not isinstance(node.ctx, ast.Load):
            return bool(owner) and name in OF_TENSORS
        return not _reaches_far(name)


def _reaches_far(name: str) -> bool:
    """Whether what has this name may be a module that holds more than functions of tensors, or change the process."""
    changes = name.startswith(CHANGES) and name not in OF_ONE_OBJECT
    return changes or name.startswith("_") or (name in _modules_inside() and name not in PARTS)


@cache
def _modules_inside() -> frozenset[str]:
    """The names under which the modules that may be used hold other modules: `torch.library`, `torch.sys`; and, as some
    are only loaded when they are asked for, those of all that lie in their folders."""
    known = [*MODULES, *(f"{base}.{part}" for base in ("torch", "torch.nn", "numpy") for part in PARTS)]
    loaded = [sys.modules[name] for name in known if name in sys.modules]
    held = {name for module in loaded for name, thing in vars(module).items() if isinstance(thing, ModuleType)}
    return frozenset(held.union(*(_in_folder(module) for module in loaded)))


def _in_folder(module: ModuleType) -> set[str]:
    return {found.name for found in pkgutil.iter_modules(getattr(module, "__path__", ()))}


def _is_plain_class(node: ast.ClassDef) -> bool:
    """Whether nothing but objects of it can be given to its methods as `self`: no decorator and no metaclass gets hold
    of the class, and nothing in its body calls one of its methods by its bare name."""
    methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    loose = [part for part in node.body if not isinstance(part, ast.FunctionDef)]
    outside = [
        *loose,
        *(part for method in node.body if isinstance(method, ast.FunctionDef) for part in _heads(method)),
    ]
    named = {part.id for piece in outside for part in nodes_in(piece) if isinstance(part, ast.Name)}
    return not (node.decorator_list or node.keywords or named & methods)


def _heads(method: ast.FunctionDef) -> list[ast.AST]:
    """What of a method is run when its class is made."""
    given = [default for default in (*method.args.defaults, *method.args.kw_defaults) if default is not None]
    return [*method.decorator_list, *given]


def _self_of(method: ast.stmt) -> str:
    """The name that a method has for the object of its class that it is called with; empty if it could be another."""
    if not isinstance(method, ast.FunctionDef) or method.decorator_list:
        return ""
    first = (method.args.posonlyargs + method.args.args)[:1]
    once = first and sum(first[0].arg in names_bound_by(node) for node in nodes_in(method)) == 1
    return first[0].arg if once else ""


def _of_self(method: ast.stmt) -> Iterator[ast.AST]:
    """The attributes of `self` in a method."""
    name = _self_of(method)
    for node in nodes_in(method) if name else ():
        if isinstance(node, ast.Attribute) and _is_name(node.value, name):
            yield node


def _inits(method: ast.stmt) -> Iterator[ast.AST]:
    """Where a method calls `__init__` and the like of its own object's classes, and of no other object's."""
    name = _self_of(method)
    for node in nodes_in(method) if name else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            of = node.func.value
            if (isinstance(of, ast.Call) and _is_name(of.func, "super")) or (
                node.args and _is_name(node.args[0], name)
            ):
                yield node.func


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
