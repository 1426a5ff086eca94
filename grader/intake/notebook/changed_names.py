"""Which names the statements of a notebook set, and whose objects they change, by what they call too."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from grader.source.parse import imported_module, nodes_in
from grader.source.scopes import (
    Definition,
    Import,
    changed_names,
    imported_name,
    module_names,
    names_bound_by,
    root_name,
)
from grader.source.side_effects import STATE_SETTING_PREFIXES

SURE = frozenset({"torch", "numpy", "math", "functools", "typing", "dataclasses", "collections", "itertools", "abc"})
# Of these modules a call changes nothing but what it is given, unless its name begins so; of `os` or `sys` it may.
STATELESS = SURE | {"time", "timeit", "random", "matplotlib", "operator"}
SETTERS = (*STATE_SETTING_PREFIXES, "enable_")
CHANGERS = frozenset({"setattr", "delattr", "dict", "list", "set"})  # of Python, that act so, or whose methods do
# Methods in a function that change their object, or begin so; so do those of the author's own, and `fill_`.
CHANGING = (*SETTERS, "add", "append", "apply", "clear", "discard", "extend", "fill", "insert", "load", "move_to_end",
            "pop", "put", "remove", "reverse", "rotate", "sort", "subtract", "update")  # fmt: skip
MAX_CALLS = 10  # of functions that call each other, to what one of them changes

# By a function's name, the names of the module that it changes, and its parameters, "" for one that it leaves alone.
Changes = dict[str, tuple[set[str], list[str]]]


class ChangedNames:
    """What statements of a program change; `functions` are its own, by name, and its methods, behind a dot.

    A class stands there as its `__init__`. `_changes` is what calls of its functions surely do. `_effects` is what they
    may do where nothing is made of the call, which is for that then: also what a function gives to others, and what it
    calls methods of. One that trains, or calls one that does, changes its network alone, for minutes.
    """

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        self._modules, self._others = _stateless_modules(statements), _other_names(statements)
        imports = [node for node in nodes_in(*statements) if isinstance(node, ast.Import)]
        self._imported = {imported_name(each) for node in imports for each in node.names}
        plain = {node.name: node for node in statements if isinstance(node, ast.FunctionDef)}
        classes = [node for node in statements if isinstance(node, ast.ClassDef)]
        methods = [(node, part) for node in classes for part in node.body if isinstance(part, ast.FunctionDef)]
        self._made = {node.name: part for node, part in methods if part.name == "__init__"}
        own = {f".{part.name}": part for _, part in methods} | self._made | plain
        self.functions = own.keys()
        self._changes = {name: _sure_changes(node) for name, node in plain.items()}
        self._effects: Changes = self._changes
        bodies = {name: nodes_in(*node.body) for name, node in own.items()}
        bodies = {name: bodies[name] for name in bodies.keys() - _training(bodies)}
        self._methods = bodies.keys() - plain.keys()
        for _ in range(MAX_CALLS):
            before = self._effects
            found = {name: self._by_calls(parts, in_function=True) for name, parts in bodies.items()}
            self._effects = self._changes | {name: _effect(own[name], changed) for name, changed in found.items()}
            if self._effects == before:
                break

    def names(self, node: ast.stmt) -> set[str]:
        """Return the names that a statement sets, or whose value it may change."""
        if isinstance(node, Definition | Import):
            return set()
        return (self._by_calls(nodes_in(node)) | module_names(node).assigned | changed_names(node)) - {""}

    def given_to_own(self, statements: Sequence[ast.stmt]) -> set[str]:
        """Return the names of what calls of which nothing is made give to functions of the program; no module."""
        calls = [call for call in _unused(nodes_in(*statements)) if _called(call) in self.functions]
        given = {name for call in calls for value in call.args for name in _roots(value)}
        return given - self._modules - self._imported

    def _by_calls(self, parts: Sequence[ast.AST], *, in_function: bool = False) -> set[str]:
        """Return the names of what the calls in these nodes may change.

        At the top level any method may; in a function one that is known for it, if nothing is made of the call.
        """
        names = set[str]()
        unused = {id(call) for call in _unused(parts)}
        inner = [part for call in _alone(parts) for part in nodes_in(call)]
        passed = [value for part in inner if isinstance(part, ast.Call) for value in part.args]  # map(fill, rows)
        for value in passed:
            names |= self._effects.get(getattr(value, "id", ""), (set(), []))[0]
        calls = [part for part in parts if isinstance(part, ast.Call)]
        for call in calls:
            known = self._effects if id(call) in unused or _called(call) in self._made else self._changes
            declared, changed = known.get(_called(call), (set(), []))
            given = [*zip(changed, call.args, strict=False), *((each.arg, each.value) for each in call.keywords)]
            names |= declared | {root_name(value) for parameter, value in given if parameter and parameter in changed}
        names |= _written_out(names, parts)
        for call in calls:
            may_change = not in_function or (id(call) in unused and self._changes_object(call))
            if isinstance(call.func, ast.Attribute) and may_change:
                owner = _owner(call.func)  # table.append(1)
                names |= {owner} if owner not in self._modules or call.func.attr.startswith(SETTERS) else set()
        # `torch.compile(f)` makes another function
        return (names | (_names_given(parts, self._modules, self._others) - self.functions)) - {""}

    def _changes_object(self, call: ast.Call) -> bool:
        """Return True if a call is of a method that, by its name, changes its object."""
        method = _called(call)
        in_place = method.endswith("_") and not method.endswith("__")
        return in_place or method in self._methods or method.removeprefix(".").startswith(CHANGING)


def _sure_changes(node: ast.FunctionDef) -> tuple[set[str], list[str]]:
    """Return the names of the module that a function sets, and its parameters, "" for one that it puts nothing into."""
    declared = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
    changed = changed_names(node)
    return declared, [arg.arg if arg.arg in changed else "" for arg in (*node.args.posonlyargs, *node.args.args)]


def _effect(node: ast.FunctionDef, changed: set[str]) -> tuple[set[str], list[str]]:
    """Return what a function changes beside its own names, by a default too, and its parameters, but for `self`."""
    declared, _ = _sure_changes(node)
    changed = changed | changed_names(node)
    bound = {name for part in nodes_in(node) for name in names_bound_by(part)} - declared
    places = [*node.args.posonlyargs, *node.args.args]
    defaults = zip(reversed(places), reversed(node.args.defaults), strict=False)
    kept = {root_name(value) for each, value in defaults if each.arg in changed} - {""}
    named = [each.arg if each.arg in changed else "" for each in places]
    return declared | changed - bound | kept, named[bool(places) and places[0].arg == "self" :]


def _training(bodies: Mapping[str, Sequence[ast.AST]]) -> set[str]:
    """Return those of the functions that train, or call one that does."""
    callers: dict[str, list[str]] = defaultdict(list)
    found = []
    for name, parts in bodies.items():
        found += [name] if any(isinstance(part, ast.Attribute) and part.attr == "backward" for part in parts) else []
        for called in {_called(part) for part in parts if isinstance(part, ast.Call)}:
            callers[called].append(name)
    for name in found:  # grows while it is read
        found += callers.pop(name, ())
    return {*found}


def _called(call: ast.Call) -> str:
    """Return the name of what is called, that of a method behind a dot."""
    return f".{call.func.attr}" if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _alone(parts: Iterable[ast.AST]) -> Iterator[ast.Call]:
    """Yield the calls of which nothing is made, those in a list that goes nowhere among them."""
    for part in parts:
        value = getattr(part.value, "elt", part.value) if isinstance(part, ast.Expr) else None
        if isinstance(value, ast.Call):
            yield value


def _unused(parts: Iterable[ast.AST]) -> Iterator[ast.Call]:
    """Yield the calls of which nothing is made, or what is only shown or tried: `_ = fill(rows)`."""
    for part in parts:
        match part:
            case ast.Assign([ast.Name("_")], ast.Call() as call) | ast.Assert(ast.Call() as call):
                yield call
            case ast.Assert(ast.Compare(ast.Call() as call)):
                yield call
            case ast.Expr(ast.Call(ast.Name("print"), values)):
                yield from (value for value in values if isinstance(value, ast.Call))
        yield from _alone([part])


def _written_out(names: Collection[str], parts: Iterable[ast.AST]) -> set[str]:
    """Return what loops go through, in a list that is written out, by one of the *names*."""
    loops = [part for part in parts if isinstance(part, ast.For | ast.comprehension)]
    written = [loop for loop in loops if isinstance(loop.iter, ast.List | ast.Tuple)]
    return {name for loop in written if getattr(loop.target, "id", "") in names for name in _roots(loop.iter)}


def _owner(method: ast.Attribute) -> str:
    """Return the name of that of which a method is called; for `vars(table).update` it is `table`."""
    match method.value:
        case ast.Call(ast.Name("vars"), [value]):
            return root_name(value)
    return root_name(method)


def _stateless_modules(statements: Sequence[ast.stmt]) -> set[str]:
    """Return the names that nothing but imports of such modules gives: `np`, `torch`."""
    nodes = nodes_in(*statements)
    imports = [(node, alias) for node in nodes if isinstance(node, Import) for alias in node.names]
    others = {name for node in nodes if not isinstance(node, ast.alias) for name in names_bound_by(node)}
    others |= {imported_name(alias) for node, alias in imports if origin(node, alias) not in STATELESS}
    return {*CHANGERS, *(imported_name(alias) for _, alias in imports)} - others


def _other_names(statements: Sequence[ast.stmt]) -> dict[str, str]:
    """Return the names that were given to what has another, with that one: `{"perm": "rows"}` for `perm = rows`."""
    nodes = [node for node in statements if isinstance(node, ast.Assign)]
    pairs = [(target, node.value) for node in nodes for target in node.targets]
    return {name.id: value.id for name, value in pairs if isinstance(name, ast.Name) and isinstance(value, ast.Name)}


def origin(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    """Return the package out of which something is imported."""
    return (imported_module(node) or alias.name).partition(".")[0]


def _names_given(parts: Sequence[ast.AST], modules: Collection[str], others: dict[str, str]) -> set[str]:
    """Return what calls out of modules may change of what they are given: `shuffle(rows)`, of which nothing is made.

    Seen are also `out=rows` of any of them, all that one gets whose name ends with `_`, what a loop goes through if
    each of it is changed, and `rows` where it is `perm` of `perm = rows`. Not seen is a change by a third name, of
    a part (`view = rows[1:]`), or by another call of which something is made (`_ = shuffle(rows)`).
    """
    names = set[str]()
    alone = {id(call) for call in _alone(parts)}
    for call in (part for part in parts if isinstance(part, ast.Call)):
        changes_all = id(call) in alone or getattr(call.func, "attr", "").endswith("_")
        if root_name(call.func) in modules:
            names |= {name for value in call.args if changes_all for name in _roots(value)}
            given = (each.value for each in call.keywords if changes_all or each.arg == "out")
            names |= {name for value in given for name in _roots(value)}
    for loop in (part for part in parts if isinstance(part, ast.For)):
        is_count = isinstance(loop.iter, ast.Call) and root_name(loop.iter.func) == "range"
        each = {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
        if not is_count and each & (names | changed_names(loop)):
            names |= {name for value in getattr(loop.iter, "args", [loop.iter]) for name in _roots(value)}
    names |= {others[name] for name in names & others.keys()}
    return names - set(modules)


def _roots(value: ast.expr) -> set[str]:
    """Return the names with which an expression begins, and each entry of a list or tuple that is written out."""
    if isinstance(value, ast.List | ast.Tuple):
        return {name for each in value.elts for name in _roots(each)}
    return {root_name(value.value if isinstance(value, ast.Starred) else value)} - {""}
