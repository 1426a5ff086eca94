"""What the names say that learning platforms give to hand-ins, and when they were handed in.

The forms are those of the platforms' code or guides: Canvas, lib/content_zipper.rb; Moodle,
mod/assign/classes/downloader.php; Blackboard and Brightspace, by their downloads of an assignment.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime
from functools import wraps
from typing import NamedTuple

from grader.intake.learner import Entry

MAX_NAME_LENGTH = 255  # characters of a name that is read; file systems take no more bytes
DATES = ("%b %d %Y", "%B %d %Y", "%d %b %Y", "%d %B %Y")
MIN_SECONDS = 1e9  # in September 2001: a smaller number, such as 30112026, is no count of seconds
MAX_AHEAD = 2 * 366 * 86400  # seconds from now: a number beyond, such as 2611202300, is a date and a time
_ISO_DAY = r"\d{4}-?(?:\d\d-?\d\d|W\d\d-?\d)"
_DAY_ALONE = re.compile(_ISO_DAY)
_DAY_AND_ZONE = re.compile(rf"{_ISO_DAY}(?:\+.*|-\d\d:\d\d)")  # no hour: what has a sign is read as a zone
_WEEK = re.compile(r"\d{4}-?W\d\d(?!-?\d)")
_HOUR_AND_MINUTE = re.compile(r"\d{4}-\d\d-\d\d\D\d\d-\d\d")  # in ISO's forms the last two would be a time zone
_COMPACT_DAY = re.compile(r"^(\d{4})(\d\d)(\d\d)(?=\D)")
_BEFORE_ZONE = re.compile(r"(?<=:\d\d)\s+(?=(?:Z|[+-]\d\d(?::?\d\d)?)$)")
_HALF = r"(?:\s*([ap])(?:\.?\s?m)?\.?)?"  # of a day: pm, p.m., p. m., p
# One letter at most, as T, h, à and 年: two may be the half of a day.
_BETWEEN = r"(?!\d)[\W_]{0,3}[^\W\d_apw]?[\W_]{0,3}"  # nor W, of a week
_BEFORE_CLOCK = rf"(?!\s+-\d)(?!\D*\+){_BETWEEN}"  # what has a sign after a blank is a zone
_IN_CLOCK = rf"(?!\s+[-+])(?!\D*\+){_BETWEEN}"
_NUMBERS = re.compile(
    rf"[\W_]*(\d{{4}}){_BETWEEN}(\d\d?){_BETWEEN}(\d\d?)(?:"
    rf"{_BEFORE_CLOCK}(\d\d?)(?:{_IN_CLOCK}(\d\d?)(?:{_IN_CLOCK}(\d\d?))?)?{_HALF})?"
    r"\s?[hms日时時点分秒]?[\W_]*",
    re.IGNORECASE,
)
_WORDS = re.compile(rf"(.*\b\d{{4}})\W+(?:at )?(\d\d?)(?::?(\d\d))?{_HALF}\s*", re.IGNORECASE)
_BLACKBOARD = re.compile(r"(.+?_.+?)_attempt_(\d{4}(?:-\d\d){5})(?:_(.+)|\.txt)")
_LIKE_A_TIME = re.compile(r"\D*+\d.*(?:[AP]M|\d)$", re.DOTALL)
_YEAR = re.compile(r"\b\d{4}\b")
_BRIGHTSPACE = re.compile(r"(\d+)-\d+ - (.+)")


def _of_bounded_names(read: Callable[[str], Entry | None]) -> Callable[[str], Entry | None]:
    """Return a reader to which a name longer than any platform gives, as archives and stores may hold, says nothing."""

    @wraps(read)
    def read_bounded(name: str) -> Entry | None:
        return read(name) if len(name) <= MAX_NAME_LENGTH else None

    return read_bounded


def canvas(name: str) -> Entry | None:
    """Read a name of Canvas: `lastfirst_LATE_USER_ATTACHMENT_file.py`.

    With anonymous grading it is `anon_x7Kq2_ATTACHMENT_file.py`; text typed into Canvas is `lastfirst_USER_text.html`
    or `_link.html`. A person's name never holds "_digits_".
    """
    return next(iter(canvas_readings(name)), None)


def canvas_readings(name: str) -> list[Entry]:
    """Return the ways to read a name of Canvas: two where a number before the user's may end the person's name."""
    words = name.split("_") if len(name) <= MAX_NAME_LENGTH else []
    for index in range(1, len(words) - 1):  # the first is the name, even if that is a number
        if first := _canvas_at(name, words, index):
            other = _canvas_at(name, words, index + 1) if is_number(words[index]) else None
            return [first, other] if other else [first]
    return []


def _canvas_at(name: str, words: list[str], index: int) -> Entry | None:
    """Read a name of Canvas in which the word number *index* is the user's number; None if it cannot be."""
    word, after = words[index], words[index + 1 :]
    anonymous = words[:index] in (["anon"], ["LATE", "anon"])
    if not (is_number(word) or (anonymous and word.isalnum())):
        return None
    has_file = len(after) > 1 and is_number(after[0])
    if not has_file and after not in (["text.html"], ["link.html"]):
        return None
    before = words[: index - anonymous]
    late = len(before) > (not anonymous) and before[-1].upper() == "LATE"
    return Entry(
        name,
        owner=f"anon_{word}" if anonymous else word,
        owner_name="_".join(before[:-1] if late else before),
        late=late,
        file="_".join(after[1:]) if has_file else after[0],
        joins=True,
        renamed=True,
        submitted=float(after[0][:15]) if has_file else None,  # attachments are numbered as they come in
        is_numbered=True,
    )


