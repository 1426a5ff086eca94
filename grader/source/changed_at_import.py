"""What the statements of a module put into objects while it is imported: `WAYS["fast"] = f`, `WAYS.append(f)`, `@add`.

Who uses the object can call what was put into it, as if it had used the statement.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Iterable, Iterator

from grader.source.hiding_names import LIBRARIES
from grader.source.parse import nodes_in
from grader.source.scopes import Definition, root_name

OF_TENSORS = frozenset({"data", "grad", "requires_grad"})
SHOWN = ("__name__", "__doc__")  # of a function, when it is tried
SETTINGS = "torch.backends"  # flags, and no functions
FILLING = frozenset({"append", "extend", "insert", "setdefault", "update"})  # of a library's own lists: `a.b.append`
ANYTHING = "*"  # in place of an object's name: which ones a function changes was not followed to the end
Path = Callable[[ast.AST], str]  # the dotted name of what was imported
Change = tuple[ast.AST, str]


class Changes:
    """The statements of a module that put something into an object, by the object's name."""

    def __init__(
        self, nodes: Iterable[ast.AST], path_of: Path, functions: Collection[str], own: frozenset[str]
    ) -> None:
        """Begin with none; *own* are the functions and classes of the module, *nodes* all that it has."""
        self._path_of, self._own = path_of, own
        # functions in which nothing is put
        self._fixed = frozenset() if _uses_attributes(nodes, functions) else frozenset(functions)
        self._found: dict[str, list[Change]] = {}
        self._calling: list[ast.AST] = []  # statements that call or decorate
        self._together: list[list[str]] = []  # names that one assignment binds: `put, get = make()`

    def note(self, node: ast.AST, parts: list[ast.AST], bound: list[str]) -> None:
        """Note a statement, its nodes, and the names that it binds."""
        if isinstance(node, ast.Assign) and len(bound) > 1:
            self._together.append(bound)
        for name in set(changed_roots(parts, self._path_of, self._own)) - self._fixed:
            self._found.setdefault(name, []).append((node, ""))
        if isinstance(node, Definition) or any(isinstance(part, ast.Call) for part in parts):
            self._calling.append(node)

    def finish(self, variables_of: Callable[[str], set[str]]) -> None:
        """Note for each variable what is called, or defined, with the help of a function that uses it."""
        used: dict[str, set[str]] = {}
        for node in self._calling if self._own else ():
            for callee in own_callees(node) & self._own:
                used[callee] = used[callee] if callee in used else variables_of(callee)
                for name in used[callee]:
                    self._found.setdefault(name, []).append((node, callee))
        for together in self._together:
            shared = [each for name in together for each in self._found.get(name, ())]
            self._found.update(dict.fromkeys(together, shared) if shared else {})

    def of(self, name: str) -> list[Change]:
        """Return the statements, each with the module's own function through which it changes the object, or ""."""
        return [*self._found.get(name, ()), *self._found.get(ANYTHING, ())] if name else []


def changed_roots(parts: Iterable[ast.AST], path_of: Path, own: Collection[str]) -> Iterator[str]:
    """Yield the names of objects that a statement changes, or hands to what may change them; *parts* are its nodes.

    To call one's *own* functions and classes changes none of these. Python's own functions and a library's change none
    of their arguments: `print(torch.exp(x))`.
    """
    for part in parts:
        if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
            yield root_name(part, through_calls=True)
        elif isinstance(part, ast.Call):
            yield from _changed_by_call(part, path_of, own)


def _changed_by_call(call: ast.Call, path_of: Path, own: Collection[str]) -> Iterator[str]:
    is_known = path_of(call.func) or (isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id))
    root = "" if is_known else root_name(call.func, through_calls=True)
    if root and not (isinstance(call.func, ast.Name) and root in own):
        # what one's own function returns is seen where it is called, and `torch.exp(x)` is new
        is_new = not root_name(call.func) and (root in own or path_of(ast.Name(root)).partition(".")[0] in LIBRARIES)
        yield from () if is_new else (root,)
    if not is_known or (isinstance(call.func, ast.Name) and call.func.id in ("setattr", "delattr")):
        given = nodes_in(*call.args, *(keyword.value for keyword in call.keywords))
        called = {id(part.func) for part in given if isinstance(part, ast.Call)}  # what it returns is handed over
        names = (part for part in given if isinstance(part, ast.Name) and id(part) not in called)
        yield from (name.id for name in names if not path_of(name))  # `f(torch.ones(3))` hands over no module


def _uses_attributes(nodes: Iterable[ast.AST], functions: Collection[str]) -> bool:
    """Return True for a module that gives attributes to what may be a function, or reads one of its own: `f.ways`."""
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(name), attr=attr) if name in functions and attr not in SHOWN:
                return True
            case ast.Attribute(value=ast.Name(name), attr=attr, ctx=ast.Store() | ast.Del()):
                if name not in ("self", "cls") and attr not in OF_TENSORS:
                    return True
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Attribute(attr="__dict__" | "__setattr__"):
                return True
            case (
                ast.Name("setattr" | "vars" | "wraps" | "update_wrapper")
                | ast.Attribute(attr="wraps" | "update_wrapper")
            ):
                return True
    return False


def own_callees(statement: ast.AST) -> set[str]:
    """Return the names by themselves that a statement calls, or that decorate what it defines."""
    if isinstance(statement, Definition):
        return {root_name(each, through_calls=True) for each in statement.decorator_list} - {""}
    return {
        part.func.id for part in nodes_in(statement) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)
    }


def changes_a_module(
    nodes: Collection[ast.AST], paths: dict[str, str], own_modules: Iterable[str], path_of: Path
) -> bool:
    """Return True where code gives a module another function: `torch.exp = mine`. So any name may mean anything."""
    known = {*paths, *own_modules}
    changed = (
        node for node in nodes
        if (isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Attribute) and node.attr in FILLING and path_of(node))
    )  # fmt: skip
    return any(root_name(node) in known and not _is_setting(node, nodes, path_of) for node in changed)


def _is_setting(node: ast.Attribute | ast.Subscript, nodes: Collection[ast.AST], path_of: Path) -> bool:
    """Return True for a flag, `os.environ["A"] = "1"`, which holds texts alone, and `sys.path.append("..")`."""
    if path_of(node).startswith(SETTINGS):
        return True
    is_put_in = isinstance(node, ast.Subscript) or (node.attr in FILLING and isinstance(node.ctx, ast.Load))
    holder = path_of(node.value) if is_put_in else ""
    return holder == "os.environ" or (holder == "sys.path" and _is_only_filled(nodes, path_of))


def _is_only_filled(nodes: Collection[ast.AST], path_of: Path) -> bool:
    """Return True where nothing but Python itself reads what is in `sys.path`."""
    fine: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and (node.attr in FILLING or path_of(node.value) == "sys"):
            fine.add(id(node.value))
        elif isinstance(node, ast.Compare):  # `if ".." not in sys.path`
            fine |= {id(each) for each in node.comparators}
    used = (node for node in nodes if isinstance(node, ast.Attribute | ast.Name))
    return all(id(node) in fine or path_of(node) not in ("sys", "sys.path") for node in used)
