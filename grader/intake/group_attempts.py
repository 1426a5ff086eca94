"""From names to hand-ins: which files are one hand-in, whose it is, and which of a learner's attempts is graded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from grader.intake.folder_listing import Entry
from grader.intake.limits import kind_of
from grader.intake.name_patterns import Claim, judged, original_names, uploads_of
from grader.intake.roster import Person, Roster, folded


@dataclass(frozen=True)
class Delivery:
    """One hand-in before it has an id of its own: its entries, each with its name inside it.

    `certain` means that `id` is known to be a person's: several deliveries of one id are then attempts of theirs.
    """

    id: str
    entries: tuple[tuple[str, Entry], ...]
    name: str = ""
    keys: tuple[str, ...] = ()
    attempt: int | None = None
    late: bool = False
    when: float | None = None
    together: tuple[str, ...] = ()
    certain: bool = True
    commit: str = ""
    notes: tuple[str, ...] = ()
    listed: bool = field(default=False)  # whether the roster names them

    @property
    def first(self) -> Entry:
        """The entry that it is called by."""
        return self.entries[0][1]


def gathered(claims: Iterable[tuple[Entry, Claim]]) -> list[Delivery]:
    """The hand-ins that the claims make, in their order: of one id and attempt, files that join are one."""
    groups: dict[object, list[tuple[Entry, Claim]]] = defaultdict(list)
    for number, (entry, claim) in enumerate(claims):
        groups[(folded(claim.id), claim.attempt) if claim.joins else number].append((entry, claim))
    return [_delivery(group) for group in groups.values()]


def _delivery(group: Sequence[tuple[Entry, Claim]]) -> Delivery:
    claim = group[0][1]
    written = [one.file or entry.name for entry, one in group]
    files = original_names(written) if claim.renamed else written
    taken = dict(zip(files, written, strict=True))
    older = [(plain, old) for file, plain, old in zip(files, uploads_of(written), written, strict=True) if not file]
    notes = [judged(taken[plain], [old]) for plain, old in older if kind_of(old)]
    times = [one.when for _, one in group if one.when is not None]
    return Delivery(
        claim.id,
        tuple((file, entry) for file, (entry, _) in zip(files, group, strict=True) if file),
        name=claim.name,
        keys=claim.keys,
        attempt=claim.attempt,
        late=any(one.late for _, one in group),
        when=max(times) if times else None,
        together=claim.together,
        notes=tuple(notes),
    )


def joined(deliveries: Iterable[Delivery], roster: Roster) -> list[Delivery]:
    """Each hand-in with the id and name of the person in the roster whom it is found to be of: by any of its ids, else
    by a name that one person and one hand-in alone have."""
    deliveries = list(deliveries)
    found = [roster.find((one.id, *one.keys)) for one in deliveries]
    taken = {person.id for person in found if person}
    by_name = [None if person else roster.find_by_name(one.name) for one, person in zip(deliveries, found, strict=True)]
    owners: dict[str, set[str]] = defaultdict(set)
    for one, named in zip(deliveries, by_name, strict=True):
        if named:
            owners[named.id].add(folded(one.id))
    result = []
    for one, person, named in zip(deliveries, found, by_name, strict=True):
        alone = named is not None and named.id not in taken and len(owners[named.id]) == 1
        person = person or (named if alone else None)
        result.append(_of_person(one, person) if person else one)
    return [replace(one, together=tuple(_id_of(other, roster) for other in one.together)) for one in result]


def _of_person(delivery: Delivery, person: Person) -> Delivery:
    return replace(delivery, id=person.id, name=person.name or delivery.name, certain=True, listed=True)


def _id_of(other: str, roster: Roster) -> str:
    person = roster.find([other])
    return person.id if person else other


def absent(roster: Roster, deliveries: Iterable[Delivery]) -> tuple[dict[str, str], ...]:
    """The people of the roster who have handed in nothing, in its order."""
    there = {folded(one.id) for one in deliveries}
    return tuple({"id": one.id, "name": one.name} for one in roster.people if folded(one.id) not in there)


def numbered(deliveries: Sequence[Delivery]) -> list[tuple[Delivery, int, bool]]:
    """Each hand-in with the number of the attempt, and whether it is the learner's newest; in the order given.

    Attempts are ordered by their number where the names give one, else by time: what the platform says, or when the
    files were last changed.
    """
    attempts: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(deliveries):
        if one.certain:
            attempts[folded(one.id)].append(place)
    owners = [one.id for one in deliveries]
    numbers, newest = [1] * len(deliveries), [True] * len(deliveries)
    for places in attempts.values():
        ordered = sorted(places, key=lambda place: _age(deliveries[place])) if len(places) > 1 else places
        given = [deliveries[place].attempt for place in ordered]
        counted = range(1, len(ordered) + 1)
        own = [number for number in given if number is not None]
        owner = deliveries[places[0]].id  # one of several ways to write it
        for place, number in zip(ordered, own if len(set(own)) == len(ordered) else counted, strict=True):
            numbers[place], newest[place], owners[place] = number, place == ordered[-1], owner
    return [
        (replace(one, id=owner), number, last)
        for one, owner, number, last in zip(deliveries, owners, numbers, newest, strict=True)
    ]


def _age(delivery: Delivery) -> tuple[float, float, str]:
    when = delivery.when if delivery.when is not None else max(entry.when() for _, entry in delivery.entries)
    return (-1.0 if delivery.attempt is None else float(delivery.attempt), when, delivery.first.name)
