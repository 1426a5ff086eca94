"""The places in a source whose tokens change nothing of what it does, as its tree tells.

One of these beside each assignment would hide a copy: an annotation of a local variable, which is never evaluated,
`pass`, a number by itself, brackets around a statement, and `if` with a test that is the same whenever it is made.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from keyword import iskeyword
from tokenize import NAME, NUMBER, OP, TokenInfo
from typing import NamedTuple

from grader.source.parse import parse

Statement = list[TokenInfo]
Place = tuple[int, int]  # line and column, as a token has it
# fmt: off
_COMPOUND = frozenset({
    "async", "case", "class", "def", "elif", "else", "except", "finally", "for", "if", "match", "try", "while", "with",
})
# fmt: on
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class Idle(NamedTuple):
    """Tokens from a place to another one, and from there on up to the first that is `until`."""

    start: Place
    end: Place
    until: str = ""


def without_idle(statements: list[Statement], source: str) -> list[Statement]:
    """Return the statements of a source without tokens that are idle; all tokens of what is no Python."""
    idle = _idle_places(source) if any(map(_may_be_idle, statements)) else []
    return _outside(statements, idle) if idle else statements


def _may_be_idle(statement: Statement) -> bool:
    """Return False for a statement that is not idle by its tokens, and has no other one in it: most need no tree."""
    words = [token.string for token in statement]
    if words[0] in _COMPOUND:
        names = (token.type == NAME and not iskeyword(token.string) for token in statement)
        return words[-1] != ":" or (words[0] in ("if", "elif") and not any(names))
    if len(words) == 1:
        return statement[0].type in (NUMBER, OP) or words[0] in ("pass", "True", "False", "None")
    if words[0] == "(" or ":" not in words:
        return words[0] == "("
    before = words[: words.index(":")]
    return sum(map(before.count, "([{")) == sum(map(before.count, ")]}"))


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


def _idle_places(source: str) -> list[Idle]:
    try:
        blocks = [(parse(source).body, False)]
    except SyntaxError:
        return []
    lines = re.split("\r\n?|\n", source)  # as the tree counts them
    found = []
    for block, is_local in blocks:  # grows while it is read
        is_empty = all(map(_says_nothing, block))
        for node in block:
            if _says_nothing(node) and not (is_empty or _is_text(node)):
                found.append(Idle(_start(node, lines), _end(node, lines)))
            else:
                found += _idle_in(node, lines, is_local=is_local)
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            inside |= is_local and not isinstance(node, ast.ClassDef)
            blocks += [(inner, inside) for name in _BLOCKS if (inner := getattr(node, name, None))]
    return sorted(each for each in found if each.start < each.end)


def _says_nothing(node: ast.AST) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_text(node: ast.AST) -> bool:
    """Return True for a docstring, and what looks like one."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _idle_in(node: ast.AST, lines: list[str], *, is_local: bool) -> Iterator[Idle]:
    """Yield the idle places in a statement, but for those within its blocks."""
    match node:
        case ast.AnnAssign(target=target, annotation=annotation, value=ast.expr()) if is_local:
            yield Idle(_start(node, lines), _start(target, lines))
            yield Idle(_end(target, lines), _end(annotation, lines), "=")
        case ast.Expr(value=ast.NamedExpr() | ast.Constant() as value):
            yield Idle(_start(node, lines), _start(value, lines))
            yield Idle(_end(value, lines), _end(node, lines))
        case ast.If(test=test, body=[first, *_]) if not (
            _names_something(test) or getattr(first, "decorator_list", [])
        ):
            yield Idle(_start(node, lines), _start(first, lines))
            if isinstance(test, ast.Constant) and test.value:
                yield Idle(_end(node.body[-1], lines), _end(node, lines))


def _names_something(test: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) for part in ast.walk(test))


def _start(node: ast.stmt | ast.expr, lines: list[str]) -> Place:
    return node.lineno, _column(lines[node.lineno - 1], node.col_offset)


def _end(node: ast.stmt | ast.expr, lines: list[str]) -> Place:
    line, offset = node.end_lineno or node.lineno, node.end_col_offset or 0
    return line, _column(lines[line - 1], offset)


def _column(line: str, offset: int) -> int:
    """Return the column of a token; the tree counts bytes."""
    return offset if line.isascii() else len(line.encode()[:offset].decode())
