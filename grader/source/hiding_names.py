"""The names with which a call can be hidden from a reader of the source, or from the call monitor."""

from __future__ import annotations

import ast
import contextlib
import importlib
import re
import sys
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

from grader.source.library_parts import imports_module, is_part, leads_into, unknown_part
from grader.worker.watch.hiding_words import HIDING_ATTRIBUTES, HIDING_NAMES, HIDING_PREFIXES, is_hiding

MAX_NAMES = 30  # with dots between them, aliases included
LONG_NAME = "a name of many parts"
TWO_MEANINGS = "a name with two meanings"
DATACLASS = "dataclass"
ITSELF = " itself"  # after the name of a module that is handed on: `f(torch)`
# fmt: off
LIBRARIES = frozenset({
    "torch", "numpy", "scipy", "sklearn", "jax", "flax", "tensorflow", "keras", "transformers", "xformers", "cupy",
})

# Functions of Python that run a text.
HIDING_CALLS = frozenset({"exec", "eval", "compile", "__import__"})
# What holds for a module or a name in it holds for all below. Of any module but the learner's, private names are too.
HIDING_PLACES = frozenset({
    "_thread", "_lsprof", "_xxsubinterpreters", "gc.garbage", "gc.set_debug", "sys.monitoring",
    "sys.modules", "sys.meta_path", "grader", "builtins", "ctypes", "_ctypes", "cffi", "runpy", "code", "codeop",
    "_pickle", "marshal", "pydoc", "pkgutil", "inspect.stack", "inspect.trace",
    "inspect.getouterframes", "inspect.getinnerframes", "traceback.walk_stack", "traceback.walk_tb", "torch.library",
    "torch.ops", "torch.classes", "torch.package", "torch.load", "torch.serialization",
})
# What runs a text, or follows names in one, or gives all names of any object, as `LambdaLR.state_dict` does. To import
# it alone does nothing: a learner may time and debug elsewhere.
RUNNING_TEXT = frozenset({
    "pickle",
    "unittest.mock",  # sets any name of any object
    "typing.get_type_hints", "typing.ForwardRef", "typing.TypedDict",
    "dataclasses.make_dataclass",
    "string.Formatter", "logging.config", "jinja2", "sympy", "numpy.load", "numpy.testing.rundocs",
    "numpy.testing.measure", "numpy.f2py", "torch.ao", "torch.export", "torch.fx", "torch.hub",
    "torch.jit.CompilationUnit", "torch.jit.load", "torch.multiprocessing", "torch.nativert", "torch.onnx",
    "torch.compile", "torch.optim.lr_scheduler", "torch.overrides", "torch.quantization", "torch.utils.benchmark",
    "torch.utils.bundled_inputs", "torch.utils.cpp_extension", "torch.utils.data.datapipes", "torch.utils.model_zoo",
    # look up in any object what they are told
    "torch.autograd.profiler", "torch.autograd.profiler_legacy", "torch.autograd.profiler_util",
    "torch.nn.utils.parametrizations", "torch.nn.utils.parametrize", "torch.nn.utils.prune",
    "torch.nn.utils.spectral_norm", "torch.nn.utils.stateless", "torch.nn.utils.weight_norm",
})
# Classes and functions in C at the top of torch that hold, read or run what its own compiler makes of a text, or change
# which operators are called.
OF_THE_COMPILER = frozenset(f"torch.{name}" for name in (
    "Block", "BufferDict", "Capsule", "Code", "CompilationUnit", "ConcreteModuleType", "ConcreteModuleTypeBuilder",
    "DeserializationStorageContext", "DisableTorchFunction", "DisableTorchFunctionSubclass", "ExcludeDispatchKeyGuard",
    "ExecutionPlan", "FileCheck", "Gradient", "Graph", "GraphExecutorState", "LiteScriptModule", "ModuleDict", "Node",
    "ParameterDict", "PyTorchFileReader", "PyTorchFileWriter", "ScriptClass", "ScriptClassFunction", "ScriptFunction",
    "ScriptMethod", "ScriptModule", "ScriptModuleSerializer", "ScriptObject", "ScriptObjectProperty",
    "SerializationStorageContext", "StaticModule", "ThroughputBenchmark", "TracingState", "fork", "import_ir_module",
    "import_ir_module_from_buffer", "parse_ir", "wait",
))
# Of the standard library, what a function may use without hiding anything. Of the rest nobody knows it all: much of it
# runs a text (timeit, pdb, doctest, idlelib ...) or leads to a frame.
HARMLESS = frozenset({
    "__future__", "abc", "array", "atexit", "base64", "binascii", "bisect", "cmath",
    "collections", "csv", "datetime", "decimal", "errno", "faulthandler", "fcntl", "fnmatch",
    "fractions", "gc.collect", "gc.disable", "glob", "hashlib", "heapq", "io", "itertools", "json",
    "locale", "math", "mmap", "ntpath", "numbers", "operator", "os", "pathlib", "platform", "posixpath",
    "queue", "random", "re", "resource", "select", "selectors", "shutil", "socket", "stat",
    "statistics", "string", "struct", "subprocess", "tempfile", "textwrap", "threading.Lock", "threading.RLock", "time",
    "timeit.default_timer", "traceback.format_exc", "traceback.format_exception", "traceback.format_exception_only",
    "traceback.print_exc", "traceback.print_exception", "types.GeneratorType", "types.MappingProxyType",
    "types.NoneType", "types.SimpleNamespace", "typing", "unicodedata", "urllib.parse", "uuid", "warnings",
    "weakref.WeakKeyDictionary", "weakref.WeakSet", "weakref.WeakValueDictionary", "zipfile", "zlib",
})
# Of modules in which something else takes any name of any object, or hands out the interpreter: these alone.
HARMLESS_OF = {
    "argparse": "Namespace",  # a worker has another one
    "ast": "literal_eval",
    "codecs": "BOM_UTF8 decode encode",
    "contextlib": "AbstractContextManager ContextDecorator ExitStack asynccontextmanager closing contextmanager "
    "nullcontext suppress",
    "copy": "Error copy deepcopy",  # its table of functions sets any name of any object
    "dataclasses": "FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field fields is_dataclass "
    "replace",
    "enum": "Enum Flag IntEnum IntFlag StrEnum auto member nonmember unique",
    "functools": "cache cached_property cmp_to_key lru_cache partial partialmethod reduce "
    "singledispatch singledispatchmethod total_ordering update_wrapper wraps",
    "html": "escape unescape",
    "inspect": "isawaitable isbuiltin isclass iscoroutinefunction isfunction isgenerator isgeneratorfunction ismethod",
    "logging": "CRITICAL DEBUG ERROR FATAL FileHandler Filter Formatter Handler INFO Logger LoggerAdapter NOTSET "
    "NullHandler StreamHandler WARN WARNING basicConfig captureWarnings critical debug disable error "
    "exception getLevelName getLogger info log warning",
    "pprint": "pformat pp pprint",
}
HARMLESS_OF_SYS = frozenset(f"sys.{name}" for name in (
    "argv", "base_prefix", "byteorder", "exc_info", "executable", "exit", "flags", "float_info", "float_repr_style",
    "getdefaultencoding", "getfilesystemencoding", "getrecursionlimit", "getrefcount", "getsizeof", "hash_info",
    "hexversion", "implementation", "int_info", "intern", "maxsize", "maxunicode", "path", "platform", "prefix", "ps1",
    "setrecursionlimit", "stderr", "stdin", "stdout", "version", "version_info", "warnoptions",
))
LOOKUPS = frozenset({"getattr", "__getattribute__", "__getattr__", "attrgetter", "methodcaller"})
MADE_OF_NAMES = frozenset({"attrgetter", "methodcaller"})
SETTERS = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
NAMES_BY_TEXT = frozenset({"vars", "globals", "__dict__"})
LISTS = frozenset({"dir", "vars"})
WRAPPING = frozenset({"wraps", "update_wrapper"})
ALL_NAMES = frozenset({"vars", "globals", "locals"})  # called without an argument
MAKING_TEXT = frozenset({"chr", "str", "bytes", "bytearray", "reversed", "sorted", "map", "list"})
# fmt: on

