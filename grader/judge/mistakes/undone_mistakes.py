"""A submission with a mistake undone: what it has of the mistake's becomes what the reference has there.

A known mistake changes expressions of the reference. Where one of the submission's is such an expression, whatever it
calls its values, the right one can be written in its place. If that makes all right, the mistake is made there.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple, TypeGuard

from grader.judge.mistakes.expression_patterns import Pattern, fill, is_same, listed, with_common_parts_open
from grader.source.parse import nodes_in, parse

MAX_NODES = 4000  # of a submission's tree; an exercise has a few hundred
MAX_VERSIONS = 512  # of references with mistakes in them, of which what differs is kept
MAX_PARSED = 120  # sources that are looked at, of which some say the same, or are no Python
MAX_UNDONE = 24  # sources that are tried, each in a worker
SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Return, ast.Break, ast.Continue)  # that can be left out
# what is right, and what people write by a slip: the parameters stand for anything
# fmt: off
SLIPS = (
    ("lambda p: lambda value: value", "lambda p: nn.Dropout(p)"),
    ("lambda x, p: x", "lambda x, p: F.dropout(x, p)"), ("lambda x, p, t: x", "lambda x, p, t: F.dropout(x, p, t)"),
    ("0", "1"), ("1", "0"), ("1", "2"), ("2", "1"), ("-1", "0"), ("0", "-1"), ("-1", "-2"), ("-2", "-1"), ("-1", "1"),
    ("True", "False"), ("False", "True"), ("lambda a: a", "lambda a: -a"), ("lambda a: a", "lambda a: ~a"),
    ("lambda a, b: a + b", "lambda a, b: a - b"), ("lambda a, b: a - b", "lambda a, b: a + b"),
    ("lambda a, b: b - a", "lambda a, b: a - b"), ("lambda a, b: a * b", "lambda a, b: a / b"),
    ("lambda a, b: a / b", "lambda a, b: a * b"), ("lambda a, b: b / a", "lambda a, b: a / b"),
    ("lambda a, b: a < b", "lambda a, b: a <= b"), ("lambda a, b: a <= b", "lambda a, b: a < b"),
    ("lambda a, b: a > b", "lambda a, b: a >= b"), ("lambda a, b: a >= b", "lambda a, b: a > b"),
    ("lambda a, b: a != b", "lambda a, b: a == b"), ("lambda a, b: a == b", "lambda a, b: a != b"),
    ("lambda a, b: a & b", "lambda a, b: a | b"), ("lambda a, b: a | b", "lambda a, b: a & b"),
)
# fmt: on
_ITSELF = frozenset({*dir(builtins), "self"})

Node = ast.expr | ast.stmt


class Undone(NamedTuple):
    """A submission with another expression in one place, or without a statement: the line, and what stands there."""

    line: int
    text: str
    source: str
    is_left_out: bool = False


def find_undone(versions: Iterable[tuple[str, str]], source: str, is_right: Callable[[str], bool]) -> Undone | None:
    """Return where a mistake is made: the only line on which undoing it makes all right.

    Args:
        versions: The reference, or another right way, and the same with the mistake in it.
        source: That of the submission.
        is_right: Tries another source.

    Raises SyntaxError, RecursionError.
    """
    return _only_mending((each for right, wrong in versions for each in undo(right, wrong, source)), is_right)


def find_slip(others: Collection[str], source: str, is_right: Callable[[str], bool]) -> Undone | None:
    """Return where a small change makes all right, as `find_undone` does, whatever the mistake is called.

    Args:
        others: Functions that are none of those asked: nothing is changed in them.
    """
    functions = (node for node in parse(source).body if getattr(node, "name", "") in others)
    elsewhere = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in functions]
    nodes = [node for node in _parts_of(source)[0] if not any(node.lineno in lines for lines in elsewhere)]
    changed = (each for right, wrong in SLIPS for each in undo(right, wrong, source, nodes))
    return _only_mending(itertools.chain(_without_each_statement(source, nodes), changed), is_right)


def _only_mending(undone: Iterable[Undone], is_right: Callable[[str], bool]) -> Undone | None:
    some = itertools.islice(undone, MAX_PARSED)
    mending = [each for each in itertools.islice(_distinct(some), MAX_UNDONE) if is_right(each.source)]
    return mending[0] if mending and len({each.line for each in mending}) == 1 else None


def _without_each_statement(source: str, nodes: Iterable[Node]) -> Iterator[Undone]:
    for node in nodes:
        if isinstance(node, SIMPLE) and not isinstance(getattr(node, "value", None), ast.Constant):
            yield Undone(node.lineno, ast.unparse(node), _replace(source, node, "pass"), is_left_out=True)


def _distinct(undone: Iterable[Undone]) -> Iterator[Undone]:
    """Yield those that are Python, and do not say the same."""
    seen = set[str]()
    for each in undone:
        with suppress(SyntaxError):
            if (tree := ast.dump(parse(each.source))) not in seen:
                seen.add(tree)
                yield each


def undo(right: str, wrong: str, source: str, nodes: Sequence[Node] | None = None) -> Iterator[Undone]:
    """Yield a source with one part of it as the right version has it, which is as the wrong one has it.

    A statement that only the wrong version has is left out. Only these *nodes* are looked at, if they are given.
    """
    parts, from_outside = _parts_of(source)
    modules = _parts_of(wrong)[1] | from_outside
    fixed = _ITSELF | _defined_in(parse(wrong)) | modules
    for old, new in _differences(right, wrong):
        pattern = Pattern(new, fixed, modules)
        for node in () if pattern.fits_all else parts if nodes is None else nodes:
            if (bound := pattern.match(node)) is not None:
                text = ast.unparse(fill(old, bound))
                yield Undone(node.lineno, ast.unparse(node), _replace(source, node, text), isinstance(old, ast.Pass))


def _is_read(node: ast.AST) -> TypeGuard[ast.expr]:
    """Return True for an expression that may stand in brackets, and is no name that is assigned."""
    is_of_slices = isinstance(node, ast.Slice | ast.Starred) or any(map(_is_slice, getattr(node, "elts", ())))
    return isinstance(node, ast.expr) and not is_of_slices and isinstance(getattr(node, "ctx", None), ast.Load | None)


def _is_slice(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice)


@lru_cache(MAX_VERSIONS)
def _parts_of(source: str) -> tuple[Sequence[Node], frozenset[str]]:
    """Return the statements and expressions of a source, and the names that it gives nothing: those of modules, say.

    There are none of a source that is too long.
    """
    tree = parse(source)
    nodes = nodes_in(tree)
    if len(nodes) > MAX_NODES:
        return (), frozenset()
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)} | _defined_in(tree) | _ITSELF
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    parts = tuple(node for node in nodes if isinstance(node, ast.stmt) or _is_read(node))
    return parts, frozenset(node.id for node in names) - own


def _defined_in(tree: ast.Module) -> frozenset[str]:
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))


def _replace(source: str, node: ast.expr | ast.stmt, text: str) -> str:
    """Return a source with a text in place of an expression or a statement; its lines keep their numbers."""
    lines = [line.encode() for line in re.split("\r\n?|\n", source)]  # as Python counts
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    begin, end = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
    new = f"({text})" if isinstance(node, ast.expr) else text
    lines[first : last + 1] = [begin + new.encode() + end, *[b""] * (last - first)]
    return b"\n".join(lines).decode(errors="replace")  # Python 3.11 does not know where the parts of an f-string stand


@lru_cache(MAX_VERSIONS)
def _differences(right: str, wrong: str) -> Sequence[tuple[Node, Node]]:
    return tuple(_differing(parse(right), parse(wrong)))


def _differing(right: ast.AST, wrong: ast.AST) -> Iterator[tuple[Node, Node]]:
    """Yield what differs in two trees, the smallest expressions of each place first; `pass` where one has more."""
    for one, other in _pairs_below(right, wrong):
        yield from _differing(one, other)
        if _is_read(one) and _is_read(other):
            yield with_common_parts_open(one, other)
        elif isinstance(one, ast.Pass) and isinstance(other, SIMPLE):
            yield one, other


def _pairs_below(right: ast.AST, wrong: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield the parts of two nodes of one kind that stand at the same place and differ."""
    if type(right) is not type(wrong):
        return
    for name in right._fields:
        nodes = [[one for one in listed(getattr(each, name)) if isinstance(one, ast.AST)] for each in (right, wrong)]
        yield from _pairs_of(*nodes)


def _pairs_of(right: Sequence[ast.AST], wrong: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, ast.AST]]:
    if len(right) == len(wrong):
        yield from (pair for pair in zip(right, wrong, strict=True) if not is_same(*pair))
        return
    texts = ([ast.dump(each) for each in some] for some in (right, wrong))
    for how, first, end, begin, last in SequenceMatcher(None, next(texts), next(texts), autojunk=False).get_opcodes():
        if how == "insert" and isinstance(wrong[begin], ast.stmt):
            yield from ((ast.Pass(), each) for each in wrong[begin:last])
        elif how == "replace" and end - first == last - begin:
            yield from zip(right[first:end], wrong[begin:last], strict=True)
