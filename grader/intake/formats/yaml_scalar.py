"""Values of YAML as libyaml writes them, which Ruby uses: plain, in quotes with escapes, folded over several lines."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

MAX_VALUE_CHARS = 300  # of a name, which a learner chose
MAX_RAW_CHARS = 10 * MAX_VALUE_CHARS + 2  # of it as it is written: `"\U0001F600"`
MAX_FOLDED = MAX_RAW_CHARS // 40  # lines of it, which are about 80 wide
_QUOTED = {"'": re.compile(r"'((?:[^']|'')*+)('?)"), '"': re.compile(r'"((?:[^"\\]|\\.)*+)("?)')}  # open ones, too
_ANCHOR = re.compile(r"&\S+ +")  # before a value that others refer to
# none, a text in several lines, and what a tag explains or stands at another place: `!binary |-`, `*1`
_NOTHING = re.compile(r"|~|null|[|>][-+\d]*|[!*].*", re.DOTALL)
_ESCAPE = re.compile(r"\\(x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|.)")
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b", "N": "\x85",
    "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip


def read_scalar(text: str, following: Iterable[str] = ()) -> str:
    """Return the value that *text* begins, cut to MAX_VALUE_CHARS; the lines *following* are read if it is folded.

    It is empty for none, for a text in several lines, and for what a tag explains.
    """
    text = text[:MAX_RAW_CHARS].strip()
    text = _ANCHOR.sub("", text, count=1) if text.startswith("&") else text
    if _NOTHING.fullmatch(text):
        return ""
    text = _unfold(text, following)
    found = _QUOTED[text[0]].match(text) if text[0] in _QUOTED else None
    if found is None:
        return text[:MAX_VALUE_CHARS]
    if text[0] == "'":
        return found[1].replace("''", "'")[:MAX_VALUE_CHARS]
    # other writers escape a character in two halves, as JSON does
    halves = _ESCAPE.sub(_unescape, found[1]).encode("utf-16", "surrogatepass")
    return halves.decode("utf-16", "replace")[:MAX_VALUE_CHARS]


def _unfold(text: str, following: Iterable[str]) -> str:
    """Return a value as if it stood on one line: the rest of it is indented deeper than any key of ours."""
    empty = 0
    for line in following:
        rest = line.strip(" \t\r")
        if len(text) >= MAX_RAW_CHARS or _is_closed(text) or (rest and not line.startswith(" " * 5)):
            break
        if not rest:
            empty += 1  # the first end of a line is the fold, each other one is the text's own
        elif text[0] == '"' and _ends_in_backslash(text):
            text, empty = text[:-1] + rest[:MAX_RAW_CHARS], 0
        else:
            text, empty = text + ("\n" * empty or " ") + rest[:MAX_RAW_CHARS], 0
    return text


def _is_closed(text: str) -> bool:
    """Return True if a value in quotes ends here."""
    found = _QUOTED[text[0]].match(text) if text[0] in _QUOTED else None
    return bool(found and found[2])


def _ends_in_backslash(text: str) -> bool:
    """Return True if the last sign is a backslash that no other one escapes."""
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _unescape(found: re.Match[str]) -> str:
    """Return the sign that an escape stands for."""
    kind, digits = found[1][0], found[1][1:]
    if not digits:
        return _ESCAPES.get(kind, kind)
    number = int(digits, 16)
    return chr(number) if number <= sys.maxunicode else "\ufffd"
