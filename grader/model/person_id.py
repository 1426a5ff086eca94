"""How the ids of people are compared, wherever they were written: in names, lists, gradebooks and extensions."""

from __future__ import annotations

import unicodedata

MAX_ID_CHARS = 300  # before and after its letters are unfolded: one can become 18


def fold_id(text: str) -> str:
    """Return an id for comparison: without case, forms of accents, and zeros before a number."""
    text = unicodedata.normalize("NFKC", text[:MAX_ID_CHARS]).casefold()
    plain = unicodedata.normalize("NFKC", text)[:MAX_ID_CHARS].strip()
    return plain.lstrip("0") or "0" if plain.isascii() and plain.isdigit() else plain
