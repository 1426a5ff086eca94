"""How the ids of people are compared, wherever they were written: in names, lists, gradebooks and extensions."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

MAX_ID_CHARS = 300  # before and after its letters are unfolded: one can become 18


def find_logins(addresses: Iterable[tuple[str, T]]) -> list[tuple[str, T]]:
    """Return what stands before the "@" of addresses at the domain that most of them have, each with its owner.

    Such a part is a login where one school gives the addresses; where people choose them, anybody's id can be one.
    """
    split = [(*address.strip().rpartition("@"), owner) for address, owner in addresses if "@" in address]
    counts = Counter(domain.casefold() for _, _, domain, _ in split)
    return [(login, owner) for login, _, domain, owner in split if 2 * counts[domain.casefold()] > len(split)]


def why_incomparable(text: str) -> str:
    """Return why an id or name cannot be compared as a whole; "" for one that can."""
    too_long = len(text) > MAX_ID_CHARS
    return f"an id or name has at most {MAX_ID_CHARS} characters, and this one {len(text)}" if too_long else ""


def fold_id(text: str) -> str:
    """Return an id for comparison: without case, forms of accents, and zeros before a number."""
    text = unicodedata.normalize("NFKC", text[:MAX_ID_CHARS]).casefold()
    plain = unicodedata.normalize("NFKC", text)[:MAX_ID_CHARS].strip()
    return plain.lstrip("0") or "0" if plain.isascii() and plain.isdigit() else plain
