"""Set a formula as MathML, which browsers draw, and screen readers read, without a script."""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape
from xml.etree import ElementTree

# none of these runs anything, leads anywhere or changes a colour; what LaTeX can ask for beside them is left out
KEPT = {"accent", "columnalign", "displaystyle", "fence", "form", "scriptlevel", "stretchy", "width"}


def formula_html(lines: Sequence[str]) -> str:
    """Return LaTeX as MathML, each line below the last; "" where it cannot be read: the text has it in characters."""
    try:
        from latex2mathml.converter import convert_to_element

        roots = [convert_to_element(line, display="block") for line in lines]
    except Exception:  # its errors have nothing in common; and whoever has pulled this may not have it yet
        return ""
    return "".join(f'<math display="block">{"".join(map(_write, root))}</math>' for root in roots)


def _write(element: ElementTree.Element) -> str:
    """Write an element of ours: the library's own text of it does not escape what stands in `\\text`."""
    clean = ElementTree.Element(element.tag, {name: value for name, value in element.items() if name in KEPT})
    clean.text = unescape(element.text or "")
    inside = "".join(map(_write, element))
    written = ElementTree.tostring(clean, encoding="unicode", short_empty_elements=False)
    return written.replace(f"</{element.tag}>", f"{inside}</{element.tag}>")
