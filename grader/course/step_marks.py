"""The marks that name the steps of a reference: `total = powers.sum(dim)  # step: total`."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

MARK = re.compile(r"# step: (\w+)")


def read_marks(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each mark."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        found = MARK.search(token.string) if token.type == tokenize.COMMENT else None
        if found:
            yield token.start[0], found[1]


def strip_marks(source: str) -> str:
    """Return a reference as learners see it."""
    return re.sub(rf" *{MARK.pattern} *$", "", source, flags=re.MULTILINE)
