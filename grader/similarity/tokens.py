"""Python source as the tokens that remain when what is easily changed has been taken away.

Layout, comments, docstrings and imports are gone, and it is known which names are of the author's own choice: not those
of the library, of keyword arguments and of what the exercise prescribes. Nothing is run, and any text can be read.
"""

from __future__ import annotations

import builtins
import io
import keyword
import re
import tokenize
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

MOST_CHARACTERS = 1 << 16  # of one file; what comes after is not looked at
FEWEST_WORDS = 3  # a comment of fewer says nothing about its author
LONGEST_REMARK = 80  # characters

_FIXED = frozenset({*keyword.kwlist, *dir(builtins), "self"})
_LAYOUT = frozenset({tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING})
_SIGNS = {**dict.fromkeys("([{", 1), **dict.fromkeys(")]}", -1)}

Statement = list[tokenize.TokenInfo]


@dataclass
class Reading:
    """One file: the text of each token, whether it is a name of the author's own choice, and its line (from 1).

    `remarks` are what comments, docstrings and texts of several words say, in small letters.
    """

    words: list[str] = field(default_factory=list)
    chosen: list[bool] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    remarks: set[str] = field(default_factory=set)

    @property
    def names(self) -> set[str]:
        """The names that the author chose."""
        return {word for word, own in zip(self.words, self.chosen, strict=True) if own}

    def add(self, word: str, line: int, *, own: bool = False) -> None:
        """One more token."""
        self.words.append(word)
        self.chosen.append(own)
        self.lines.append(line)

    def remark(self, text: str) -> None:
        """Keep what a comment or a text says, if it says anything."""
        words = re.findall(r"[^\W\d_]{2,}", text.casefold())
        if len(words) >= FEWEST_WORDS:
            self.remarks.add(" ".join(words)[:LONGEST_REMARK])


def read(source: str, prescribed: Collection[str] = ()) -> Reading:
    """Read a source to its end, or to where Python's tokenizer gives up."""
    reading = Reading()
    for statement in _statements(source[:MOST_CHARACTERS], reading):
        first = statement[0]
        if len(statement) == 1 and first.type == tokenize.STRING:
            reading.remark(first.string)  # a docstring
        elif first.string not in ("import", "from"):
            _read_statement(statement, prescribed, reading)
    return reading


def _statements(source: str, reading: Reading) -> Iterator[Statement]:
    """The tokens of one statement after another, whether a line's end or a semicolon parts them."""
    statement: Statement = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                reading.remark(token.string)
            elif token.type == tokenize.NEWLINE or token.string == ";":
                if statement:
                    yield statement
                statement = []
            elif token.type not in _LAYOUT:
                statement.append(token)
    except (tokenize.TokenError, SyntaxError, ValueError):  # an open bracket, say: what came before was read
        pass
    if statement:
        yield statement


def _read_statement(statement: Statement, prescribed: Collection[str], reading: Reading) -> None:
    depth = 0
    names_parameters = statement[0].string in ("def", "async")  # `dim=-1` there is no keyword argument
    following = [*(token.string for token in statement[1:]), ""]
    for (kind, word, (line, _), _, _), after in zip(statement, following, strict=True):
        if kind == tokenize.NAME:
            own = word not in _FIXED and word not in prescribed
            if own and (after == "=" and depth > 0 and not names_parameters):
                own = False  # a keyword argument
            elif own and reading.words[-1:] == ["."]:
                own = reading.words[-2:] == ["self", "."]
            reading.add(word, line, own=own)
        elif kind == tokenize.STRING:
            reading.remark(word)
            reading.add('""', line)
        elif kind == tokenize.NUMBER:
            reading.add(_number(word), line)
        else:
            depth += _SIGNS.get(word, 0)
            reading.add(word, line)
    reading.add(";", statement[-1].start[0])


def _number(word: str) -> str:
    """One spelling for each number: 1e3, 1_000. and 1000.0 are the same."""
    try:
        return repr(float(word)) if "." in word or "e" in word.lower() else str(int(word, 0))
    except ValueError:
        return word
