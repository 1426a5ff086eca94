"""Names that no two hand-ins of a run share: their ids, and the names of the files that are written for them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

LONGEST_NAME = 100  # bytes of a feedback file's name; file systems take 255


def file_name(own_id: str) -> str:
    """Letters, digits and `_.@+-` only, and nothing that a file system would hide or refuse."""
    plain = re.sub(r"[^\w.@+-]", "_", unicodedata.normalize("NFC", own_id)).strip(".")
    return plain.encode()[:LONGEST_NAME].decode("utf-8", "ignore") or "_"


def unique(names: Sequence[str], others: Sequence[str], *, fold: bool = False) -> list[str]:
    """The names, made different where two are equal: first by taking the other name, then by a number. With `fold`,
    names that differ only in capitals count as equal."""
    counts = Counter(_key(name, fold) for name in names)
    taken: dict[str, int] = {}  # each name, and how often it was wanted
    chosen = []
    for name, other in zip(names, others, strict=True):
        base = name if counts[_key(name, fold)] == 1 else other
        new = base
        while _key(new, fold) in taken:
            taken[_key(base, fold)] = number = taken.get(_key(base, fold), 1) + 1
            new = f"{base}-{number}"
        taken[_key(new, fold)] = 1
        chosen.append(new)
    return chosen


def _key(name: str, fold: bool) -> str:
    return name.casefold() if fold else name
