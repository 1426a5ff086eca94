"""Render pages as self-contained files: templates with escaping on, style and script inside, nothing loaded.

All that a page shows goes through `clean` (no control characters, no changes of direction) and is then escaped. The
policy in the page's head allows the browser only our style and script.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from grader.terminal.text import CODE, MAX_CHARS, clean, name_questions, plural, score_text

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
PIECE_EVENTS = 500  # of a template, in one piece of a streamed page
# after these a long line of code breaks well
BREAKS = re.compile(r"(?<=\w)_(?=\w)|\((?=\S)|\.(?=[A-Za-z_])|(?<=\w)=(?=\w)")


def render(name: str, context: Mapping[str, Any], folder: Path = TEMPLATES) -> str:
    """Render a whole page from the template `name` in a folder; it may use the templates here, too."""
    return _environment(folder).get_template(f"{name}.html.j2").render(context)


def stream(name: str, context: Mapping[str, Any]) -> Iterator[str]:
    """Render a long page in pieces."""
    pieces = _environment(TEMPLATES).get_template(f"{name}.html.j2").stream(context)
    pieces.enable_buffering(PIECE_EVENTS)
    return iter(pieces)


def file_link(folder: str, file: str, suffix: str = ".html") -> str:
    """Return a relative link to a file of any name."""
    return f"{folder}/{quote(file, safe='', errors='replace')}{suffix}"


@cache
def _environment(folder: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        auto_reload=False,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, "breakable": breakable, "score": score, "percent": percent}
    environment.filters |= {"questions": name_questions}
    environment.globals |= {"plural": plural, "style": _read_markup("style.css"), "script": _read_markup("sort.js")}
    environment.globals |= {"hashes": {name: hash_of(name) for name in ("style.css", "sort.js")}}
    return environment


def prose(text: str) -> Markup:
    """Escape a sentence and set its `code` off."""
    from markupsafe import Markup, escape

    return Markup(CODE.sub(lambda code: f"<code>{code[0][1:-1]}</code>", str(escape(harmless(text)))))


def breakable(code: str) -> Markup:
    """Escape code and say where a narrow page may break it: inside a name only after an underscore or a dot."""
    from markupsafe import Markup, escape

    return Markup(BREAKS.sub(r"\g<0><wbr>", str(escape(harmless(code)))))


def score(value: float | None) -> str:
    """Write a score with its decimal; a dash if there is none."""
    return "–" if value is None else score_text(value)


def percent(share: float | None) -> str:
    """Write a share as a whole percentage, 0% and 100% only if it is exact; a dash if there is none."""
    if share is None:
        return "–"
    whole = round(100 * share)
    return f"{min(max(whole, 1), 99) if 0 < share < 1 else whole}%"


def harmless(text: str) -> str:
    """Clean a text, at no cost for most texts."""
    if len(text) < MAX_CHARS and text.isascii() and text.replace("\n", "").isprintable():
        return text
    return clean(text)


def _finalize(value: object) -> object:
    """Clean what a template puts out; Markup is our own, made of clean text."""
    return harmless(value) if type(value) is str else value


def _read_markup(name: str) -> Markup:
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def hash_of(name: str) -> str:
    """Return the hash by which the page's policy allows a style or script."""
    digest = hashlib.sha256((TEMPLATES / name).read_text(encoding="utf-8").encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
