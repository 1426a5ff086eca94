"""Reads a page as a browser's parser would, to say what is markup in it and what is text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

BLOCKS = {"p", "div", "li", "td", "th", "tr", "dt", "dd", "h1", "h2", "h3", "section", "table", "details", "summary"}
VOID = {"meta", "br", "hr", "input", "img", "link", "wbr"}
STYLE = Path(__file__).parents[2] / "grader/reports/templates/style.css"


class Page(HTMLParser):
    """The tags with their attributes, the text outside of style and script, and what those two hold."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = text
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.said: list[str] = []
        self.raw: dict[str, list[str]] = {"style": [], "script": []}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)
        if tag in BLOCKS:
            self.said.append(" ")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data):
        holder = self.open[-1] if self.open else ""
        self.raw.get(holder, self.said).append(data)

    @property
    def text(self) -> str:
        """All text, its white space as one space."""
        return re.sub(r"\s+", " ", "".join(self.said))

    def all(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of every such tag."""
        return [attributes for name, attributes in self.tags if name == tag]

    def values(self, attribute: str) -> list[str]:
        """Every value of an attribute, in order."""
        return [attributes[attribute] for _, attributes in self.tags if attribute in attributes]


def colours(dark: bool) -> dict[str, str]:
    """Return the colours of the style, by name."""
    css = STYLE.read_text("utf-8")
    block = re.findall(r":root \{([^}]*)\}", css)[1 if dark else 0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def contrast(one: str, other: str) -> float:
    """Compute the contrast ratio of two colours `#rrggbb` (WCAG 2.2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
