"""A reference whose lines are marked as steps, made again with other lines in their places.

    shifted = x - x.amax(dim=dim, keepdim=True)  # step: shift

A step can be any statement. What is written in its place is an expression for its right-hand side (of an assignment,
a `return` or a call), its condition (of an `if`) or what it loops over; anything else replaces the whole statement.

Besides the marked steps there are `take_NAME`, the argument NAME as the function gets it, and `result`, what it
returns as `value`. What is done to that may have several steps (`after`). A class is called through its `forward`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from pathlib import Path
from types import CodeType
from typing import Any

from grader.course.step_marks import read_marks

MAX_COMPILED = 512  # functions and classes with other lines in them that are kept


@dataclass(frozen=True)
class Step:
    """A marked statement. Ranges are (begin, end) in characters of the top-level statement that contains it."""

    name: str
    top: int
    statement: tuple[int, int]
    indent: int
    right: tuple[int, int] | None


class MarkedSource:
    """The source of a reference, to be made with other lines in the place of its steps.

    Args:
        target: The function or class that is made.
        names: Names that the expressions may use; those of the reference come before them.
        after: The names of what is done to the result, one after the other.

    Attributes:
        steps: The names of the steps, with what the reference has there.
        own_steps: Those that are lines of the reference.
        written: Those that can be written into it: its own, and the arguments as the function gets them.
        parameters: Those of the function, or of the class's `forward`.
        required: Those of them that have no default.
    """

    def __init__(self, path: Path, target: str, names: Mapping[str, Any], after: Sequence[str] = ("result",)) -> None:
        self.path, self.target, self.names, self.after = path, target, names, after
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        self._parts = [ast.get_source_segment(source, node) or "" for node in tree.body]
        self._steps = {step.name: step for step in find_steps(source, tree)}
        self.own_steps = self._steps.keys()
        self._compile = lru_cache(MAX_COMPILED)(self._compile_part)
        made = self._run([self._compile(top, frozenset()) for top in range(len(self._parts))])[target]
        found = {each.name: each.default for each in inspect.signature(_called(made)).parameters.values()}
        self.parameters = [name for name in found if name != "self"]
        self.required = [name for name in self.parameters if found[name] is inspect.Parameter.empty]
        self.steps = {name: self._text(step) for name, step in self._steps.items()}
        taken = {f"take_{name}": name for name in self.parameters}
        self.steps |= {**dict.fromkeys(after, "value"), **taken}
        has_body = any(_body_of(node, target) for node in tree.body)
        self.written = self.own_steps | (taken.keys() if has_body else set())

    def build(self, changes: Mapping[str, str]) -> Any:
        """Return the function or class with these expressions in the place of the steps of these names."""
        inside = {name: text for name, text in changes.items() if name in self._steps}
        around = {name: text for name, text in changes.items() if name not in self._steps}
        made = self._run(self._codes(inside))[self.target]
        return self._wrap(made, around) if around else made

    def write(self, changes: Mapping[str, str]) -> str:
        """Return the source with these expressions in the place of steps of its own, and of arguments."""
        by_part = self._by_part({name: text for name, text in changes.items() if name in self._steps})
        parts = [self._edit_part(top, changed) for top, changed in enumerate(by_part)]
        taken = {name.removeprefix("take_"): text for name, text in changes.items() if name not in self._steps}
        return "\n\n".join(_take(taken, part, self.target) if taken else part for part in parts)

    def require_python(self, changes: Mapping[str, str]) -> None:
        """Read what is to stand in the place of steps. Raises SyntaxError for what is not Python there."""
        for name, text in changes.items():
            if not _is_expression(text):
                ast.parse(text, mode="exec" if name in self._steps else "eval")

    def build_version(self, expression: str) -> Any:
        """Return a function of the target's parameters that returns an expression of them."""
        namespace = self._run(self._codes({}))
        signature = inspect.signature(namespace[self.target])
        return eval(f"lambda {str(signature)[1:-1]}: ({expression})", namespace)

    def build_watched(self, used: set[str]) -> Any:
        """Return the function or class; each step adds its name to `used` when it runs."""
        used |= self.steps.keys() - self._steps.keys()  # those around the function always run
        watched = {
            name: f"__used__.add({name!r}); {self._whole(step)}"
            if step.right is None or self._is_simple(step)
            else f"__used__.add({name!r}) or {self._text(step)}"
            for name, step in self._steps.items()
        }
        return self._run(self._codes(watched), __used__=used)[self.target]

    def _codes(self, changes: Mapping[str, str]) -> list[CodeType]:
        return [self._compile(top, changed) for top, changed in enumerate(self._by_part(changes))]

    def _by_part(self, changes: Mapping[str, str]) -> list[frozenset[tuple[str, str]]]:
        by_part: dict[int, set[tuple[str, str]]] = {}
        for name, text in changes.items():
            by_part.setdefault(self._steps[name].top, set()).add((name, text))
        return [frozenset(by_part.get(top, ())) for top in range(len(self._parts))]

    def _compile_part(self, top: int, changes: frozenset[tuple[str, str]]) -> CodeType:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of two mistakes at once, as of `None[-1]`
            return compile(self._edit_part(top, changes), f"<{self.target} with {dict(changes)}>", "exec")

    def _edit_part(self, top: int, changes: frozenset[tuple[str, str]]) -> str:
        edits = []
        for name, new in changes:
            step = self._steps[name]
            if step.right is not None and _is_expression(new):
                edits.append((step.right, f"({new})"))
            else:
                edits.append((step.statement, textwrap.indent(new, " " * step.indent).lstrip()))
        whole = [edited for edited, _ in edits]
        text = self._parts[top]
        for (begin, end), new in sorted(edits, reverse=True):
            if not any(first <= begin and end <= last for first, last in whole if (first, last) != (begin, end)):
                text = f"{text[:begin]}{new}{text[end:]}"
        return text

    def _run(self, codes: list[CodeType], **more: Any) -> dict[str, Any]:
        namespace: dict[str, Any] = {**self.names, **more, "__name__": self.path.stem}
        for code in codes:
            exec(code, namespace)  # the course's own files: trusted
        return namespace

    def _wrap(self, made: Any, around: Mapping[str, str]) -> Any:
        """Put expressions around the function: on its arguments and on what it returns."""
        take = {
            name.removeprefix("take_"): _expression(text, self.parameters, self.names)
            for name, text in around.items()
            if name not in self.after
        }
        give = [_expression(around[name], ["value"], self.names) for name in self.after if name in around]
        inner = _called(made)
        signature = inspect.signature(inner)

        def function(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = {name: bound.arguments[name] for name in self.parameters}
            bound.arguments.update({name: changed(**given) for name, changed in take.items()})
            return reduce(lambda value, change: change(value), give, inner(*bound.args, **bound.kwargs))

        return type(made.__name__, (made,), {"forward": function}) if inspect.isclass(made) else function

    def _text(self, step: Step) -> str:
        begin, end = step.right or step.statement
        return self._parts[step.top][begin:end]

    def _whole(self, step: Step) -> str:
        return self._parts[step.top][slice(*step.statement)]

    def _is_simple(self, step: Step) -> bool:
        return step.statement[1] == step.right[1] if step.right else True


def find_steps(source: str, tree: ast.Module) -> Iterator[Step]:
    """Yield the marked statements of a file.

    Raises:
        ValueError: A mark stands beside no statement, or two have one name.
    """
    seen: set[str] = set()
    statements = [
        (node.lineno, top, node)
        for top, part in enumerate(tree.body)
        for node in ast.walk(part)
        if isinstance(node, ast.stmt)
    ]
    for line, name in read_marks(source):
        found = [each for each in statements if each[0] <= line <= _last_line_of_head(each[2])]
        if not found or name in seen:
            raise ValueError(f"line {line}: " + (f"a second step {name!r}" if found else f"no statement for {name!r}"))
        seen.add(name)
        _, top, node = max(found, key=lambda each: each[0])
        begin = _offset(source, tree.body[top].lineno, 0)
        right = _right_of(node)
        yield Step(
            name, top, _range(source, node, begin), node.col_offset, _range(source, right, begin) if right else None
        )


def _take(taken: Mapping[str, str], part: str, target: str) -> str:
    """Return a function, or a class with a `forward`, that begins with other values for its arguments."""
    (node,) = ast.parse(part).body
    body = _body_of(node, target)
    if not body:
        return part
    first = next((each for each in body if not _is_text(each)), body[-1])
    line = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))])
    lines = part.split("\n")
    values = ", ".join(f"({text})" for text in taken.values())
    lines.insert(line - 1, f"{' ' * first.col_offset}{', '.join(taken)} = {values}")
    return "\n".join(lines)