@_of_bounded_names
def moodle(name: str) -> Entry | None:
    """Read a name of Moodle: `Full Name_PARTICIPANT_assignsubmission_file_`, a folder, or with the file's name added.

    A group's number may take the place of a participant's; the default group has none. People's names hold no "_".
    """
    owner, mark, rest = name.partition("_assignsubmission_")
    if not mark or not owner:
        return None
    full, _, number = owner.rpartition("_")
    if not (full and is_number(number)):
        full, number = owner, owner
    return Entry(name, owner=number, owner_name=full.strip(), file=rest.partition("_")[2], joins=True)


@_of_bounded_names
def gradescope(name: str) -> Entry | None:
    """Read `submission_NUMBER`, a folder; submission_metadata.yml beside it says whose it is."""
    word, _, rest = name.partition("_")
    number = rest.partition(".")[0]
    if word != "submission" or not is_number(number):
        return None
    return Entry(name, owner=number, submitted=float(number[:15]), is_numbered=True)


@_of_bounded_names
def blackboard(name: str) -> Entry | None:
    """Read a name of Blackboard: `Assignment_USER_attempt_2026-11-20-10-00-00_softmax.py`.

    The owner is all before the first attempt in it, of which `blackboard_users` tells the user; what follows is the
    learner's own name of the file, which may hold another's.
    """
    found = _BLACKBOARD.fullmatch(name)
    if not found:
        return None
    owner, when, file = found.groups()
    return Entry(
        name, owner=owner, attempt_name=when, file=file or f"{when}.txt", joins=True, submitted=parse_time(when)
    )


def brightspace(name: str) -> Entry | None:
    """Read a name of Brightspace: `12345-678 - Ann Lee - Nov 20, 2026 1015 AM - softmax.py`.

    That of a folder ends with the time. A person's name and a file's may hold a time, too: of several the latest
    is when it was handed in. What looks like one in another language has its place, and is no time.
    """
    owner, parts, times = _brightspace_times(name)
    may_be = parts[1:] if parts and _YEAR.search(parts[-1]) else parts[1:-1]  # a file's name is none
    alike = (at for at, part in enumerate(may_be, 1) if _LIKE_A_TIME.match(part))
    when, at = max(times, default=(None, next(alike, 0)))
    if not at:
        return None
    full, file = " - ".join(parts[:at]), " - ".join(parts[at + 1 :])
    return Entry(name, owner=owner, owner_name=full, attempt_name=parts[at], file=file, joins=True, submitted=when)


