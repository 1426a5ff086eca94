"""Decide whether a source changes nothing but its own objects: then its process may serve the learner's next lesson.

Allowed is the small part of Python in which honest answers are written: a few imports, attributes set on objects of
one's own, nothing that reaches into the interpreter or changes what torch holds for all. Any other source is graded in
a fresh worker; that costs one fork.

This is for the sake of the honest: who wants to leave something behind finds a way. It can only be what the next
lesson's file could import from this one as well, since where calls are forbidden both are watched
(`grader.judge.processes.worker_pool`).
"""

from __future__ import annotations

import ast
import builtins
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress
from functools import cache, cached_property, lru_cache
from types import ModuleType

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
# Beginnings of names that change global state: `set_default_dtype`, `register_module_forward_hook`.
STATE_SETTING_PREFIXES = ("set", "use_", "register", "manual_seed", "seed")
STATE_CHANGING_PREFIXES = (*STATE_SETTING_PREFIXES, "compile", "load", "import")
HOLDERS = (ModuleType, dict, list, set)
CHANGES_ONE_OBJECT = frozenset({"load_state_dict"})
VARIABLES = frozenset({ast.arg, ast.Name})
MAX_NODES = 20_000  # exercises have a few hundred


def has_no_side_effects(sources: Collection[str], own: Collection[str]) -> bool:
    """Return True if no source has side effects; *own* are the names under which they may import each other."""
    with suppress(Exception):  # of a source that this does not get through nothing is known
        return all(_has_no_side_effects(source, frozenset(own)) for source in sources)
    return False


@lru_cache(maxsize=64)
def _has_no_side_effects(source: str, own: frozenset[str]) -> bool:
    try:
        _, body = parse_what_runs(source)
    except SyntaxError as error:
        return not isinstance(error, TooDeep | TooLarge)  # else it never runs
    nodes = nodes_in(*body)
    analysis = _Analysis(nodes, own)
    return len(nodes) <= MAX_NODES and all(map(analysis.allows, nodes))


class _Analysis:
    """One source, of which each node is asked whether it may stand there."""

    def __init__(self, nodes: Collection[ast.AST], own: frozenset[str]) -> None:
        self.nodes, self.own = nodes, own

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
                return _allows_name(node)
            case ast.Attribute():
                return self._allows_attribute(node)
            case ast.ClassDef():
                return not node.keywords  # no metaclass
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return not node.name.startswith("__") or node.name in METHODS
            case ast.alias():
                return not (node.asname or "").startswith("__")
            case ast.Global() | ast.Nonlocal():
                return not any(name.startswith("__") for name in node.names)
        return True

    def _allows_from(self, node: ast.ImportFrom) -> bool:
        module, names = node.module or "", {alias.name for alias in node.names}
        if node.level or "*" in names:
            return False
        if module in self.own or names <= FROM.get(module, set()):
            return True
        return module in MODULES and not any(map(_is_far_reaching, names))

    def _allows_attribute(self, node: ast.Attribute) -> bool:
        name = node.attr
        if name.startswith("__"):
            return name in METHODS and isinstance(node.ctx, ast.Load)  # `super().__init__`
        if not isinstance(node.ctx, ast.Load):  # a parameter or a variable has it, and nothing that was imported
            return self._binders.get(root_name(node), {ast.alias}) <= VARIABLES and name not in LEADING_ON
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return name not in LEADING_ON if is_own else not _is_far_reaching(name)


def _allows_name(node: ast.Name) -> bool:
    if node.id.startswith("__"):
        return node.id == "__all__" or (node.id in ("__name__", "__file__") and isinstance(node.ctx, ast.Load))
    return node.id in BUILTINS or not hasattr(builtins, node.id)


def _is_far_reaching(name: str) -> bool:
    """Return True if the name may be of what holds more than functions of tensors, or of a change to the process."""
    changes = name.startswith(STATE_CHANGING_PREFIXES) and name not in CHANGES_ONE_OBJECT
    leads_on = name.startswith("_") or name in HIDING_NAMES
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
