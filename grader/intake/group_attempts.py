"""From entries to hand-ins: which files are one hand-in, whose it is, and which attempt is the newest."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from grader.intake.learner import Entry, Learner
from grader.intake.limits import kind_of
from grader.intake.name_patterns import choice_note, original_names, upload_names
from grader.intake.roster import Person, Roster
from grader.model.person_id import fold_id
from grader.model.person_name import may_be_same

OF_ANOTHER = "The number {id} is somebody else's in the roster, by the account's address or name: it was not used."
MAX_EARLIER = 20  # attempts of one person that are read beside the newest
NOT_ALL = "Of {all} attempts the newest {read} were looked at; the others were left out."


def group_entries(entries: Iterable[Entry]) -> list[Learner]:
    """Group entries that join by owner and attempt; every other entry is a hand-in by itself."""
    groups: dict[object, list[Entry]] = defaultdict(list)
    for number, entry in enumerate(entries):
        groups[(fold_id(entry.owner), entry.attempt, entry.attempt_name) if entry.joins else number].append(entry)
    return [_make_learner(group) for group in groups.values()]


def _make_learner(group: Sequence[Entry]) -> Learner:
    first = group[0]
    written = [entry.file or entry.name for entry in group]
    files = original_names(written) if first.renamed else written
    taken = dict(zip(files, written, strict=True))
    older = [(plain, old) for file, plain, old in zip(files, upload_names(written), written, strict=True) if not file]
    return Learner(
        first.owner or first.stem,
        tuple(replace(entry, file=file) for file, entry in zip(files, group, strict=True) if file),
        name=first.owner_name,
        account=hashlib.sha256(fold_id(first.address).encode()).hexdigest()[:16] if first.address else "",
        late=any(entry.late for entry in group),
        together=first.together,
        notes=tuple(choice_note(taken[plain], [old]) for plain, old in older if kind_of(old)),
        known=bool(first.owner),
    )


def match_roster(learners: Sequence[Learner], roster: Roster) -> list[Learner]:
    """Give each hand-in the id and name of its person in the roster.

    A person is found by the account's address, else by the hand-in's id, else by a name that only one person and one
    hand-in have. An id that a learner wrote does not lead to a person whose own address another hand-in has.
    """
    learners, found = _find_owners(learners, roster)
    taken = {person.id for person in found if person}
    by_name = [None if person else roster.find_by_name(one.name) for one, person in zip(learners, found, strict=True)]
    owners: dict[str, set[str]] = defaultdict(set)
    for one, named in zip(learners, by_name, strict=True):
        if named:
            owners[named.id].add(fold_id(one.id))
    matched = []
    for one, person, named in zip(learners, found, by_name, strict=True):
        if named and named.id not in taken and len(owners[named.id]) == 1:
            person = named
        if person:
            one = replace(one, id=person.id, name=person.name or one.name, known=True)
        matched.append(one)
    return matched


def name_mates(learners: Sequence[Learner]) -> list[Learner]:
    """Give those who handed in together the ids that the hand-ins of their accounts have."""
    ids = {fold_id(one.first.address or one.first.owner): one.id for one in learners}
    return [replace(one, together=tuple(ids.get(fold_id(mate), mate) for mate in one.together)) for one in learners]


def _find_owners(learners: Sequence[Learner], roster: Roster) -> tuple[list[Learner], list[Person | None]]:
    """Return the hand-ins, with a note where an id is not the owner's, and the person to whom the ids of each lead.

    Anybody may write another's number into an account, and a platform's numbers may be others of a school, or a
    group's: one leads to a person only if the name that goes with it does not say otherwise. Nor does one of an account
    to a person whose address another account has.
    """
    by_address = [roster.find([one.first.address]) for one in learners]
    addressed = {person.id for person in by_address if person}
    named = {person.id for one in learners if (person := roster.find_by_name(one.name))}
    noted: list[Learner] = []
    found: list[Person | None] = []
    for one, known in zip(learners, by_address, strict=True):
        person = roster.find([one.id])
        is_other = person and person is not known
        if person and is_other and (known or person.id in addressed or _is_contradicted(one, person, roster, named)):
            notes = (*one.notes, OF_ANOTHER.format(id=one.id))
            one, person = replace(one, id=one.first.address or one.name or f"{one.id} ?", notes=notes), None
        noted.append(one)
        found.append(known or person)
    return noted, found


def _is_contradicted(one: Learner, person: Person, roster: Roster, named: Collection[str]) -> bool:
    """Return True if a hand-in's name is not the person's to whom its id leads.

    It is not if the roster has it for others, or if it shares no word with theirs, or another hand-in has theirs; nor
    if the roster has their address and the hand-in's account another one.
    """
    if people := roster.find_all_by_name(one.name):
        return person not in people
    has_address = bool(one.first.address) and any("@" in key for key in person.keys)
    is_another = bool(one.name) and (person.id in named or not may_be_same(one.name, person.name))
    return has_address or is_another


def find_missing(roster: Roster, learners: Iterable[Learner]) -> tuple[dict[str, str], ...]:
    """Return the people of the roster without a hand-in, in its order."""
    present = {fold_id(one.id) for one in learners}
    return tuple({"id": one.id, "name": one.name} for one in roster.people if fold_id(one.id) not in present)


def number_attempts(learners: Sequence[Learner]) -> list[tuple[Learner, bool]]:
    """Give each person's hand-ins their attempt numbers, and say which is the newest; the order stays.

    Attempts are ordered by the number in their names; else by time, the one in the name or the platform's; else by the
    text in their names; else by when files were last changed.
    """
    attempts: dict[str, list[int]] = defaultdict(list)
    for index, one in enumerate(learners):
        if one.known:
            attempts[fold_id(one.id)].append(index)
    numbered = [(replace(one, attempt=1), True) for one in learners]
    for indices in attempts.values():
        ordered = sorted(indices, key=lambda index: _age(learners[index])) if len(indices) > 1 else indices
        own = [number for index in ordered if (number := learners[index].first.attempt) is not None]
        numbers = own if len(set(own)) == len(ordered) else range(1, len(ordered) + 1)
        owner = learners[indices[0]].id  # one of several ways to write it
        for index, number in zip(ordered, numbers, strict=True):
            numbered[index] = replace(learners[index], id=owner, attempt=number), index == ordered[-1]
    return numbered


def add_earlier(learners: Iterable[Learner], older: Iterable[Learner], several: str) -> list[Learner]:
    """Give the newest hand-in of each person the earlier ones, of which the last MAX_EARLIER are looked at.

    *several* says what becomes of them; for "last" they are left out. Who has more is told in the hand-in's notes.
    """
    limit = 0 if several == "last" else MAX_EARLIER
    attempts: dict[str, list[Learner]] = defaultdict(list)
    for one in sorted(older, key=lambda one: one.attempt, reverse=True):
        attempts[one.id].append(one)
    return [_with_earlier(one, attempts.get(one.id, ()), limit, several) if one.known else one for one in learners]


def _with_earlier(one: Learner, earlier: Sequence[Learner], limit: int, several: str) -> Learner:
    if not earlier:
        return one
    are_cut = 0 < limit < len(earlier)
    notes = (*one.notes, NOT_ALL.format(all=len(earlier) + 1, read=limit + 1)) if are_cut else one.notes
    return replace(one, earlier=tuple(earlier[:limit]), several=several, notes=notes)


def _age(learner: Learner) -> tuple[float, float, list[tuple[int, str]], float, str]:
    first = learner.first
    number = -1.0 if first.attempt is None else float(first.attempt)
    submitted = max((entry.submitted for entry in learner.entries if entry.submitted is not None), default=-1.0)
    changed = max(entry.modified_at() for entry in learner.entries)
    return number, submitted, _natural(first.attempt_name), changed, first.name


def _natural(text: str) -> list[tuple[int, str]]:
    """Return a key by which draft-10 comes after draft-9."""
    return [(int(digits or 0), word.casefold()) for word, digits in re.findall(r"(\D*)(\d{0,9})", text)]
