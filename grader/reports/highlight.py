"""Colour Python source, one line after the other, for pages.

One expression goes over the text once and takes any text: code that was handed in need not be Python. It costs a tenth
of what pygments does, which would be felt in every run over a class.
"""

from __future__ import annotations

import keyword
import re
from html import escape

from grader.reports.html_document import harmless

MAX_LINES = 2_000  # of one file
MAX_COLUMNS = 500
_WORDS = "|".join(keyword.kwlist)
# an open string runs to the end of its line or of the text, so that no part is read again
_TOKEN = re.compile(
    r"(?P<comment>\#[^\n]*)"
    r"|(?P<string>(?<!\w)[rbfuRBFU]{0,2}(?:\"\"\"(?:[^\\\"]|\\.?|\"(?!\"\"))*+(?:\"\"\")?|'''(?:[^\\']|\\.?|'(?!''))*+(?:''')?"
    r"|\"(?:[^\"\\\n]|\\[^\n]?)*+\"?|'(?:[^'\\\n]|\\[^\n]?)*+'?))"
    rf"|\b(?P<keyword>{_WORDS})\b"
    r"|\b(?P<number>\d[\w.]*)"
    r"|(?<=def )(?P<name>\w+)|(?<=class )(?P<type>\w+)",
    re.DOTALL,
)


def highlight_lines(source: str) -> tuple[list[str], int]:
    """Return the lines of a source as HTML, escaped, with a span around each token, and how many more there are."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").expandtabs(8).split("\n")
    text = "\n".join(harmless(line[:MAX_COLUMNS]) for line in lines[:MAX_LINES])
    pieces, end = [], 0
    for token in _TOKEN.finditer(text):
        close, begin = "</span>", f'<span class="{token.lastgroup}">'
        pieces += [escape(text[end : token.start()]), begin]
        pieces += [escape(token[0]).replace("\n", f"{close}\n{begin}"), close]
        end = token.end()
    return "".join([*pieces, escape(text[end:])]).split("\n"), max(0, len(lines) - MAX_LINES)
