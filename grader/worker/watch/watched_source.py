"""A module whose expressions can be watched: compiled with a hook round each one inside its functions.

The hook notes what the expression gives, or puts another value in its place. So one sees on which line a function goes
wrong, and can try what would be right there. Worker and judge number the expressions of a source alike, so a number
says where an expression stands, and no text of a worker's has to be believed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from grader.worker.arrays import pack
from grader.worker.main_guard import disarm_main_guard
from grader.worker.wire import REQUEST, Opaque

HOOK = "__watched_value__"
MAX_PLACES = 2_000  # of a source; further expressions are left as they are
MAX_EVENTS = 600
MAX_VALUE_BYTES = 16 << 10
MAX_TRACE_BYTES = 512 << 10
MAX_PARTS = 16  # of a list or tuple
HOOKED = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.Name, ast.IfExp)
RETURN = "return"  # in place of a variable's name
AFTER = "after"  # the kind of a place that shows a variable after a statement changed it
WHOLE = -1  # the part of a value that is all of it

Event = list[Any]  # number of the place, number of the object (0 for a number), part, value (None: as it was)


@dataclass(frozen=True)
class Place:
    """Where an expression stands in a source.

    Attributes:
        kind: The class of its node, or `AFTER`.
        span: First line and column, last line and column; columns are in bytes.
        parent: The number of the expression that uses it, -1 for none.
        names: The variables that its statement assigns it to.
        name: Of a variable, an attribute, or the function that is called.
        tests: The numbers of the expressions on which it depends whether this one is reached.
        is_conditional: It stands under an `if`.
    """

    kind: str
    span: tuple[int, int, int, int]
    statement: int
    function: str
    parent: int = -1
    names: tuple[str, ...] = ()
    tests: tuple[int, ...] = ()
    name: str = ""
    is_conditional: bool = False

    @property
    def line(self) -> int:
        """The line on which it begins."""
        return self.span[0]


def hook_expressions(source: str) -> tuple[ast.Module, list[Place]]:
    """Parse a source and put the hook round the expressions that may run; return the places by their numbers."""
    tree = ast.parse(source)
    disarm_main_guard(tree, source)  # before there is more in it than its author has written
    hooker = _Hooker()
    hooked = hooker.visit(tree)
    return ast.fix_missing_locations(hooked), hooker.places


class Watcher:
    """The hook: notes values while a call is watched, or gives other values in their place."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = places
        self._begin(False, -1, ())

    def watch(self) -> None:
        """Note values from now on."""
        self._begin(True, -1, ())

    def exchange(self, number: int, values: Sequence[Any]) -> None:
        """Give these values in place of the first ones of an expression from now on."""
        self._begin(False, number, values)

    def take(self) -> list[Event]:
        """Return what was noted, and stop."""
        events = self._events
        self._begin(False, -1, ())
        return events

    def _begin(self, noting: bool, exchanged: int, values: Sequence[Any]) -> None:
        self._noting, self._exchanged, self._values = noting, exchanged, values
        self._passes = 0
        self._events: list[Event] = []
        self._objects: dict[int, tuple[int, Any]] = {}  # by `id`; kept alive, so that no other gets that
        self._bytes = MAX_TRACE_BYTES

    def __call__(self, number: int, value: Any) -> Any:
        if number == self._exchanged and self._passes < len(self._values):
            self._passes += 1
            return _with_gradient_of(value, self._values[self._passes - 1])
        if self._noting:
            self._note(number, value)
        return value

    def _note(self, number: int, value: Any) -> None:
        if type(value) in (bool, int, float):
            self._add(number, 0, WHOLE, value)
        elif value is None and self.places[number].kind == "Name":
            self._add(number, 0, WHOLE, Opaque("NoneType", ""))
        elif type(value) in (list, tuple):
            for part, item in enumerate(value[:MAX_PARTS]):
                self._note_object(number, part, item)
            if type(value) is list and value and not any(hasattr(item, "dtype") for item in value):
                self._add(number, 0, WHOLE, Opaque("list", ""))  # of what it was made is not seen
        else:
            self._note_object(number, WHOLE, value)

    def _note_object(self, number: int, part: int, value: Any) -> None:
        torch: Any = sys.modules.get("torch")
        is_module = torch is not None and isinstance(value, torch.nn.Module)
        if not (is_module or (hasattr(value, "dtype") and hasattr(value, "shape"))):
            return
        known = id(value) in self._objects
        made, _ = self._objects.setdefault(id(value), (len(self._objects) + 1, value))
        if known and (self.places[number].kind == "Name" or part != WHOLE):
            self._add(number, made, part, None)
            return
        try:
            packed = pack(value, replace(REQUEST, body=min(MAX_VALUE_BYTES, self._bytes)))
        except Exception:  # a learner's own class may do anything
            packed = Opaque(type(value).__name__, "")
        self._bytes -= len(getattr(packed, "data", b""))
        self._add(number, made, part, packed)

    def _add(self, *event: Any) -> None:
        if len(self._events) < MAX_EVENTS:
            self._events.append(list(event))


def _with_gradient_of(value: Any, other: Any) -> Any:
    """Return what takes a value's place; a gradient can flow to it if one could before."""
    takes = getattr(value, "requires_grad", False) is True and other.is_floating_point()
    return other.requires_grad_(True).clone() if takes else other


