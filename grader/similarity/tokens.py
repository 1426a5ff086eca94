"""Python source as tokens, without what is easily changed: layout, comments, docstrings, imports and idle parts.

Names that the author chose are marked: all but those of libraries, keyword arguments and the exercise. What stands in
the braces of an f-string is read as a statement below it. Nothing is run, and any text can be read.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import tokenize
import unicodedata
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice

from grader.similarity.idle_places import without_idle
from grader.similarity.whole_strings import Statement, read_with_whole_strings

MAX_CHARACTERS = 250_000  # of one file, as many as are graded; the rest is ignored
MAX_TOKENS = 1 << 16  # and what comes after so many: comments are none, and push nothing out
MAX_EXPRESSIONS = 1 << 12  # in f-strings; an exercise has a few dozen
MAX_FSTRING = 1 << 12  # characters of one: Python parses it in time that grows with their square
BROKEN = "what stands behind something that is no Python"
MIN_WORDS = 3  # of a comment; a shorter one says nothing about its author
MAX_REMARK_LENGTH = 80  # characters

_FIXED = frozenset({*dir(builtins), "self"})
_LAYOUT = frozenset({tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING})
_ODD_SIGN = re.compile(r"[^\x00-\x7f\w]")
_SIGNS = {**dict.fromkeys("([{", 1), **dict.fromkeys(")]}", -1)}
_FSTRING = re.compile(r"(?i)r?[ft]r?['\"]")
_BRACES = (ast.FormattedValue, getattr(ast, "Interpolation", ast.FormattedValue))  # of t-strings, from Python 3.14 on


@dataclass
class TokenList:
    """The tokens of files: text, whether the author chose that name, and line (from 1).

    `remarks` are comments, docstrings and strings of several words, in lower case. `unread` says what else there is.
    `above` are the lines of the files before the one that is read.
    """

    words: list[str] = field(default_factory=list)
    chosen: list[bool] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    remarks: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    above: int = 0

    @property
    def names(self) -> set[str]:
        """The names that the author chose."""
        return {word for word, own in zip(self.words, self.chosen, strict=True) if own}

    def add(self, word: str, line: int, *, own: bool = False) -> None:
        """Add a token."""
        self.words.append(word)
        self.chosen.append(own)
        self.lines.append(self.above + line)

    def remark(self, text: str) -> None:
        """Add a comment or a string, if it has enough words."""
        words = re.findall(r"[^\W\d_]{2,}", text.casefold())
        if len(words) >= MIN_WORDS:
            self.remarks.add(" ".join(words)[:MAX_REMARK_LENGTH])


def read_tokens(source: str, prescribed: Collection[str] = (), before: TokenList | None = None) -> TokenList:
    """Read a source up to its end, or to where Python's tokenizer gives up; add to what was read *before*, if any."""
    tokens = TokenList() if before is None else before
    for statement in _all_statements(_ODD_SIGN.sub(_plain_sign, source[:MAX_CHARACTERS]), tokens):
        if len(tokens.words) + len(statement) > MAX_TOKENS:
            tokens.unread.add(f"what follows its first {MAX_TOKENS:,} words and signs")
            continue
        first = statement[0]
        if all(token.type == tokenize.STRING for token in statement):
            for token in statement:
                tokens.remark(token.string)  # of a docstring
        elif first.string not in ("import", "from"):
            _read_statement(statement, prescribed, tokens)
    return tokens


def _plain_sign(found: re.Match[str]) -> str:
    """Return a letter for a sign of which Python makes names and its tokenizer gives up: else all after it is unread.

    So is what stands for a byte that was no UTF-8: a file may declare another encoding.
    """
    return "_" if f"_{found[0]}".isidentifier() or found[0] == "\ufffd" else found[0]