_USED_PLACES = HIDING_PLACES | RUNNING_TEXT | OF_THE_COMPILER
KNOWN_MODULES = LIBRARIES | sys.stdlib_module_names
_KNOWN_HARMLESS = HARMLESS | HARMLESS_OF_SYS
_KNOWN_HARMLESS |= {f"{module}.{name}" for module, names in HARMLESS_OF.items() for name in names.split()}
_HIDING_WORD = re.compile(rf"\b(?:(?:{'|'.join(sorted(HIDING_NAMES))})\b|(?:{'|'.join(HIDING_PREFIXES)})\w*)")
NAMED_IN_TEXT: dict[type[ast.AST], tuple[str, ...]] = {  # where a node has text that no node of its own stands for
    ast.Constant: ("value",),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler), ("name",)),
    **dict.fromkeys((ast.MatchAs, ast.MatchStar), ("name",)),
    **dict.fromkeys((ast.arg, ast.keyword), ("arg",)),
    **dict.fromkeys((ast.Global, ast.Nonlocal), ("names",)),
    ast.alias: ("asname",),
    ast.MatchMapping: ("rest",),
    ast.MatchClass: ("kwd_attrs",),
}


def hiding_word(node: ast.AST, attributes: Iterable[str]) -> str:
    """Return what of HIDING_NAMES stands in a node, in whatever role, or which of its *attributes* leads on, or "".

    A name need not be used as one: `case object(f_back=f)`, the name of a function, one of several words in a text.
    """
    if isinstance(node, ast.Attribute | ast.Name):
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        if is_hiding(name):
            return name
    for field in NAMED_IN_TEXT.get(type(node), ()):
        text = getattr(node, field)
        text = " ".join(text) if isinstance(text, list) else text.decode("latin-1") if isinstance(text, bytes) else text
        if isinstance(text, str) and (found := _HIDING_WORD.search(text)):
            return found[0]
    return next((name for name in attributes if name in HIDING_ATTRIBUTES), "")