class _Hooker(ast.NodeTransformer):
    """Puts the hook round expressions, and behind statements that change a variable in place."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self._class, self._function, self._locals = "", "", frozenset[str]()
        self._statement, self._parent = 0, -1
        self._tests: tuple[int, ...] = ()
        self._names: tuple[str, ...] = ()
        self._ifs = 0

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt):
            self._statement, self._parent, self._names = node.lineno, -1, ()
        is_read = isinstance(node, HOOKED) and isinstance(getattr(node, "ctx", None), ast.Load | None)
        hooked = is_read and self._function and len(self.places) < MAX_PLACES
        return self._hook(node) if hooked else super().visit(node)

    def _hook(self, node: Any) -> ast.expr:
        span = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        named = node.func if isinstance(node, ast.Call) else node
        number = self._place(type(node).__name__, span, getattr(named, "id", getattr(named, "attr", "")))
        outer, self._parent, names, self._names = self._parent, number, self._names, ()
        inner = super().visit(node)
        self._parent, self._names = outer, names
        return ast.copy_location(_call(number, inner), node)

    def _place(self, kind: str, span: tuple[int, int, int, int], name: str) -> int:
        place = Place(
            kind, span, self._statement, self._function, self._parent, self._names, self._tests, name, self._ifs > 0
        )
        self.places.append(place)
        return len(self.places) - 1

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outer = self._function, self._locals, self._tests
        self._function, self._locals, self._tests = (
            f"{outer[0] or self._class}.{node.name}".strip("."),
            _locals_of(node),
            (),
        )
        self._visit_body(node.body)
        self._function, self._locals, self._tests = outer
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        outer, self._class = self._class, node.name
        self._visit_body(node.body)
        self._class = outer
        return node

    def _visit_body(self, body: list[ast.stmt]) -> None:
        found: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            found += made if isinstance(made, list) else [made]
        body[:] = found

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)
        node.args = [self.visit(arg) for arg in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        return node

    def visit_If(self, node: ast.If | ast.While) -> ast.AST:
        with self._under(node.test) as test:
            node.test = test
            self._ifs += 1
            self._visit_body(node.body)
            self._visit_body(node.orelse)
            self._ifs -= 1
            asked = self._tests
        if not node.orelse and isinstance(node.body[-1], ast.Return):  # so what follows depends on it, too
            self._tests = asked
        return node

    visit_While = visit_If  # noqa: N815

    def visit_For(self, node: ast.For) -> ast.AST:
        with self._under(node.iter) as iterated:
            node.iter = iterated
            self._visit_body(node.body)
        self._visit_body(node.orelse)
        return node

    @contextmanager
    def _under(self, test: ast.expr) -> Iterator[ast.expr]:
        """Visit a test, on which depends what is visited inside the block. Whether something is None is no doubt."""
        first, outer = len(self.places), self._tests
        visited = self.visit(test)
        if not (isinstance(test, ast.Compare) and all(isinstance(op, ast.Is | ast.IsNot) for op in test.ops)):
            self._tests += tuple(range(first, len(self.places)))
        yield visited
        self._tests = outer

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        target, value = node.targets[0], node.value
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        changed = _root(next((part for part in parts if isinstance(part, ast.Subscript)), None))
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            value.elts = [self._assigned(*pair) for pair in zip(target.elts, value.elts, strict=True)]
        else:
            node.value = self._assigned(target, value)
        node.targets = [self.visit(each) for each in node.targets]
        return self._with_after(node, changed)

    def _assigned(self, target: ast.expr, value: ast.expr) -> ast.expr:
        self._names = tuple(part.id for part in ast.walk(target) if _is_stored(part))  # type: ignore[attr-defined]
        visited = self.visit(value)
        self._names = ()
        return visited  # type: ignore[no-any-return]

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self._names = (RETURN,)
        node.value = self.visit(node.value) if node.value else None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self._names = (node.target.id,) if isinstance(node.target, ast.Name) else ()
        node.value = self.visit(node.value) if node.value else None
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        node.value = self.visit(node.value)
        return self._with_after(node, _root(node.target))

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        call = node.value
        is_method = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        changed = call.func.value if is_method and _changes_its_object(call.func.attr) else None  # type: ignore
        node.value = self.visit(call)
        return self._with_after(node, changed)

    def _with_after(self, node: Any, changed: ast.expr | None) -> ast.AST | list[ast.stmt]:
        """Return a statement, and behind it the hook round the local variable that it changes."""
        if not isinstance(changed, ast.Name) or changed.id not in self._locals or not self._function:
            return node  # type: ignore[no-any-return]
        if len(self.places) >= MAX_PLACES:
            return node  # type: ignore[no-any-return]
        self._names = (changed.id,)
        number = self._place(AFTER, (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset), changed.id)
        self._names = ()
        hooked = _call(number, ast.Name(changed.id, ast.Load()))
        after = ast.Assign([ast.Name(changed.id, ast.Store())], hooked)
        return [node, ast.copy_location(after, node)]

    def visit_match_case(self, node: Any) -> ast.AST:
        self._visit_body(node.body)
        return node  # type: ignore[no-any-return]

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        return node


def _changes_its_object(method: str) -> bool:
    return method.endswith("_") or method in ("append", "extend", "insert")


def _root(target: ast.expr | None) -> ast.expr | None:
    """Return what an item is taken of, and an item of that."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _call(number: int, value: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(HOOK, ast.Load()), [ast.Constant(number), value], [])


def _locals_of(function: ast.FunctionDef) -> frozenset[str]:
    """Return the variables of a function itself."""
    inside = [node for statement in function.body for node in ast.walk(statement)]
    outer = {name for node in inside if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    found = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
    return frozenset(found | {node.id for node in inside if _is_stored(node)}) - outer  # type: ignore[attr-defined]