def _all_statements(source: str, tokens: TokenList) -> Iterator[Statement]:
    """Yield the tokens of each statement, and below it those of what is in the braces of its f-strings."""
    left = MAX_EXPRESSIONS
    for statement in without_idle([*_statements(source, tokens)], source):
        yield _without_walrus(statement)
        for string in filter(_is_fstring, statement):
            if left > 0 and len(string.string) <= MAX_FSTRING:
                found = _expressions_in(string.string, left)
                left -= 1 + len(found)
                text = "\n".join(found)
                for inner in without_idle([*_statements(text, tokens)], text):
                    yield _without_walrus([token._replace(start=string.start) for token in inner])
            if left <= 0 or len(string.string) > MAX_FSTRING:
                tokens.unread.add("what is in the braces of some f-strings")


def _statements(source: str, tokens: TokenList) -> Iterator[Statement]:
    """Yield the tokens of each statement; line ends and semicolons separate them."""
    statement: Statement = []
    try:
        for token in read_with_whole_strings(source):
            if token.type == tokenize.COMMENT:
                tokens.remark(token.string)
            elif token.type == tokenize.NEWLINE or token.string == ";":
                if statement:
                    yield statement
                statement = []
            elif token.type == tokenize.ERRORTOKEN:  # Python 3.11 would go on sign by sign
                tokens.unread.add(BROKEN)
                break
            elif token.type not in _LAYOUT:
                statement.append(token)
    except (tokenize.TokenError, SyntaxError, ValueError, IndexError):  # an open bracket, for example
        tokens.unread.add(BROKEN)
    if statement:
        yield statement


def _is_fstring(token: tokenize.TokenInfo) -> bool:
    """Return True for an f-string with braces in it."""
    return token.type == tokenize.STRING and bool(_FSTRING.match(token.string)) and "{" in token.string


def _expressions_in(fstring: str, most: int) -> list[str]:
    """Return what is in the braces of an f-string, and of those within; nothing if that is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = ast.walk(ast.parse(fstring, mode="eval"))
        values = (node.value for node in nodes if isinstance(node, _BRACES))
        return [ast.unparse(value) for value in islice(values, most)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _without_walrus(statement: Statement) -> Statement:
    """Return `a := b`, around which brackets were, as `a = b`."""
    if len(statement) < 3 or statement[1].string != ":=":
        return statement
    return [statement[0], statement[1]._replace(string="="), *statement[2:]]


def _read_statement(statement: Statement, prescribed: Collection[str], tokens: TokenList) -> None:
    depth = 0
    names_parameters = statement[0].string in ("def", "async")  # `dim=-1` there is no keyword argument
    following = [*(token.string for token in statement[1:]), ""]
    for (kind, word, (line, _), _, _), after in zip(statement, following, strict=True):
        if kind == tokenize.NAME:
            name = word if word.isascii() else unicodedata.normalize("NFKC", word)  # as Python reads it
            own = not (keyword.iskeyword(word) or name in _FIXED or name in prescribed)
            if own and (after == "=" and depth > 0 and not names_parameters):
                own = False  # a keyword argument
            elif own and tokens.words[-1:] == ["."]:
                own = tokens.words[-2:] == ["self", "."]
            if name in ("exec", "eval") and after in ("(", "") and tokens.words[-1:] not in (["."], ["def"]):
                tokens.unread.add(f"what `{name}` runs")
            tokens.add(name, line, own=own)
        elif kind == tokenize.STRING:
            tokens.remark(word)
            tokens.add('""', line)
        elif kind == tokenize.NUMBER:
            tokens.add(_number(word), line)
        elif word != "," or after not in (")", "]", "}"):
            depth += _SIGNS.get(word, 0)
            tokens.add(word, line)
    tokens.add(";", statement[-1].start[0])


def _number(word: str) -> str:
    """Return one spelling for equal numbers: 1e3, 1_000. and 1000.0 are the same."""
    try:
        return repr(float(word)) if "." in word or "e" in word.lower() else str(int(word, 0))
    except ValueError:
        return word
