"""Make text safe and readable in any terminal, without colour and without a library."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

MAX_CHARS = 20_000  # of a learner's text; the rest is cut off
MIN_COLUMNS = 12  # of the rest of a line that is folded
NUMBERS = 5  # columns of the numbers beside lines of code
DEEPER = 4  # columns that the rest of a folded line of code stands deeper than its beginning

CODE = re.compile(r"`[^`\n]+`")  # in prose
WORD = re.compile(r"\S+")
_NAME_OF_FILE = re.compile(r"\S*[./\\_]\w")  # `helper.py`, `core/helper`, `my_helper`
ITEM = re.compile(r"-\s+")  # of a list

# CSI, then strings (OSC, DCS, ...) with their end, then two-character escapes. Each part stops at the next escape, so
# that a text made of beginnings only costs no more than its length.
# Compiled when first used: most commands clean no text.
_ESCAPES = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x9c|\x1b\\)?"
    r"|\x1b[ -/]*."
)
_OVERWRITTEN = r"(?m)^[^\n]*\r(?=[^\r\n])"
_REVERSERS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Signs(NamedTuple):
    """The signs that stand beside words, never in place of them."""

    passed: str = "✓"
    failed: str = "✗"
    skipped: str = "·"
    trouble: str = "!"
    full: str = "█"
    empty: str = "░"
    arrow: str = "→"


PLAIN_SIGNS = Signs("+", "x", "-", "!", "#", ".", "->")


def signs_for(encoding: str | None) -> Signs:
    """Return the signs that a stream of this encoding can show."""
    try:
        "✓✗·█░→".encode(encoding or "ascii")
    except (UnicodeError, LookupError):
        return PLAIN_SIGNS
    return Signs()


def clean(text: str) -> str:
    """Remove escape sequences, control characters and changes of direction from a learner's text, and cut it.

    Of a line that was overwritten by carriage returns, such as a progress bar, the last state is kept.
    """
    cut = text[:MAX_CHARS].replace("\r\n", "\n")
    if cut.replace("\n", "").isprintable():  # most texts: reports on a class clean millions of them
        return cut
    cut = re.sub(_OVERWRITTEN, "", re.sub(_ESCAPES, "", cut)).expandtabs(4)
    return "".join(char for char in cut if char == "\n" or _is_harmless(char))


def command_line(*words: str) -> str:
    """Write a command as one would type it, to be shown: names of files in it do not control the terminal."""
    import shlex  # here: most commands show none of these

    return " ".join(shlex.quote(word) if clean(word) == word else _quote_bytes(word) for word in words)


def _quote_bytes(word: str) -> str:
    """Write a word with its controls as bytes, `$'\\x1b'`, which shells read."""
    written = "".join(
        char if _is_harmless(char) and char not in "\\'" else "".join(f"\\x{byte:02x}" for byte in os.fsencode(char))
        for char in word
    )
    return f"$'{written}'"


def _is_harmless(char: str) -> bool:
    is_noncharacter = ord(char) & 0xFFFE == 0xFFFE or "\ufdd0" <= char <= "\ufdef"  # XML and HTML refuse some of these
    is_tag = "\U000e0000" <= char <= "\U000e007f"  # a letter that nothing shows
    is_control = unicodedata.category(char) in ("Cc", "Cs") or char in _REVERSERS
    return not (is_control or is_noncharacter or is_tag)


def bar(share: float, cells: int, signs: Signs) -> str:
    """Draw `share` (0 to 1) of `cells` as filled: none only for 0, all only for 1."""
    full = round(share * cells)
    if 0 < share < 1:
        full = min(max(full, 1), cells - 1)
    return signs.full * full + signs.empty * (cells - full)


def score_bar(score: float | None, cells: int, signs: Signs) -> str:
    """Draw a score from 1 to 10 as the share of the points earned: 1.0 fills nothing."""
    return bar(0.0 if score is None else (score - 1) / 9, cells, signs)


def capitalize(text: str) -> str:
    """Write the first letter as a capital, and leave the rest as it is; and all of it where a file's name begins it."""
    return text if _NAME_OF_FILE.match(text) else text[:1].upper() + text[1:]


def plural(number: int, noun: str) -> str:
    """Write a number with its noun: `1 check`, `2 checks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def name_questions(families: Iterable[str]) -> str:
    """Say of questions on which topics they are, the most first: `2 questions on attention, 1 on dimensions`."""
    topics = Counter(family.partition(".")[0] for family in families).most_common()
    counts = [plural(number, "question") for _, number in topics[:1]] + [str(number) for _, number in topics[1:]]
    return ", ".join(f"{count} on {topic}" for count, (topic, _) in zip(counts, topics, strict=True))


def score_text(score: float | None) -> str:
    """Write a score with one decimal; a dash if there is none."""
    return "-" if score is None else f"{score:.1f}"


def unexplained_score(score: float | None) -> str:
    """Write a score of which the mistake is still looked for."""
    return f"{score_text(score)} / 10, looking for the mistake"


def ago(when: datetime, now: datetime | None = None) -> str:
    """Write how long ago a time was; the date if that is more than a month."""
    seconds = ((now or datetime.now(UTC)) - when).total_seconds()
    if seconds < 90:
        return "just now"
    for unit, length, below in (("min", 60, 90), ("h", 3600, 36), ("days", 86400, 31)):
        if seconds / length < below:
            return f"{round(seconds / length)} {unit} ago"
    return when.astimezone().date().isoformat()


def wrap_points(
    line: str, columns: int, *, indent: int = 0, word: re.Pattern[str] = WORD, measure: Callable[[str], int] = len
) -> list[int]:
    """Return where the further lines of `line` begin so that none is wider than `columns`, without breaking a word.

    `indent` is the width that will stand before each further line; `measure` gives the width of a text.
    """
    starts = [0]
    for found in list(word.finditer(line))[1:]:
        space = columns - (indent if len(starts) > 1 else 0)
        if measure(line[starts[-1] : found.end()]) > space:
            starts.append(found.start())
    return starts[1:]


def words_within(columns: int) -> re.Pattern[str]:
    """Return what finds words, none longer than that: such a one is broken, behind a sign if it has one."""
    part = rf"\S{{1,{columns}}}"
    return re.compile(rf"{part}(?!\S)|{part}(?<=[(\[,=/])|{part}")


def code_fold_points(line: str, room: int) -> tuple[list[int], int]:
    """Return where the further lines of a line of code begin that is too long, and how deep they stand: deeper.

    So none looks like a line of its own. There are no further ones where too little room would be left for them.
    """
    indent = len(line) - len(line.lstrip()) + DEEPER
    if indent > room - MIN_COLUMNS:
        return [], indent
    return wrap_points(line, room, indent=indent, word=words_within(room - indent)), indent


def fold_code(line: str, room: int) -> list[str]:
    """Fold a line of code that is too long, between its words."""
    points, indent = code_fold_points(line, room)
    first, *rest = (line[start:end].rstrip() for start, end in pairwise([0, *points, len(line)]))
    return [first, *(" " * indent + piece for piece in rest)]


def unwrap(text: str) -> str:
    """Put each paragraph and each list item into one line; blank lines stay."""
    return "\n\n".join("\n".join(split_items(each)) for each in re.split(r"\n\s*\n", text.strip("\n")))


def split_items(paragraph: str) -> list[str]:
    """Return the lines of a paragraph joined, but for items of a list, which begin a line."""
    pieces: list[str] = []
    for line in paragraph.split("\n"):
        if pieces and not ITEM.match(line.strip()):
            pieces[-1] += f" {line.strip()}"
        else:
            pieces.append(line.strip())
    return pieces
