"""A source's fingerprints: hashes of short runs of tokens, thinned by winnowing.

Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document fingerprinting", SIGMOD 2003: the smallest
hash of every window is kept, so two files that share WINDOW + LENGTH - 1 tokens in a row share at least one print. In a
run each chosen name counts as the distance back to where it last stood: renaming changes nothing, mixing two names up
does.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.model import Lesson
from grader.similarity.tokens import Reading, read

LENGTH = 12  # tokens: more than a line's idiom, fewer than two lines of anyone's own
WINDOW = 4
MOST_NAMES = 60
PRINT = np.dtype([("hash", "<u4"), ("at", "<u2"), ("line", "<u2"), ("last", "<u2")])  # token, first and last line

Prints = npt.NDArray[np.void]


def fingerprint(lesson: Lesson, source: str) -> dict[str, Any]:
    """What `similar` needs to know of a learner's file, as plain data of a few kilobytes."""
    reading = read(source, lesson.kinds)
    packed = np.array(list(winnowed(reading)), dtype=PRINT)
    return {
        "prints": base64.b64encode(packed.tobytes()).decode(),
        "text": zlib.crc32(" ".join(reading.words).encode("utf-8", "replace")),
        "names": sorted(reading.names)[:MOST_NAMES],
        "remarks": sorted(reading.remarks)[:MOST_NAMES],
    }


def unpacked(prints: str) -> Prints:
    """The array of `PRINT` that `fingerprint` packed."""
    return np.frombuffer(base64.b64decode(prints), dtype=PRINT)


def hashes(reading: Reading) -> list[int]:
    """The hash of every run of LENGTH tokens."""
    words, before = _folded(reading)
    found = []
    for start in range(len(words) - LENGTH + 1):
        run = words[start : start + LENGTH]
        for place, last in enumerate(before[start : start + LENGTH]):
            if last is not None and last < start:  # where it last stood is not in this run
                run[place] = "#"
        found.append(zlib.crc32(" ".join(run).encode("utf-8", "replace")))
    return found


def _folded(reading: Reading) -> tuple[list[str], list[int | None]]:
    """The tokens, each chosen name as the distance back to where it last stood, and where that is: -1 for the first
    time, None for what is not a chosen name."""
    words: list[str] = []
    before: list[int | None] = []
    stood: dict[str, int] = {}
    for place, (word, own) in enumerate(zip(reading.words, reading.chosen, strict=True)):
        last = stood.get(word, -1) if own else None
        words.append(word if last is None else f"#{place - last}")
        before.append(last)
        if own:
            stood[word] = place
    return words, before


def winnowed(reading: Reading) -> Iterator[tuple[int, int, int, int]]:
    """The last of the smallest hashes of every window, each once, with where it stands."""
    every = hashes(reading)
    taken = -1
    for start in range(max(1, len(every) - WINDOW + 1) if every else 0):
        window = every[start : start + WINDOW]
        place = start + len(window) - 1 - window[::-1].index(min(window))
        if place != taken:
            taken = place
            first, last = reading.lines[place], reading.lines[place + LENGTH - 1]
            yield every[place], place, min(first, 0xFFFF), min(last, 0xFFFF)
