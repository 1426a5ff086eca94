"""Brackets as a tree needs them, wherever the author put more: `a = (b)` has none, and `((a * b)) + c` neither."""

from __future__ import annotations

import ast
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from keyword import iskeyword
from typing import NamedTuple

from grader.similarity.whole_strings import Statement, read_with_whole_strings

CALLED = (tokenize.NAME, tokenize.STRING)

Place = tuple[int, int]  # line and column, as a token has it


class Expression(NamedTuple):
    """An expression of a statement, with the places where it begins and ends without brackets around all of it."""

    start: Place
    end: Place
    node: ast.expr


def has_grouping(statement: Statement) -> bool:
    """Return True if there is a bracket that belongs to no call, class or function."""
    words_before = [(tokenize.OP, ""), *((token.type, token.string) for token in statement)]
    return any(
        token.string == "(" and word not in (")", "]", "}") and (kind not in CALLED or iskeyword(word))
        for token, (kind, word) in zip(statement, words_before, strict=False)
    )


def with_plain_brackets(statement: Statement, expressions: Sequence[Expression]) -> Statement:
    """Return a statement with the brackets that these expressions of it need, each beside the token that it had."""
    made: Statement = []
    done = 0
    for start, end, node in expressions:
        first = next((n for n in range(done, len(statement)) if statement[n].start >= start), len(statement))
        last = next((n for n in range(first, len(statement)) if statement[n].start >= end), len(statement))
        before, after = first, last
        while before > done and statement[before - 1].string == "(" and after < len(statement):
            if statement[after].string != ")":
                break
            before, after = before - 1, after + 1
        made += [*statement[done:before], *_as_needed(statement[first:last], node)]
        done = after
    return [*made, *statement[done:]]


def _as_needed(tokens: Statement, node: ast.expr) -> Statement:
    """Return the tokens of an expression with other brackets; without those around a tuple, that need not be there."""
    tokens = _without_outer(list(_without_last_commas(tokens)))
    if not has_grouping(tokens):
        return tokens
    needed = _without_outer(list(_without_last_commas(_written(node))))
    words = [token for token in tokens if token.string not in ("(", ")")]
    if len(words) != sum(token.string not in ("(", ")") for token in needed):  # strings side by side are one
        return tokens
    made: Statement = []
    rest = iter(words)
    following = next(rest, tokens[0])
    for token in needed:
        if token.string == "(":
            made.append(token._replace(start=following.start, end=following.start))
        elif token.string == ")":
            made.append(token._replace(start=made[-1].end, end=made[-1].end))
        else:
            made.append(following)
            following = next(rest, following)
    return made


def _written(node: ast.expr) -> Statement:
    """Return the tokens of an expression as Python writes it; none of one that is nested too deeply for that."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = ast.unparse(node)
        return [token for token in read_with_whole_strings(text) if token.string.strip()]
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _without_last_commas(tokens: Statement) -> Iterator[tokenize.TokenInfo]:
    """Yield tokens without a comma before a bracket that closes."""
    for token, after in zip(tokens, [*tokens[1:], None], strict=False):
        if token.string != "," or after is None or after.string not in (")", "]", "}"):
            yield token


def _without_outer(tokens: Statement) -> Statement:
    """Return tokens without brackets around all of them, but for an empty tuple."""
    while len(tokens) > 2 and tokens[0].string == "(" and _closes_at(tokens) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return tokens


def _closes_at(tokens: Statement) -> int:
    """Return where the first bracket is closed."""
    depth = 0
    for number, token in enumerate(tokens):
        depth += (token.string == "(") - (token.string == ")")
        if not depth:
            return number
    return len(tokens)
