"""Fingerprints of a source: hashes of short runs of tokens, thinned by winnowing.

Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document fingerprinting", SIGMOD 2003: the smallest
hash of every window is kept, so two files that share WINDOW + RUN_LENGTH - 1 tokens in a row share a print. Within a
run each chosen name is the distance back to its last use: renaming changes nothing, confusing two names does.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from grader.model import Lesson
from grader.model.validate import parse_json, validated
from grader.similarity.tokens import MAX_CHARACTERS, MAX_REMARK_LENGTH, TokenList, read_tokens

RUN_LENGTH = 12  # tokens: more than one idiomatic line, fewer than two original ones
WINDOW = 4
MAX_NAMES = 60
MAX_NAME_LENGTH = 80  # characters of a name that are kept
MAX_PRINTS = 8192  # of one file, beyond which a run that is repeated has one; an exercise has a few hundred
PRINT = np.dtype([("hash", "<u4"), ("at", "<u2"), ("line", "<u2"), ("last", "<u2")])  # token, first and last line

Prints = npt.NDArray[np.void]


class Printed(TypedDict):
    """What `compare_lessons` needs of a learner's file, as plain data of a few kilobytes."""

    prints: str
    text: int
    names: list[str]
    remarks: list[str]


class Fingerprint(Printed):
    """The same with what was not read of the file, in words."""

    unread: list[str]


def fingerprint(lesson: Lesson, *sources: str) -> Fingerprint:
    """Return what `compare_lessons` needs of a learner's file, and of those that belong to it.

    Lines are counted on from one to the next, of which each but the last has to end with a newline.
    """
    tokens = TokenList()
    for source in sources:
        read_tokens(source, lesson.kinds, tokens)
        tokens.above += source.count("\n")
    return {
        "prints": base64.b64encode(winnow(tokens).tobytes()).decode(),
        "text": zlib.crc32(" ".join(tokens.words).encode("utf-8", "replace")),
        "names": sorted({name[:MAX_NAME_LENGTH] for name in tokens.names})[:MAX_NAMES],
        "remarks": sorted(tokens.remarks)[:MAX_NAMES],
        "unread": sorted(tokens.unread),
    }


def has_code(prints: Mapping[str, Any]) -> bool:
    """Return False for what `fingerprint` returned for a file in which it read no token."""
    return bool(prints["prints"] or prints["text"])  # the checksum of no text is 0


def read_fingerprints(text: str) -> dict[str, Printed]:
    """Read, by lesson, what `fingerprint` returned, from JSON. Raises ValueError."""
    prints: dict[str, Printed] = validated(parse_json(text), dict[str, Printed])
    for each in prints.values():
        names, remarks = each["names"], each["remarks"]
        too_long = sum(map(len, names)) > MAX_CHARACTERS or any(len(remark) > MAX_REMARK_LENGTH for remark in remarks)
        if too_long or max(len(names), len(remarks)) > MAX_NAMES:
            raise ValueError("this is more than is kept of a file")
        if not _is_possible(unpack_prints(each["prints"])):
            raise ValueError("these are no fingerprints of a file")
    return prints


def _is_possible(prints: Prints) -> bool:
    """Return False for what `winnow` makes of no file: prints out of order, or that go over more lines than it has."""
    at, line, last = (prints[field].astype(np.int64) for field in ("at", "line", "last"))
    if not len(prints):
        return True
    in_order = (np.diff(at) > 0).all() and all((np.diff(lines) >= 0).all() for lines in (line, last))
    spans = last - line
    # from one token to the next go RUN_LENGTH - 1 runs at most
    return bool(in_order and spans.min() >= 0 and spans.sum() <= (RUN_LENGTH - 1) * (last[-1] - line[0]))


def unpack_prints(prints: str) -> Prints:
    """Return the array of `PRINT` that `fingerprint` packed."""
    return np.frombuffer(base64.b64decode(prints), dtype=PRINT)


def hash_runs(tokens: TokenList) -> list[int]:
    """Return the hash of every run of RUN_LENGTH tokens."""
    words, next_use = _relative_names(tokens)
    found = []
    for start in range(len(words) - RUN_LENGTH + 1):
        found.append(zlib.crc32(b" ".join(words[start : start + RUN_LENGTH])))
        if start in next_use:  # later runs do not have this use
            words[next_use[start]] = b"#"
    return found


def _relative_names(tokens: TokenList) -> tuple[list[bytes], dict[int, int]]:
    """Return the tokens, each chosen name as the distance back to its last use, and for each use the next one."""
    words: list[bytes] = []
    next_use: dict[int, int] = {}
    last_use: dict[str, int] = {}
    for index, (word, own) in enumerate(zip(tokens.words, tokens.chosen, strict=True)):
        shown = word
        if own:
            last = last_use.get(word)
            shown = "#" if last is None else f"#{index - last}"
            if last is not None:
                next_use[last] = index
            last_use[word] = index
        words.append(shown.encode("utf-8", "replace"))
    return words, next_use


def winnow(tokens: TokenList) -> Prints:
    """Return the last of the smallest hashes of every window, once each, with its token, first and last line."""
    every = np.array(hash_runs(tokens), dtype="<u4")
    if not len(every):
        return np.empty(0, PRINT)
    # whatever order Python's tokenizer gives them: `read_fingerprints` refuses a line before the last one
    lines = np.minimum(np.maximum.accumulate(tokens.lines), 0xFFFF)
    windows = sliding_window_view(every, min(WINDOW, len(every)))  # (window, run)
    before_last = windows[:, ::-1].argmin(axis=1)
    taken = np.unique(np.arange(len(windows)) + windows.shape[1] - 1 - before_last)
    prints = np.empty(len(taken), PRINT)
    columns = every[taken], taken, lines[taken], lines[taken + RUN_LENGTH - 1]
    for name, column in zip(PRINT.names or (), columns, strict=True):
        prints[name] = column
    if len(prints) > MAX_PRINTS:
        prints = prints[np.sort(np.unique(prints["hash"], return_index=True)[1])]
    return prints
