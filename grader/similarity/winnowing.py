"""Fingerprints of a source: hashes of short runs of tokens, thinned by winnowing.

Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document fingerprinting", SIGMOD 2003: the smallest
hash of every window is kept, so two files that share WINDOW + RUN_LENGTH - 1 tokens in a row share a print. Within a
run each chosen name is the distance back to its last use: renaming changes nothing, confusing two names does.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from grader.model import Lesson
from grader.model.validate import parse_json, validated
from grader.similarity.tokens import MAX_CHARACTERS, MAX_REMARK_LENGTH, MAX_TOKENS, TokenList, read_tokens

RUN_LENGTH = 12  # tokens: more than one idiomatic line, fewer than two original ones
WINDOW = 4
MAX_NAMES = 60
PRINT = np.dtype([("hash", "<u4"), ("at", "<u2"), ("line", "<u2"), ("last", "<u2")])  # token, first and last line

Prints = npt.NDArray[np.void]


class Printed(TypedDict):
    """What `find_similar` needs of a learner's file, as plain data of a few kilobytes."""

    prints: str
    text: int
    names: list[str]
    remarks: list[str]


def fingerprint(lesson: Lesson, source: str) -> Printed:
    """Return what `find_similar` needs of a learner's file."""
    tokens = read_tokens(source, lesson.kinds)
    packed = np.array(list(winnow(tokens)), dtype=PRINT)
    return {
        "prints": base64.b64encode(packed.tobytes()).decode(),
        "text": zlib.crc32(" ".join(tokens.words).encode("utf-8", "replace")),
        "names": sorted(tokens.names)[:MAX_NAMES],
        "remarks": sorted(tokens.remarks)[:MAX_NAMES],
    }


def read_fingerprints(text: str) -> dict[str, Printed]:
    """Read, by lesson, what `fingerprint` returned, from JSON. Raises ValueError."""
    prints: dict[str, Printed] = validated(parse_json(text), dict[str, Printed])
    for each in prints.values():
        names, remarks = each["names"], each["remarks"]
        too_long = sum(map(len, names)) > MAX_CHARACTERS or any(len(remark) > MAX_REMARK_LENGTH for remark in remarks)
        if too_long or max(len(names), len(remarks)) > MAX_NAMES or len(unpack_prints(each["prints"])) > MAX_TOKENS:
            raise ValueError("this is more than is kept of a file")
    return prints


def unpack_prints(prints: str) -> Prints:
    """Return the array of `PRINT` that `fingerprint` packed."""
    return np.frombuffer(base64.b64decode(prints), dtype=PRINT)


def hash_runs(tokens: TokenList) -> list[int]:
    """Return the hash of every run of RUN_LENGTH tokens."""
    words, before = _relative_names(tokens)
    found = []
    for start in range(len(words) - RUN_LENGTH + 1):
        run = words[start : start + RUN_LENGTH]
        for index, last in enumerate(before[start : start + RUN_LENGTH]):
            if last is not None and last < start:  # its last use is not in this run
                run[index] = "#"
        found.append(zlib.crc32(" ".join(run).encode("utf-8", "replace")))
    return found


def _relative_names(tokens: TokenList) -> tuple[list[str], list[int | None]]:
    """Return the tokens, each chosen name as the distance back to its last use, and the index of that.

    The index is -1 at the first use, and None for what is not a chosen name.
    """
    words: list[str] = []
    before: list[int | None] = []
    last_use: dict[str, int] = {}
    for index, (word, own) in enumerate(zip(tokens.words, tokens.chosen, strict=True)):
        last = last_use.get(word, -1) if own else None
        words.append(word if last is None else f"#{index - last}")
        before.append(last)
        if own:
            last_use[word] = index
    return words, before


def winnow(tokens: TokenList) -> Iterator[tuple[int, int, int, int]]:
    """Yield the last of the smallest hashes of every window, once each, with its token, first and last line."""
    every = hash_runs(tokens)
    taken = -1
    for start in range(max(1, len(every) - WINDOW + 1) if every else 0):
        window = every[start : start + WINDOW]
        index = start + len(window) - 1 - window[::-1].index(min(window))
        if index != taken:
            taken = index
            first, last = tokens.lines[index], tokens.lines[index + RUN_LENGTH - 1]
            yield every[index], index, min(first, 0xFFFF), min(last, 0xFFFF)
