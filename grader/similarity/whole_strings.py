"""Python's tokens, with an f-string as one on every version of it."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

Statement = list[tokenize.TokenInfo]
# from Python 3.12 on an f-string is many tokens
_OPENS, _CLOSES = (
    frozenset(kind for kind, name in tokenize.tok_name.items() if name.endswith(end))
    for end in ("STRING_START", "STRING_END")
)


def read_with_whole_strings(source: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of a source with each f-string as one, as Python 3.11 has it. Raises what `tokenize` does."""
    opened: Statement = []
    lines = source.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in _OPENS:
            opened.append(token)
        elif token.type in _CLOSES:
            if (first := opened.pop()) and not opened:
                own = lines[first.start[0] - 1 : token.end[0]]
                text = "\n".join([*own[:-1], own[-1][: token.end[1]]])[first.start[1] :]
                yield token._replace(type=tokenize.STRING, string=text, start=first.start)
        elif not opened:
            yield token
