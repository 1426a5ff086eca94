"""Tell a page that our templates can have written from one that somebody has put something else into.

A list of what is forbidden would have to know every way in which a page reaches out. This one says what is allowed, in
the one spelling that the templates have: each `<` begins a tag of these, and no value holds one. Nothing is left that a
browser could take for anything else, whatever its parser forgives.
"""

from __future__ import annotations

import re
from functools import cache

from grader.reports.html_document import TEMPLATES, render

# of the pages of a run, below their head
ELEMENTS = (
    "a|b|bdi|body|caption|circle|code|dd|desc|details|div|dl|dt|em|figcaption|figure|footer|h1|h2|h3|head|header|html"
    "|i|li|line|main|nav|ol|p|polyline|pre|rect|section|small|span|summary|svg|table|tbody|td|text|th|thead|title|tr"
    "|ul|wbr"
)
# none of these takes an address, whatever stands in it
ATTRIBUTES = (
    "aria-hidden|aria-label|aria-labelledby|class|cx|cy|data-words|font-size|height|id|points|preserveAspectRatio|r"
    "|role|rx|scope|tabindex|viewBox|width|x|x1|x2|y|y1|y2"
)
_PLAIN = rf'(?:{ATTRIBUTES})="[^"<>]*"|fill="#[0-9a-f]{{6}}"|open'
_LINK = r'href="(?:#[^"<>]*|(?:\.\./)?(?:(?:feedback|code|alike)/[\w.~%-]+\.html|report\.html(?:#alike)?))"'
_MOST = "{0,20}"  # attributes of a tag; of any number, what may be undone is kept of each: 2 GB for a page of 64 MB
_STRANGE = re.compile(
    rf"<(?!/?(?:{ELEMENTS})(?: (?:{_PLAIN})){_MOST}/?>|a(?: (?:{_PLAIN}|{_LINK})){_MOST}>)", flags=re.ASCII
)


def can_be_ours(page: str) -> bool:
    """Return True for a page with our own head, style and script, and no other tags than our templates write."""
    body = page.removeprefix(_start())
    for own in (_read("style", "style.css"), _read("script", "sort.js")):
        body = body.replace(own, "<p>")  # a tag, lest what stands before and behind become one
    return page.startswith(_start()) and not _STRANGE.search(body)


@cache
def _start() -> str:
    """Return what every page begins with, up to its title."""
    return render("base", {}).partition("<title>")[0]


@cache
def _read(element: str, file: str) -> str:
    return f"<{element}>{(TEMPLATES / file).read_text(encoding='utf-8')}</{element}>"
