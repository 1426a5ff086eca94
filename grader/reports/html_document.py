"""Pages as one self-contained file: templates with escaping on, style and script inside, nothing from elsewhere.

Whatever a page shows goes through `clean` (no control characters, no changes of direction) and is then escaped; the
policy in the page's head lets the browser run and load only the style and the script that we put there.
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

from grader.terminal.text import MAX_CHARS, clean, plural, score_text

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
PIECE = 500  # template events in one piece of a streamed page

_CODE = re.compile(r"`([^`\n]+)`")


def render(name: str, context: Mapping[str, Any]) -> str:
    """A whole page from the template `name`."""
    return _template(name).render(context)


def stream(name: str, context: Mapping[str, Any]) -> Iterator[str]:
    """A page in pieces, for those that are long."""
    pieces = _template(name).stream(context)
    pieces.enable_buffering(PIECE)
    return iter(pieces)


def file_link(folder: str, file: str, suffix: str = ".html") -> str:
    """A relative link to a file whose name may hold anything."""
    return f"{folder}/{quote(file, safe='', errors='replace')}{suffix}"


def _template(name: str) -> Template:
    return _environment().get_template(f"{name}.html.j2")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, "score": score, "percent": percent}
    environment.globals |= {"plural": plural, "style": _inside("style.css"), "script": _inside("sort.js")}
    environment.globals |= {"hashes": {name: _hash(name) for name in ("style.css", "sort.js")}}
    return environment


def prose(text: str) -> Markup:
    """A sentence, escaped, its `code` set off."""
    from markupsafe import Markup, escape

    pieces = _CODE.split(harmless(text))  # text, code, text, ...
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 else escape(piece) for place, piece in enumerate(pieces)
    )


def score(value: float | None) -> str:
    """A score with its decimal; a dash where there is none."""
    return "–" if value is None else score_text(value)


def percent(share: float | None) -> str:
    """A share as a whole percentage; 0% and 100% only when it is exactly that. A dash where there is none."""
    if share is None:
        return "–"
    whole = round(100 * share)
    return f"{min(max(whole, 1), 99) if 0 < share < 1 else whole}%"


def harmless(text: str) -> str:
    """A text without what no page may hold; `clean`, but at no cost for most texts."""
    if len(text) < MAX_CHARS and text.isascii() and text.replace("\n", "").isprintable():
        return text
    return clean(text)


def _shown(value: object) -> object:
    """What a template puts out for a value. Markup is ours, and made of what was harmless."""
    return harmless(value) if type(value) is str else value


def _inside(name: str) -> Markup:
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _hash(name: str) -> str:
    """What the page's policy calls a style or script that may be used."""
    digest = hashlib.sha256((TEMPLATES / name).read_text(encoding="utf-8").encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