def hiding_place(path: str, places: Collection[str] = HIDING_PLACES) -> str:
    """Return as much of a dotted name as names a hiding place, or ""."""
    if path in (LONG_NAME, TWO_MEANINGS):
        return path
    parts = path.split(".")
    for end, part in enumerate(parts, 1):
        place = ".".join(parts[:end])
        private = end > 1 and part.startswith("_") and not part.endswith("__") and parts[0] in KNOWN_MODULES
        private = private and place != "os._exit"  # which ends the process, and that is seen
        if private or place in places or is_hiding(part) or (part == "sys" and end > 1):
            return place
    return ""


@lru_cache(maxsize=512)  # the same few dozen names stand in every answer; one may be as long as a source
def used_place(path: str) -> str:
    """Return as much of a dotted name that code uses as names a hiding place, or all if nobody knows, or ""."""
    path = re.sub(r"^typing_extensions\.", "typing.", path)
    own = _path_of_its_own(path)
    if place := hiding_place(path, _USED_PLACES) or hiding_place(own, _USED_PLACES):
        return place
    parts = own.split(".")
    if parts[0] not in sys.stdlib_module_names:
        return unknown_part(own)
    if own in HARMLESS_OF:  # by itself, in whatever hands: see `is_module`
        return ""
    return "" if leads_into(own, _KNOWN_HARMLESS) else own


def _path_of_its_own(path: str) -> str:
    """Return a dotted name as the last module in it is called: `builtins.exec` for `enum.bltns.exec`.

    Of what is not imported here, only a harmless module is.
    """
    first, *parts = path.split(".")
    module = sys.modules.get(first)
    if module is None and parts and (first in HARMLESS or first in HARMLESS_OF):
        with contextlib.suppress(ImportError):  # of another system
            module = importlib.import_module(first)
    while parts and isinstance(found := vars(module).get(parts[0]) if module else None, ModuleType):
        module, first = found, found.__name__
        del parts[0]
    return _led_back(first, parts) or ".".join([first, *parts])


def _led_back(first: str, parts: list[str]) -> str:
    """Return the path of what a part of a library that is not imported here has of others: `torch.jit`, or ""."""
    for end, name in enumerate(parts):
        part = ".".join([first, *parts[:end]])
        if not is_part(f"{part}.{name}"):
            leads_on = name in KNOWN_MODULES and part not in sys.modules and imports_module(part, name)
            return _path_of_its_own(".".join(parts[end:])) if leads_on else ""
    return ""


def is_module(path: str) -> bool:
    """Return True for the dotted name of a module of the standard library, or of a library that is installed."""
    own = _path_of_its_own(path)
    return (own in sys.modules or is_part(own)) and not _is_hidden_by_a_function(own)


def _is_hidden_by_a_function(path: str) -> bool:
    """Return True for what has a module's name and is something else: `torch.autograd.gradcheck`."""
    above, _, name = path.rpartition(".")
    found = vars(sys.modules[above]).get(name) if above in sys.modules else None
    return found is not None and not isinstance(found, ModuleType)


def used_of_all(module: str) -> dict[str, str]:
    """Return what is no harmless name of those that `from module import *` gives, and where each comes from."""
    found: Mapping[str, Any] = {}
    if module in HARMLESS or module in HARMLESS_OF:
        with contextlib.suppress(ImportError):  # a function's name, as in `from gc.collect import *`
            found = vars(importlib.import_module(module))
    names = found.get("__all__", [name for name in found if not name.startswith("_")])
    return {name: f"{module}.{name}" for name in names if used_place(f"{module}.{name}")}


def names_in_other_hands(node: ast.AST, called: set[int], bound: Collection[str]) -> bool:
    """Return True for `globals` as a value; `vars` may be a variable, where one is *bound*."""
    is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in ALL_NAMES
    return is_read and id(node) not in called and not (last_name(node) == "vars" and "vars" in bound)


