"""Whose an extension is: the due date of one person, which stands in a file of the instructor's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.errors import UsageError
from grader.model.person_id import fold_id
from grader.reports.gradebook.marks import Mark
from grader.reports.gradebook.match_people import Matches


@dataclass(frozen=True)
class Extension:
    """A line of the extensions: whose it is as written, the id that results have for them, and until when."""

    who: str
    learner: str
    due: float  # in seconds since 1970
    where: str = ""  # the line


@dataclass(frozen=True)
class DueDates:
    """The own due dates of those who have one, by folded id; `nobody` are extensions that fit nobody, and why."""

    own: Mapping[str, float]
    nobody: Sequence[tuple[Extension, str]] = ()

    def of(self, learner: str) -> float | None:
        """Return a learner's own due date; None if it is everybody's."""
        return self.own.get(fold_id(learner))


def find_due_dates(extensions: Iterable[Extension], marks: Iterable[Mark], matches: Matches) -> DueDates:
    """Find whose each extension is: by the learner's id, else by what the gradebook has in their row.

    Raises UsageError where two lines are one person's and differ.
    """
    learners = {fold_id(mark.learner) for mark in marks}
    found: dict[str, Extension] = {}
    nobody = []
    for one in extensions:
        key, why = fold_id(one.learner), ""
        if key not in learners:
            key, why = _find_row(one, matches)
        if why:
            nobody.append((one, why))
        elif found.setdefault(key, one).due != one.due:
            what = f"{found[key].who} and {one.who} are one person, with two due dates"
            raise UsageError(what, where=one.where, next_step=f"leave one of them: the other is in {found[key].where}")
    return DueDates({key: one.due for key, one in found.items()}, nobody)


def _find_row(one: Extension, matches: Matches) -> tuple[str, str]:
    """Return the folded id of the learner whose row has this identifier; or why it is nobody's."""
    rows = matches.rows_of(one.learner)
    if len(rows) > 1:
        return "", f"it fits {len(rows)} people of the file"
    if not rows:
        return "", "no one in the results or in the file has this id" if one.who else "there is no id"
    mark = matches.pairs.get(next(iter(rows)))
    # who is in the file and has no mark has nothing to be deducted
    return fold_id(mark.learner if mark else one.learner), ""
