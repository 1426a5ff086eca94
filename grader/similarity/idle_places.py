"""The places in a source whose tokens change nothing of what it does, as its tree tells.

One of these beside each assignment would hide a copy: an annotation of a local variable, which is never evaluated,
`pass`, a number by itself, brackets that the tree does not need, `if` with a test that is the same whenever it is made,
and `try` that does nothing about what it catches.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from grader.similarity.plain_brackets import Expression, Place, has_grouping, with_plain_brackets
from grader.similarity.whole_strings import Statement
from grader.source.parse import parse

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")

Columns = list[Sequence[int]]  # of the lines of a source


class Idle(NamedTuple):
    """Tokens from a place to another one, and from there on up to the first that is `until`."""

    start: Place
    end: Place
    until: str = ""


def without_idle(statements: list[Statement], source: str) -> list[Statement]:
    """Return the statements of a source without tokens that are idle; all tokens of what is no Python."""
    try:
        idle, expressions = _places(parse(source).body, _columns(source))
    except SyntaxError:
        return statements
    return list(_bracketed(_outside(statements, idle), expressions))


def _bracketed(statements: list[Statement], expressions: list[Expression]) -> Iterator[Statement]:
    """Yield the statements with no more brackets than their expressions need."""
    waiting = expressions[::-1]
    for statement in statements:
        while waiting and waiting[-1].start < statement[0].start:
            waiting.pop()
        inside = []
        while waiting and waiting[-1].start <= statement[-1].start:
            inside.append(waiting.pop())
        yield with_plain_brackets(statement, inside) if has_grouping(statement) else statement


def _outside(statements: list[Statement], idle: list[Idle]) -> list[Statement]:
    waiting = idle[::-1]
    end, until = (0, 0), ""
    left = []
    for statement in statements:
        kept = []
        for token in statement:
            while waiting and waiting[-1].start <= token.start:
                end, until = max((end, until), waiting.pop()[1:])
            if token.start >= end and until in ("", token.string):
                until = ""
                kept.append(token)
        left.append(kept)
    return list(filter(None, left))


def _places(body: list[ast.stmt], columns: Columns) -> tuple[list[Idle], list[Expression]]:
    """Return what is idle, and the expressions of all statements, each in the order of the source."""
    blocks = [(body, False)]
    found, expressions = list[Idle](), list[Expression]()
    for block, is_local in blocks:  # grows while it is read
        is_empty = all(map(_says_nothing, block))
        for node in block:
            if _says_nothing(node) and not (is_empty or _is_text(node)):
                found.append(Idle(_start(node, columns), _end(node, columns)))
            else:
                found += _idle_in(node, columns, is_local=is_local)
            values = map(_only_wrapped, _expressions_of(node))
            expressions += [Expression(_start(one, columns), _end(one, columns), one) for one in values]
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            inside |= is_local and not isinstance(node, ast.ClassDef)
            blocks += [(inner, inside) for name in _BLOCKS if (inner := getattr(node, name, None))]
    return sorted(each for each in found if each.start < each.end), sorted(expressions, key=itemgetter(0, 1))


def _expressions_of(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions of a statement, but for those within its blocks, and what a class is made of."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr) and not (isinstance(node, ast.ClassDef) and part in node.bases):
            yield part
        elif isinstance(part, ast.arguments | ast.arg | ast.withitem):
            yield from _expressions_of(part)


def _says_nothing(node: ast.AST) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_text(node: ast.AST) -> bool:
    """Return True for a docstring, and what looks like one."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _idle_in(node: ast.AST, columns: Columns, *, is_local: bool) -> Iterator[Idle]:
    """Yield the idle places in a statement, but for those within its blocks."""
    match node:
        case ast.AnnAssign(target=target, annotation=annotation, value=ast.expr()) if is_local:
            yield Idle(_start(node, columns), _start(target, columns))
            yield Idle(_end(target, columns), _end(annotation, columns), "=")
        case ast.Assign(targets=[ast.Tuple([target]) | ast.List([target]) as left], value=value):
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == 1:
                yield from _around(target, left, columns)
                yield from _around(value.elts[0], value, columns)
        case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.Return(value=ast.expr() as value):
            yield from _around(_only_wrapped(value), value, columns)
        case ast.Expr(value=ast.NamedExpr() | ast.Constant() as value):
            yield from _around(value, node, columns)
        case ast.If(test=test, body=[first, *_]) if not (
            _names_something(test) or getattr(first, "decorator_list", [])
        ):
            yield Idle(_start(node, columns), _start(first, columns))
            if isinstance(test, ast.Constant) and test.value:
                yield Idle(_end(node.body[-1], columns), _end(node, columns))
        case ast.Try(body=[first, *_], handlers=handlers, orelse=[], finalbody=last) if (
            all(map(_raises_again, handlers)) and all(map(_says_nothing, last))
        ) and not getattr(first, "decorator_list", []):
            yield Idle(_start(node, columns), _start(first, columns))
            yield Idle(_end(node.body[-1], columns), _end(node, columns))


def _around(inner: ast.expr, outer: ast.stmt | ast.expr, columns: Columns) -> Iterator[Idle]:
    """Yield what stands in *outer* before and behind the one thing in it."""
    yield Idle(_start(outer, columns), _start(inner, columns))
    yield Idle(_end(inner, columns), _end(outer, columns))


def _only_wrapped(value: ast.expr) -> ast.expr:
    """Return what a function without parameters gives at once, or the first of one: `(lambda: e)()`, `[e][0]`."""
    match value:
        case ast.Call(func=ast.Lambda(args=args, body=body), args=[], keywords=[]):
            return value if [*ast.iter_child_nodes(args)] else body
        case ast.Subscript(value=ast.Tuple([inner]) | ast.List([inner]), slice=ast.Constant(0)):
            return value if isinstance(inner, ast.Starred) else inner
    return value


def _raises_again(handler: ast.ExceptHandler) -> bool:
    return all(isinstance(part, ast.Raise) and part.exc is None for part in handler.body)


def _names_something(test: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) for part in ast.walk(test))


def _start(node: ast.stmt | ast.expr, columns: Columns) -> Place:
    return node.lineno, columns[node.lineno - 1][node.col_offset]


def _end(node: ast.stmt | ast.expr, columns: Columns) -> Place:
    line, offset = node.end_lineno or node.lineno, node.end_col_offset or 0
    return line, columns[line - 1][offset]


def _columns(source: str) -> Columns:
    """Return the column of a token for each offset, which the tree counts in bytes, of each line as the tree has it."""
    lines = re.split("\r\n?|\n", source)
    return [range(len(line) + 1) if line.isascii() else _column_of_each_byte(line) for line in lines]


def _column_of_each_byte(line: str) -> list[int]:
    return [column for column, sign in enumerate(f"{line}\n") for _ in sign.encode()]
