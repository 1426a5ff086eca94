"""Text that is safe and readable in any terminal, without colour and without a library: what every report shares."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime

LONGEST = 20_000  # characters of a learner's text that are looked at; nobody reads more in a terminal

# CSI, then strings (OSC, DCS, ...) with their end, then two-character escapes. Each part stops at the next escape, so
# that a text made of beginnings only costs no more than its length.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x9c|\x1b\\)?"
    r"|\x1b[ -/]*."
)
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\r\n])", re.MULTILINE)
_REVERSERS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Signs:
    """The signs that stand beside words; never instead of them."""

    passed: str = "✓"
    failed: str = "✗"
    skipped: str = "·"
    trouble: str = "!"
    full: str = "█"
    empty: str = "░"
    arrow: str = "→"


PLAIN_SIGNS = Signs("+", "x", "-", "!", "#", ".", "->")


def signs_for(encoding: str | None) -> Signs:
    """The signs that a stream of this encoding can show."""
    try:
        "✓✗·█░→".encode(encoding or "ascii")
    except (UnicodeError, LookupError):
        return PLAIN_SIGNS
    return Signs()


def clean(text: str) -> str:
    """A learner's text without escape sequences, control characters and changes of direction.

    A line that was overwritten by carriage returns (a progress bar) is left as it looked last. At most LONGEST
    characters are kept.
    """
    cut = text[:LONGEST].replace("\r\n", "\n")
    if cut.replace("\n", "").isprintable():  # most texts: reports on a class clean millions of them
        return cut
    cut = _OVERWRITTEN.sub("", _ESCAPES.sub("", cut)).expandtabs(4)
    return "".join(char for char in cut if char == "\n" or _is_harmless(char))


def _is_harmless(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cs") and char not in _REVERSERS


def bar(share: float, cells: int, signs: Signs) -> str:
    """`share` (0 to 1) of `cells` filled; something is filled as soon as there is something, all only when all is."""
    full = round(share * cells)
    if 0 < share < 1:
        full = min(max(full, 1), cells - 1)
    return signs.full * full + signs.empty * (cells - full)


def score_bar(score: float | None, cells: int, signs: Signs) -> str:
    """A score from 1 to 10 as the share of the points earned: 1.0 fills nothing."""
    return bar(0.0 if score is None else (score - 1) / 9, cells, signs)


def plural(number: int, noun: str) -> str:
    """`1 check`, `2 checks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def score_text(score: float | None) -> str:
    """One decimal, or a dash where there is no score."""
    return "-" if score is None else f"{score:.1f}"


def ago(when: datetime, now: datetime | None = None) -> str:
    """How long ago a time was, in a few words; the date when that is more than a month."""
    seconds = ((now or datetime.now(UTC)) - when).total_seconds()
    if seconds < 90:
        return "just now"
    for unit, length, below in (("min", 60, 90), ("h", 3600, 36), ("days", 86400, 31)):
        if seconds / length < below:
            return f"{round(seconds / length)} {unit} ago"
    return when.astimezone().date().isoformat()
