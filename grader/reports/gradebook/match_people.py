"""Match marks with the people of a gradebook, never by a guess.

First by an identifier: the platform's number, the school's, the login, the e-mail address or the part before its "@",
as they are written, else as rosters compare them: `0012` is 12 where nobody is `0012`.
Then by name: "Lovelace, Ada" is "Ada Lovelace" is "lovelaceada", as Canvas names files. A mark that fits two people,
and two marks that fit one, are ambiguous: they are reported and nothing is filled in, no zero either for those whom
such a hand-in fits. Whose row an identifier has found has no other mark by name: a namesake of theirs is nobody in the
file.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from grader.model.person_id import find_logins, fold_id
from grader.model.person_name import may_be_same, name_keys
from grader.reports.gradebook.marks import Mark

Find = Callable[[Mark], tuple[set[int], str]]  # the rows that a mark fits, and why that is not certain if it is not


@dataclass(frozen=True)
class Person:
    """A learner's row of a gradebook: its identifiers, and the name as the platform writes it."""

    row: int
    identifiers: tuple[str, ...]
    name: str

    @property
    def label(self) -> str:
        return self.name or next(filter(None, self.identifiers), f"line {self.row + 1}")


@dataclass
class Matches:
    """Which mark belongs to which row of the file, and which marks and people are left over."""

    pairs: dict[int, Mark] = field(default_factory=dict)  # by row
    ambiguous: list[tuple[Mark, str]] = field(default_factory=list)  # with the reason
    unknown: list[Mark] = field(default_factory=list)  # that fit no row
    older: list[Mark] = field(default_factory=list)  # attempts that a newer one replaces
    perhaps: dict[int, list[str]] = field(default_factory=dict)  # ambiguous hand-ins that fit a row
    without: list[Person] = field(default_factory=list)  # people without a mark
    rows_of: Callable[[str], set[int]] = lambda _identifier: set()  # the rows that an identifier leads to


def match(people: Sequence[Person], marks: Iterable[Mark]) -> Matches:
    """Find each mark's person. Of several attempts of one learner the last counts."""
    directory = _Directory(people)
    matches = Matches(rows_of=directory.rows_of)
    left = _pair(_newest(marks, matches.older), directory.find, directory, matches)
    matches.unknown = _pair(left, directory.find_by_name, directory, matches)
    for row, labels in matches.perhaps.items():
        if row in matches.pairs and not matches.pairs[row].attempt:
            why = f"not certain that nothing was handed in: {', '.join(labels)} may be theirs"
            matches.pairs[row] = replace(matches.pairs[row], share=None, why=why)
    matches.without = [person for person in people if person.row not in matches.pairs]
    return matches


def _pair(marks: Iterable[Mark], find: Find, directory: _Directory, matches: Matches) -> list[Mark]:
    """Pair marks with the rows that `find` gives, which are taken from then on; return the marks that fit none."""
    by_row: dict[int, list[Mark]] = defaultdict(list)
    left = []
    for mark in marks:
        rows, why = find(mark)
        if why:
            matches.ambiguous.append((mark, why))
            for row in rows if mark.attempt else ():
                matches.perhaps.setdefault(row, []).append(mark.label)
        elif rows:
            by_row[next(iter(rows))].append(mark)
        else:
            left.append(mark)
    for row, found in by_row.items():
        if row in matches.pairs:
            found = [matches.pairs.pop(row), *found]
        if len(found) == 1:
            matches.pairs[row] = found[0]
        else:
            ids = ", ".join(mark.id for mark in found)
            matches.ambiguous += [(mark, f"{ids} all fit {directory.people[row].label}") for mark in found]
    # an entry of the roster without a hand-in takes no row: its person may have handed in under another id
    directory.taken |= {row for row, found in by_row.items() if any(mark.attempt for mark in found)}
    return left


def _newest(marks: Iterable[Mark], older: list[Mark]) -> list[Mark]:
    newest: dict[str, Mark] = {}
    for mark in marks:
        other = newest.get(mark.learner)
        if other is None:
            newest[mark.learner] = mark
            continue
        first, last = sorted((other, mark), key=lambda each: each.attempt)
        newest[mark.learner] = last
        if first.attempt:  # 0: an entry of the roster without a hand-in
            older.append(first)
    return list(newest.values())


class _Directory:
    """People by row; rows by identifier, by the part before its "@", and by name. `taken` are rows that have a mark."""

    def __init__(self, people: Sequence[Person]) -> None:
        self.people = {person.row: person for person in people}
        self.taken: set[int] = set()
        self.identifiers: dict[str, set[int]] = defaultdict(set)
        self.folded: dict[str, set[int]] = defaultdict(set)
        self.before_at: dict[str, set[int]] = defaultdict(set)
        self.names: dict[str, set[int]] = defaultdict(set)
        for person in people:
            for identifier in filter(None, map(_key, person.identifiers)):
                self.identifiers[identifier].add(person.row)
                self.folded[fold_id(identifier)].add(person.row)
            for key in name_keys(person.name):
                self.names[key].add(person.row)
        addresses = [(identifier, person.row) for person in people for identifier in person.identifiers]
        for login, row in find_logins(addresses):
            self.before_at[_key(login)].add(row)

    def rows_of(self, identifier: str) -> set[int]:
        """Return the rows that an identifier leads to."""
        return self._rows_with(identifier) or self.before_at.get(_key(identifier), set())

    def _rows_with(self, identifier: str) -> set[int]:
        """Return the rows that have an identifier."""
        return self.identifiers.get(_key(identifier)) or self.folded.get(fold_id(identifier)) or set()

    def find(self, mark: Mark) -> tuple[set[int], str]:
        """Return the row that a mark's identifier leads to, if any; those that it may be, and why it is not certain."""
        named = self._rows_named(mark.name)
        may_log_in = named if mark.name else self.people.keys()
        rows = self._rows_with(mark.learner) or self.rows_of(mark.learner) & may_log_in
        if len(rows) == 1:
            other = self.people[next(iter(rows))].name
            if not may_be_same(mark.name, other) or (named and not rows & named):
                return rows | named, f"its identifier is that of {other}, its name is not"
        return self._only(rows)

    def _rows_named(self, name: str) -> set[int]:
        """Return the rows of all people of a name."""
        return set[int]().union(*(self.names.get(key, set()) for key in name_keys(name)))

    def find_by_name(self, mark: Mark) -> tuple[set[int], str]:
        """Return the row of the only person of a mark's name, unless it is taken; all of several, with the reason.

        Of two people of one name the second is not who the first is not: it may be somebody who is not in the file.
        """
        rows = self._rows_named(mark.name) | self._rows_named(mark.learner)
        return self._only(rows) if rows - self.taken else (set(), "")

    def _only(self, rows: set[int]) -> tuple[set[int], str]:
        if len(rows) > 1:
            fits = ", ".join(sorted(self.people[row].label for row in rows))
            return rows, f"it fits {len(rows)} people: {fits}"
        return rows, ""


def _key(identifier: str) -> str:
    return unicodedata.normalize("NFC", identifier).strip().casefold()
