"""What is deducted for work that came late. Scores stay as they are: the deduction is made where marks are exported."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from grader.reports.gradebook.due_dates import Extension
from grader.reports.gradebook.marks import Mark
from grader.terminal.text import plural

DAY = 86_400.0
ONE_DAY = "marked as late, no time known: one day"
NOT_KNOWN = "marked as late, no time known, and it has an extension: nothing was deducted"
TIME_UNKNOWN = "time unknown, nothing deducted"


@dataclass(frozen=True)
class LateRule:
    """Shares of all the points: `per_day` for each day begun after `due` (seconds since 1970), at most `at_most`.

    Nothing is deducted within `grace` seconds. `extensions` are due dates of single people.
    """

    due: float
    per_day: float
    grace: float = 0.0
    at_most: float = 1.0
    extensions: tuple[Extension, ...] = ()

    def deduct(self, mark: Mark, when: float | None, own: float | None = None) -> tuple[float, str]:
        """Return what is deducted from a mark's share, and why; *when* is from the gradebook, if the mark has no time.

        *own* is the due date of an extension. A mark without a time that the platform calls late is one day late; with
        an extension it cannot be known. Any other without a time may be late: that is said, and nothing is deducted.
        """
        when = mark.when if mark.when is not None else when
        if when is None:
            if mark.is_late and own is not None:
                return 0.0, NOT_KNOWN
            return (min(self.per_day, self.at_most), ONE_DAY) if mark.is_late else (0.0, TIME_UNKNOWN)
        late = when - (self.due if own is None else own)
        if late <= self.grace:
            return 0.0, ""
        days = ceil(late / DAY)
        extended = ", after an extension" if own is not None else ""
        return min(days * self.per_day, self.at_most), f"{plural(days, 'day')} late{extended}"
