"""How the names of people are compared, wherever they were written: "Lovelace, Ada" is "Ada Lovelace"."""

from __future__ import annotations

import re
import unicodedata

MAX_NAME_CHARS = 300  # a name of more is turned round no further: each of its words would cost as many again


def name_words(name: str) -> list[str]:
    """Split a name, without accents and signs, given name first: "Lovelace, Ada" becomes ["ada", "lovelace"]."""
    last, comma, first = name.partition(",")
    ordered = f"{first} {last}" if comma else name
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", ordered) if not unicodedata.combining(sign))
    return re.findall(r"\w+", plain.casefold().replace("_", " "))


def name_keys(name: str) -> set[str]:
    """Return a name's words sorted, and run together with the family name last or first."""
    words = name_words(name[:MAX_NAME_CHARS])
    if not words:
        return set()
    turned = [words[start:] + words[:start] for start in range(len(words))]
    return {" ".join(sorted(words)), *("".join(each) for each in turned)}


def may_be_same(one: str, other: str) -> bool:
    """Return True unless two names contradict: they share a word, or one holds words of the other run together."""
    first, second = name_words(one), name_words(other)
    if not first or not second:
        return True
    return bool({*first} & {*second}) or _holds_words(first, second) or _holds_words(second, first)


def _holds_words(words: list[str], others: list[str]) -> bool:
    return len(words) == 1 and sum(word in words[0] for word in others) > 1