def takes_names_away(node: ast.AST) -> bool:
    """Return True for `del eval`, and for what could do that: then Python's own is what the name means."""
    if isinstance(node, ast.ExceptHandler):
        return node.name in HIDING_CALLS  # it is deleted where the handler ends
    return isinstance(node, ast.Name) and (isinstance(node.ctx, ast.Del) or node.id in ALL_NAMES)


def may_rebind(node: ast.AST) -> bool:
    """Return True for what could give any name of a module, Python's own too, another meaning.

    A worker lets nobody set what a module has by `setattr`, and gives its dictionary to none but itself.
    """
    return isinstance(node, ast.Name | ast.Attribute) and last_name(node) in ALL_NAMES


def harmless_nodes(nodes: Iterable[ast.AST]) -> set[int]:
    """Return nodes that only lead to another, `sys` of `sys.path`, and what is only looked into: `x in sys.modules`."""
    found = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            found.add(id(node.comparators[0]))
    return found


def looked_up_names(lookup: ast.Call, name: str) -> list[ast.expr]:
    """Return the arguments of a lookup that are names."""
    if name == "attrgetter":
        return lookup.args
    return lookup.args[:1] if name == "methodcaller" else lookup.args[:2][-1:]


def lookups_used_at_once(nodes: Iterable[ast.AST]) -> set[int]:
    """Return where `attrgetter("x")` is called, or handed to what calls it alone: of its class others can be made."""
    found = set()
    for node in nodes:
        match node:
            case ast.Call(func=made, args=given):
                found |= {id(made), *(id(word.value) for word in node.keywords if word.arg == "key")}
                if isinstance(made, ast.Name) and made.id in ("map", "filter") and given:
                    found.add(id(given[0]))
    return found


def named_lookups(nodes: Iterable[ast.AST]) -> set[int]:
    """Return what one name is looked up in that stands there: `vars(torch)` in `vars(torch)["exp"]`."""
    found = set()
    for node in nodes:
        match node:
            case ast.Subscript(value=names, slice=key) if text_of(key):
                found.add(id(names))
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[names]) if text_of(key):
                found.add(id(names))
    return found


def modules_only_named(nodes: Iterable[ast.AST], of_classes: Collection[int]) -> set[int]:
    """Return what leads to one name of a module, or gives it another: `getattr(torch, "exp")`, `F = torch.nn`.

    The statements *of classes* give a name that is in whatever hands: `A.F`.
    """
    found = set(looked_into(nodes))
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name()], value=value) if id(node) not in of_classes:
                found.add(id(value))
            case ast.Subscript(value=ast.Call(args=[thing])) if last_name(node.value) == "vars" and text_of(node.slice):
                found.add(id(thing))
    return found


def looked_into(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Yield of what one name is looked up that stands there, by `getattr` or `hasattr`."""
    for node in nodes:
        match node:
            case ast.Call(args=[thing, name, *_]) if last_name(node) in ("getattr", "hasattr") and text_of(name):
                yield id(thing)


def looked_up_in(node: ast.AST) -> tuple[ast.expr, str] | None:
    """Return the object and the name of `getattr(thing, "name")` and `thing.__getattr__("name")`; "?" for no text."""
    match node:
        case ast.Call(args=[thing, name, *_]) if last_name(node) == "getattr":
            return thing, _name_in(name)
        case ast.Call(func=ast.Attribute(attr="__getattr__" | "__getattribute__", value=thing), args=[name]):
            return thing, _name_in(name)
    return None


def _name_in(node: ast.AST) -> str:
    """Return the name that a text is; "?" for any other text, which no path may hold, and for what is no text."""
    text = text_of(node)
    return text if text and text.isidentifier() else "?"


def lists_all_names(parts: Iterable[ast.AST], local: Container[int]) -> bool:
    """Return True for `globals()` and the like, unless a text takes one name of it; *local* are a function's own."""
    calls = {id(a) for a in parts if isinstance(a, ast.Call) and not a.args and last_name(a) in ALL_NAMES}
    calls -= {id(a) for a in parts if isinstance(a, ast.Call) and id(a.func) in local}
    return bool(calls - {id(each.value) for each in parts if isinstance(each, ast.Subscript) and text_of(each.slice)})


def name_in_quotes(node: ast.AST) -> str | None:
    """Return what is looked up by name: `getattr(torch, "exp")`, `vars(torch)["exp"]`, `torch.__dict__["exp"]`."""
    if isinstance(node, ast.Subscript):
        return text_of(node.slice) if last_name(node.value) in NAMES_BY_TEXT else None
    if isinstance(node, ast.Call) and last_name(node) in LOOKUPS:
        return next((text.rpartition(".")[2] for argument in node.args if (text := text_of(argument))), None)
    return None


def last_name(node: ast.AST) -> str:
    """Return `f` for `f`, `a.f` and `a.f(...)`."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def text_of(node: ast.AST) -> str | None:
    """Return a text that stands in the source."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
