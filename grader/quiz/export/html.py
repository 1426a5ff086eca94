"""Our texts as HTML: paragraphs, lists, `code`. Everything is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

_CODE = re.compile(r"`([^`\n]+)`")
_ITEM = re.compile(r"^-\s+")


def inline(text: str) -> str:
    """A text without paragraphs."""
    pieces = _CODE.split(" ".join(text.split()))
    return "".join(f"<code>{escape(each)}</code>" if at % 2 else escape(each) for at, each in enumerate(pieces))


def prose(text: str) -> str:
    """Paragraphs, divided by empty lines; lines that begin with a dash are a list."""
    return "".join(_paragraph(each.split("\n")) for each in re.split(r"\n\s*\n", text.strip()))


def items(texts: Sequence[str], kind: str = "ul") -> str:
    """A list, each text an item."""
    return f"<{kind}>{''.join(f'<li>{inline(text)}</li>' for text in texts)}</{kind}>" if texts else ""


def code(text: str) -> str:
    """Code as it stands."""
    return f"<pre>{escape(text)}</pre>" if text else ""


def escape(text: str) -> str:
    return html.escape(text, quote=False)


def _paragraph(lines: Sequence[str]) -> str:
    before: list[str] = []
    listed: list[str] = []
    for line in lines:
        if _ITEM.match(line.strip()):
            listed.append(_ITEM.sub("", line.strip()))
        elif listed:
            listed[-1] += f" {line.strip()}"
        else:
            before.append(line)
    return (f"<p>{inline(' '.join(before))}</p>" if before else "") + items(listed)
