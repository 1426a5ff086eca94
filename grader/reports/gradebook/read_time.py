"""Read the times that Moodle writes into its worksheet, in the language and form of the site.

Only what can be meant in one way is read: a day in figures alone is `2026-11-25` or `25.11.2026`, since in `11/05/2026`
nobody knows the month. Names of days are left aside, and those of months are known in the languages of `MONTHS`, in
which no name means two months.
"""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from datetime import datetime

# No month of these languages is a misspelling of an English one.
MONTHS = (  # English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish and Norwegian
    "january jan januar jänner janvier enero gennaio janeiro januari",  # codespell:ignore januar
    "february feb februar feber février febrero febbraio fevereiro februari",  # codespell:ignore februar
    "march mar märz mars marzo março maart marts",
    "april apr avril abril aprile",
    "may mai mayo maggio maio mei maj",
    "june jun juni juin junio giugno junho",  # codespell:ignore juni
    "july jul juli juillet julio luglio julho",  # codespell:ignore juli
    "august aug août agosto augustus augusti",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",  # codespell:ignore oktober
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre diciembre dicembre dezembro desember",  # codespell:ignore dezember
)
_MONTHS = {name: number for number, names in enumerate(MONTHS, 1) for name in names.split()}
_WORD = r"[^\W\d_]+"
_DAYS = (
    rf"(?P<day>\d{{1,2}})(?:\.|er|o|th|st|nd|rd)?(?: de)? (?P<word>{_WORD})\.?(?: de)? (?P<year>\d{{4}})",
    rf"(?P<word>{_WORD})\.? (?P<day>\d{{1,2}}),? (?P<year>\d{{4}})",
    r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
    r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})",
)
_CLOCK = r"(?P<hour>\d{1,2})[:h](?P<minute>\d{2})(?::(?P<second>\d{2}))?(?: ?(?P<half>[ap])\.?m\.?)?"
_WEEKDAY = rf"(?:[^\W\d][^\d,]*, |{_WORD}\.? )?"  # in any language
_AT = r",?(?: (?:at|um|à|às|om|a las|kl\.?))?"
_FORMS = [re.compile(f"{_WEEKDAY}{day}{_AT} {_CLOCK}") for day in _DAYS]
READ = '"2026-11-25 22:00", "25.11.2026 22:00", "25 November 2026, 10:00 PM"'


def read_time(text: str) -> float | None:
    """Return a time in seconds since 1970, in this machine's time zone unless the text has one; None for no time."""
    plain = " ".join(unicodedata.normalize("NFKC", text).split())
    if ":" in plain:  # a day alone is no time: nobody knows when it was
        with suppress(ValueError, OverflowError):
            return datetime.fromisoformat(plain).timestamp()
    found = next(filter(None, (form.fullmatch(plain.casefold()) for form in _FORMS)), None)
    parts = found.groupdict() if found else {}
    month = _MONTHS.get(parts.get("word") or "") or int(parts.get("month") or 0)
    hour = _hour(int(parts.get("hour") or 0), parts.get("half") or "")
    with suppress(KeyError, ValueError, OverflowError):
        year, day, minute, second = int(parts["year"]), int(parts["day"]), int(parts["minute"]), parts["second"] or 0
        return datetime(year, month, day, hour, minute, int(second)).timestamp()
    return None


def _hour(hour: int, half: str) -> int:
    """Return the hour of the day; 12 AM is midnight, and 13 PM is none."""
    if not half:
        return hour
    return hour % 12 + (12 if half == "p" else 0) if 1 <= hour <= 12 else 24
