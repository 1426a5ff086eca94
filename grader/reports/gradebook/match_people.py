"""Match marks with the people of a gradebook, never by a guess.

First by an identifier: the platform's number, the school's, the login, the e-mail address or the part before its "@".
Then by name: "Lovelace, Ada" is "Ada Lovelace" is "lovelaceada", as Canvas names files. A mark that fits two people,
and two marks that fit one, are ambiguous: they are reported and nothing is filled in.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from grader.reports.gradebook.marks import Mark


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
    without: list[Person] = field(default_factory=list)  # people without a mark


def match(people: Sequence[Person], marks: Iterable[Mark]) -> Matches:
    """Find each mark's person. Of several attempts of one learner the last counts."""
    matches = Matches()
    directory = _Directory(people)
    by_row: dict[int, list[Mark]] = defaultdict(list)
    for mark in _newest(marks, matches.older):
        rows, why = directory.find(mark)
        if why:
            matches.ambiguous.append((mark, why))
        elif rows:
            by_row[rows.pop()].append(mark)
        else:
            matches.unknown.append(mark)
    _pair(by_row, directory.people, matches)
    matches.without = [person for person in people if person.row not in matches.pairs]
    return matches


def _pair(by_row: dict[int, list[Mark]], rows: dict[int, Person], matches: Matches) -> None:
    for row, found in by_row.items():
        if len(found) == 1:
            matches.pairs[row] = found[0]
        else:
            ids = ", ".join(mark.id for mark in found)
            matches.ambiguous += [(mark, f"{ids} all fit {rows[row].label}") for mark in found]


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
    """People by row; rows by identifier, by the part before its "@", and by name."""

    def __init__(self, people: Sequence[Person]) -> None:
        self.people = {person.row: person for person in people}
        self.identifiers: dict[str, set[int]] = defaultdict(set)
        self.before_at: dict[str, set[int]] = defaultdict(set)
        self.names: dict[str, set[int]] = defaultdict(set)
        for person in people:
            for identifier in filter(None, map(_key, person.identifiers)):
                self.identifiers[identifier].add(person.row)
                if "@" in identifier:
                    self.before_at[identifier.partition("@")[0]].add(person.row)
            for key in _name_keys(person.name):
                self.names[key].add(person.row)

    def find(self, mark: Mark) -> tuple[set[int], str]:
        """Return the row of a mark's person, if any; or why it is not certain."""
        key = _key(mark.learner)
        rows = self.identifiers.get(key) or self.before_at.get(key) or set()
        if len(rows) == 1:
            other = self.people[next(iter(rows))].name
            if not _is_same_person(mark.name, other):
                return set(), f"its identifier is that of {other}, its name is not"
        keys = _name_keys(mark.name) | _name_keys(mark.learner)
        rows = set(rows) or set().union(*(self.names.get(key, set()) for key in keys))
        if len(rows) > 1:
            fits = ", ".join(sorted(self.people[row].label for row in rows))
            return set(), f"it fits {len(rows)} people: {fits}"
        return rows, ""


def _key(identifier: str) -> str:
    return unicodedata.normalize("NFC", identifier).strip().casefold()


def _words(name: str) -> list[str]:
    """Split a name, without accents and signs, given name first: "Lovelace, Ada" becomes ["ada", "lovelace"]."""
    last, comma, first = name.partition(",")
    ordered = f"{first} {last}" if comma else name
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", ordered) if not unicodedata.combining(sign))
    return re.findall(r"\w+", plain.casefold().replace("_", " "))


def _name_keys(name: str) -> set[str]:
    """Return a name's words sorted, and run together with the family name last or first."""
    words = _words(name)
    if not words:
        return set()
    turned = [words[start:] + words[:start] for start in range(len(words))]
    return {" ".join(sorted(words)), *("".join(each) for each in turned)}


def _is_same_person(one: str, other: str) -> bool:
    """Return True unless two names contradict: they share a word, or one holds words of the other run together."""
    first, second = _words(one), _words(other)
    if not first or not second:
        return True
    return bool({*first} & {*second}) or _holds_words(first, second) or _holds_words(second, first)


def _holds_words(words: list[str], others: list[str]) -> bool:
    return len(words) == 1 and sum(word in words[0] for word in others) > 1
