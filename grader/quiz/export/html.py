"""Convert the course's texts to HTML: paragraphs, lists, `code`. Everything is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from grader.quiz.model import OpenQuestion

_CODE = re.compile(r"`([^`\n]+)`")
_ITEM = re.compile(r"^-\s+")


def inline(text: str) -> str:
    """Convert a text of one paragraph."""
    pieces = _CODE.split(" ".join(text.split()))
    return "".join(f"<code>{escape(each)}</code>" if at % 2 else escape(each) for at, each in enumerate(pieces))


def to_html(text: str) -> str:
    """Convert paragraphs, divided by empty lines, and lists, whose items begin with a dash."""
    return "".join(_convert_paragraph(each.split("\n")) for each in re.split(r"\n\s*\n", text.strip()))


def make_list(texts: Sequence[str], kind: str = "ul") -> str:
    """Make a list of texts."""
    return f"<{kind}>{''.join(f'<li>{inline(text)}</li>' for text in texts)}</{kind}>" if texts else ""


def code_block(text: str) -> str:
    """Make a block of code."""
    return f"<pre>{escape(text)}</pre>" if text else ""


def full_answer(question: OpenQuestion) -> str:
    """Convert the key points and the model answer of an open question."""
    points = make_list([f"It {point.says}." for point in question.key_points])
    return f"<p>A full answer:</p>{points}{to_html(question.model_answer)}"


def escape(text: str) -> str:
    return html.escape(text, quote=False)


def _convert_paragraph(lines: Sequence[str]) -> str:
    before: list[str] = []
    listed: list[str] = []
    for line in lines:
        if _ITEM.match(line.strip()):
            listed.append(_ITEM.sub("", line.strip()))
        elif listed:
            listed[-1] += f" {line.strip()}"
        else:
            before.append(line)
    return (f"<p>{inline(' '.join(before))}</p>" if before else "") + make_list(listed)