def _body_of(node: ast.stmt, target: str) -> list[ast.stmt]:
    """Return the statements of a function of that name, or of such a class's `forward`; none of anything else."""
    if isinstance(node, ast.ClassDef) and node.name == target:
        return [statement for each in node.body for statement in _body_of(each, "forward")]
    return node.body if isinstance(node, ast.FunctionDef) and node.name == target else []


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _called(made: Any) -> Any:
    """Return the function that is called: itself, or a class's `forward`."""
    return getattr(made, "forward", made) if inspect.isclass(made) else made


def _last_line_of_head(node: ast.stmt) -> int:
    body = getattr(node, "body", None)
    return (body[0].lineno - 1 if body[0].lineno > node.lineno else node.lineno) if body else node.end_lineno or 0


def _right_of(node: ast.stmt) -> ast.expr | None:
    """Return the part of a statement in which an expression can stand for another."""
    if isinstance(node, ast.If | ast.While):
        return node.test
    if isinstance(node, ast.For):
        return node.iter
    return getattr(node, "value", None)


def _offset(source: str, line: int, column: int) -> int:
    lines = source.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())


def _range(source: str, node: ast.stmt | ast.expr, begin: int) -> tuple[int, int]:
    assert node.end_lineno is not None and node.end_col_offset is not None
    first = _offset(source, node.lineno, node.col_offset)
    return first - begin, _offset(source, node.end_lineno, node.end_col_offset) - begin


@cache
def _is_expression(text: str) -> bool:
    try:
        compile(text, "<step>", "eval")
    except SyntaxError:
        return False
    return True


def _expression(text: str, parameters: Sequence[str], names: Mapping[str, Any]) -> Callable[..., Any]:
    return eval(f"lambda {', '.join(parameters)}: ({text})", dict(names))  # type: ignore[no-any-return]