def has_several_times(name: str) -> bool:
    """Return True for a name of Brightspace with more than one time in it."""
    return len(_brightspace_times(name)[2]) > 1


def _brightspace_times(name: str) -> tuple[str, list[str], list[tuple[float, int]]]:
    """Return whose a name is, what stands between its dashes, and the times among these with their places."""
    found = _BRIGHTSPACE.fullmatch(name) if len(name) <= MAX_NAME_LENGTH else None
    owner, parts = (found[1], found[2].split(" - ")) if found else ("", [])
    return owner, parts, [(when.seconds, at) for at, part in enumerate(parts[1:], 1) if (when := _parse_words(part))]


PLATFORMS = {
    "canvas": canvas,
    "moodle": moodle,
    "gradescope": gradescope,
    "blackboard": blackboard,
    "brightspace": brightspace,
}


class Moment(NamedTuple):
    """A time in seconds since 1970; the beginning of a day, where the text `is_day` and has no hour."""

    seconds: float
    is_day: bool = False


def parse_time(text: str) -> float | None:
    """Return a time in seconds since 1970, of a day alone its beginning; None for no time. See `parse_moment`."""
    moment = parse_moment(text)
    return moment.seconds if moment else None


def parse_due(text: str) -> float | None:
    """Return until when something is due, in seconds since 1970; None for no time. A day lasts until its end."""
    moment = parse_moment(text)
    if moment and moment.is_day:
        return end_of(datetime.fromtimestamp(moment.seconds))
    return moment.seconds if moment else None


def end_of(day: date) -> float:
    """Return the last microsecond of a day on this machine: what came before midnight is in time."""
    return datetime.combine(day, datetime.max.time()).timestamp()


def parse_moment(text: str) -> Moment | None:
    """Read a time, in this machine's time zone unless the text has one; None for no time.

    Read are a number of seconds from `MIN_SECONDS` to `MAX_AHEAD` from now, a year, month and day with or without a
    time, with almost anything between them, and the forms of `DATES` with a time. What stands behind it and is not
    understood makes it no time: a half of the day or a zone that is dropped would make another of it. So does a zone
    behind a day, and a week is no day.
    """
    text = _BEFORE_ZONE.sub("", _COMPACT_DAY.sub(r"\1-\2-\3", text.strip()))
    if _DAY_AND_ZONE.fullmatch(text) or _WEEK.match(text):
        return None
    if not _HOUR_AND_MINUTE.fullmatch(text):
        with suppress(ValueError, OverflowError):
            when = datetime.fromisoformat(text).astimezone()  # at the ends of time no zone is left
            return Moment(when.timestamp(), bool(_DAY_ALONE.fullmatch(text))) if when.year >= 1970 else None
    if is_number(text) and len(text) < 12:
        return Moment(float(text)) if MIN_SECONDS <= float(text) <= time.time() + MAX_AHEAD else None
    if found := _NUMBERS.fullmatch(text):
        *numbers, half = found.groups()
        return _local_time([int(number or 0) for number in numbers], half, is_day=numbers[3] is None)
    return _parse_words(text)


def _parse_words(text: str) -> Moment | None:
    """Return a time that follows a date in one of the forms of `DATES`; None for any other text."""
    if not (found := _WORDS.fullmatch(text)):
        return None
    words, hour, minute, half = found.groups()
    for form in DATES:
        with suppress(ValueError):
            day = datetime.strptime(" ".join(re.sub("[,.]", " ", words).split()), form)
            return _local_time([day.year, day.month, day.day, int(hour), int(minute or 0)], half)
    return None


def _local_time(numbers: list[int], half: str | None, *, is_day: bool = False) -> Moment | None:
    """Return the time of a year, month, day, hour and so on; None where there is no such time."""
    year, month, day, hour, minute, second = (*numbers, 0, 0, 0)[:6]
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + 12 * (half in "pP")
    try:
        when = datetime(year, month, day, hour, minute, second).timestamp()
        return Moment(when, is_day) if year >= 1970 else None
    except (ValueError, OverflowError):
        return None


def is_number(text: str) -> bool:
    """Return True if the text is decimal digits, and at least one."""
    return text.isascii() and text.isdigit()
