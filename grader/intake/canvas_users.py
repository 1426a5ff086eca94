"""Whose a file of a Canvas download is where its name can be read in two ways.

A name is `lastfirst_USER_ATTACHMENT_file`, and a person's name may end in a number, as a file's may begin with one: of
three numbers in a row the first may be of the name, or the last of the file. Taken at its word, such a name would make
somebody's work another's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from grader.intake.learner import Entry, join_some, shorten
from grader.intake.platform_names import canvas_readings
from grader.intake.roster import Roster
from grader.model.person_id import fold_id

MAX_SHOWN = 5  # in one note
APART = 2  # attachments of one download have numbers no further apart than by this factor from those known for certain
UNCLEAR = "Whose it is cannot be told from the name, which has three numbers, so nothing joins it: {}.{}"
WITH_ROSTER = " The class list that Canvas exports would tell: --roster."


def settle_users(entries: Sequence[Entry], roster: Roster | None) -> tuple[list[Entry], tuple[str, ...]]:
    """Return the entries of a download as they are certainly to be read, and notes.

    Of two readings the one counts whose attachment's number is like the others', else the one whose user has that name
    in the roster. If neither is certain, or the user has another name in other names, the entry is by itself.
    """
    read = [canvas_readings(entry.name) for entry in entries]
    sure = [entry for entry, readings in zip(entries, read, strict=True) if len(readings) < 2]
    numbers = [entry.submitted for entry in sure if entry.submitted is not None]
    names: dict[str, set[str]] = defaultdict(set)
    for entry in sure:
        names[fold_id(entry.owner)].add(entry.owner_name)
    settled, unclear = [], []
    for entry, readings in zip(entries, read, strict=True):
        if len(readings) > 1:
            found = _choose(readings, roster, numbers)
            known = names[fold_id(found.owner)] if found else set()
            if found is None or (known and found.owner_name not in known):
                unclear.append(shorten(entry.name))
                found = Entry(entry.name)
            entry = replace(found, path=entry.path, kind=entry.kind, inside=entry.inside)
        settled.append(entry)
    note = UNCLEAR.format(join_some(unclear, MAX_SHOWN), "" if roster else WITH_ROSTER)
    return settled, (note,) if unclear else ()


def _choose(readings: Sequence[Entry], roster: Roster | None, numbers: Sequence[float]) -> Entry | None:
    """Return the only reading that fits the other attachments, or of two that do the roster; None if none is certain.

    The roster alone shows nothing: a person may have called themselves by somebody's name and number.
    """
    first, other = readings
    if numbers:
        low, high = min(numbers) / APART, max(numbers) * APART
        fit = [one for one in readings if one.submitted is not None and low <= one.submitted <= high]
        if not fit and other.submitted is None:
            return other  # a text that was typed into Canvas has no number of an attachment
    else:  # there are more attachments than people or numbered files
        fit = [first] if (first.submitted or 0) > (other.submitted or 0) else [*readings]
    if len(fit) > 1:
        fit = [one for one in fit if roster and _is_listed(one, roster)]
    return fit[0] if len(fit) == 1 else None


def _is_listed(entry: Entry, roster: Roster) -> bool:
    person = roster.find([entry.owner])
    return person is not None and roster.find_by_name(entry.owner_name) is person
