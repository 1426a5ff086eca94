"""The results of a class: one row for each hand-in, and every result that was ever given.

Results that come together are written in one transaction. Replaced results are kept: `records` only grows, and
`results` says which of them count. The texts are the caller's JSON; a caller's function that reads one may raise what a
damaged text makes it raise, which becomes a StoreError that names the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, TypeVar, get_type_hints

from grader.errors import UsageError
from grader.files import MAX_NUMBERED_BYTES, file_name, is_file
from grader.model import MAX_PAIRS, MAX_PEOPLE, Override
from grader.model.course import MAX_LESSONS
from grader.model.validate import parse_json, validated
from grader.store.migrations import CLASS_MIGRATIONS
from grader.store.sqlite import Database

T = TypeVar("T")

BUSY_SECONDS = 60.0  # a run may be writing, or the file system be slow
HOLDS = "the store of results"
MAX_SAID_CHARS = 2_000  # of a human's reason for a score
MAX_WORDS = 20  # of a human on one lesson of a hand-in that are looked at
MAX_PARTS = 999_999  # of a class
MAX_FACTS_CHARS = 16 << 20  # of all of a run together; 100,000 learners have 5 million
CHANGED = "changed"  # the fact that the class files are out of date

FACT = "INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
RECORD = "INSERT INTO records (id, at, settings, digest, record) VALUES (?, ?, ?, ?, ?)"
RESULT = """
INSERT INTO results (id, number, learner, attempt, feedback, at, settings, digest, listed, again, summary, fingerprints)
VALUES (?, last_insert_rowid(), ?, ?, ?, ?, ?, ?, 1, 0, ?, ?)
ON CONFLICT (id) DO UPDATE SET number = excluded.number, learner = excluded.learner, attempt = excluded.attempt,
    feedback = excluded.feedback, at = excluded.at, settings = excluded.settings, digest = excluded.digest, listed = 1,
    again = 0, summary = excluded.summary, fingerprints = excluded.fingerprints
"""
OVERRIDE = "INSERT INTO overrides (id, lesson, score, says, by, at, digest) VALUES (?, ?, ?, ?, ?, ?, ?)"
WORDS = """
SELECT id, lesson, score, says, by, at, digest
FROM (SELECT *, row_number() OVER (PARTITION BY id, lesson ORDER BY number DESC) AS back FROM overrides)
WHERE back <= ? ORDER BY number
"""
# a record counts for its own hand-in: thousands of results could else be stuffed in, at the cost of one record
RECORD_OF = "SELECT record FROM results JOIN records USING (number, id) WHERE results.id = ?"
JUDGED = """
SELECT overrides.id, json_extract(record, '$.source') FROM overrides JOIN records USING (id, digest)
ORDER BY overrides.number
"""
OF_HAND_INS = ("records", "results", "overrides")
WITH_OWNER = "json_set({}, '$.id', ?, '$.learner', ?, '$.name', ?, '$.together', json(?))"
RENAME_RECORDS = f"UPDATE records SET id = ?, record = {WITH_OWNER.format('record')} WHERE id = ?"
RENAME_RESULT = f"UPDATE results SET id = ?, learner = ?, summary = {WITH_OWNER.format('summary')} WHERE id = ?"
ORDER = "WHERE listed ORDER BY learner, attempt, id"


class CourseName(TypedDict):
    """Which course it was, and the digest of its files."""

    id: str
    version: str
    content: str


class Header(TypedDict):
    """What verdicts depend on."""

    course: CourseName
    engine: str
    lessons: list[str]
    seed: int
    device: str


class Titles(TypedDict):
    """Titles for people to read; those of the lessons by name."""

    course: str
    lessons: dict[str, str]


class Left(TypedDict, total=False):
    """Ids of hand-ins that were left, since what was graded is newer; earlier versions did not store them."""

    older: list[str]


class Named(TypedDict, total=False):
    """A person's name, where one is known."""

    name: str


class Missing(Named):
    """A person of the roster without a hand-in."""

    id: str


class Found(Left):
    """How the hand-ins were found."""

    ignored: list[str]
    missing: list[Missing]
    unlisted: list[str]


class Lines(TypedDict, total=False):
    """Which lines of two hand-ins are alike: the first and the last of each."""

    first_lines: list[int]
    second_lines: list[int]


class Pair(Lines):
    """Two hand-ins that are alike; there is more in it for whoever looks at them."""

    first: str
    second: str
    lesson: str
    share: float
    note: str


class Noted(TypedDict, total=False):
    """Facts that are noted as a run goes on."""

    changed: bool
    finished: str
    isolation: list[str]
    not_compared: list[str]
    reveal: bool
    similar: list[Pair]


class Facts(Noted):
    """What a run has stored about itself. `parts` are (number, of how many)."""

    settings: Header
    titles: Titles
    expected: list[str]
    found: Found
    parts: list[list[int]]
    started: str


FACTS = get_type_hints(Facts)


@dataclass(frozen=True)
class Result:
    """The result that counts for one hand-in."""

    id: str
    learner: str
    attempt: int
    feedback: str  # the name of the learner's files
    at: str  # UTC
    settings: str
    digest: str  # of the hand-in; "" if it is to be graded again in any case


@dataclass(frozen=True)
class State:
    """What decides whether a hand-in is graded again."""

    settings: str
    digest: str
    feedback: str
    at: str
    listed: bool  # in the class files
    again: bool  # a regrade has begun and is not done


@dataclass(frozen=True)
class Owner:
    """Whose a result is: the learner's id and name, a digest of the account's address, and the ids of the group.

    `judged` is the file to which a human gave a score last, "" for none, or where its result is not kept.
    """

    learner: str
    name: str = ""
    account: str = ""
    together: tuple[str, ...] = ()
    judged: str = ""


class ClassStore:
    """The database of a run. Every method raises StoreError if the file cannot be used; nothing is saved then."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = Database(path, BUSY_SECONDS, CLASS_MIGRATIONS, HOLDS, replace_damaged=False)

    @classmethod
    def existing(cls, path: Path) -> ClassStore:
        """Open the store at `path`. Raises UsageError if there is no such file, StoreError if it is of another kind."""
        if not is_file(path):
            raise UsageError("there are no results of a run here", where=str(path), next_step="grader run SUBMISSIONS")
        store = cls(path)
        store.facts()
        return store

    def close(self) -> None:
        self._database.close()

    # ---- facts about the run as a whole

    def facts(self) -> dict[str, Any]:
        """Return all facts: those of `Facts` once a run has begun, before that perhaps some of them."""
        names = ", ".join("?" * len(FACTS))
        query = f"SELECT name, value, SUM(LENGTH(value)) OVER () FROM facts WHERE name IN ({names})"
        return self._database.convert(_to_facts, dict(self._database.read(_to_fact, query, tuple(FACTS))))

    def keep_facts(self, **facts: Any) -> None:
        """Keep facts, each under its name, in place of earlier ones."""
        self._database.write_all([(FACT, (name, json.dumps(value))) for name, value in facts.items()])

    # ---- one result

    def add(self, results: Iterable[tuple[Result, str, str, str]]) -> None:
        """Keep results as those that count for their hand-ins, all or none: the disk is waited for once.

        With each come its record, its summary, which is the record without details, and its fingerprints.
        """
        changes: list[tuple[str, tuple[object, ...]]] = []
        for result, record, summary, fingerprints in results:
            of = (result.id, result.at, result.settings, result.digest)
            row = (result.id, result.learner, result.attempt, result.feedback, *of[1:], summary, fingerprints)
            changes += [(RECORD, (*of, record)), (RESULT, row)]
        if changes:
            self._database.write_all([*changes, (FACT, (CHANGED, json.dumps(True)))])

    def record(self, hand_in: str, parse: Callable[[str], T]) -> T | None:
        """Return the record that counts for a hand-in; None for an unknown one."""
        return next(iter(self._parsed(parse, RECORD_OF, hand_in)), None)

    def fingerprint(self, hand_in: str, parse: Callable[[str], T]) -> T | None:
        """Return the fingerprints of a hand-in; None for an unknown one."""
        return next(iter(self._parsed(parse, "SELECT fingerprints FROM results WHERE id = ?", hand_in)), None)

    # ---- a human's word

    def overrides(self) -> dict[str, dict[str, Override]]:
        """Return what a human said of hand-ins, by id and lesson; what was taken back is left out."""
        last = {(hand_in, lesson): one for hand_in, lesson, one in self.words()}
        found: dict[str, dict[str, Override]] = {}
        for (hand_in, lesson), one in last.items():
            if one.score is not None:
                found.setdefault(hand_in, {})[lesson] = one
        return found

    def words(self) -> list[tuple[str, str, Override]]:
        """Return a human's last words on each lesson of a hand-in, in their order; without a score one takes back.

        Each change of mind adds a row: of more than `MAX_WORDS` on one lesson the earlier ones count for nothing.
        """
        return self._database.read(_to_override, WORDS, (MAX_WORDS,))

    def add_overrides(self, overrides: Iterable[tuple[str, str, Override]]) -> None:
        """Keep what a human says of hand-ins: id, lesson, override."""
        rows = [(name, lesson, o.score, o.says, o.by, o.when, o.digest) for name, lesson, o in overrides]
        if rows:
            self._database.write_all([*((OVERRIDE, row) for row in rows), (FACT, (CHANGED, json.dumps(True)))])

    # ---- all of them

    def states(self) -> dict[str, State]:
        """Return the state of every hand-in that was ever graded here, by id."""
        query = "SELECT id, settings, digest, feedback, at, listed, again FROM results"
        return self._database.convert(_with_own_files, self._database.read(_to_state, query, ()))

    def current(self) -> set[str]:
        """Return the ids of the hand-ins with a result that is listed and does not wait for a new one."""
        query = "SELECT id FROM results WHERE listed AND NOT again"
        return set(self._database.read(lambda row: str(row[0]), query, ()))

    def waiting(self) -> set[str]:
        """Return the ids of the hand-ins whose listed result is an earlier one, and waits for a new one."""
        return set(self._database.read(lambda row: str(row[0]), "SELECT id FROM results WHERE listed AND again", ()))

    def digests(self, hand_in: str) -> set[str]:
        """Return the digest of each content that was ever graded for a hand-in."""
        query = "SELECT DISTINCT digest FROM records WHERE id = ?"
        return set(self._database.read(lambda row: str(row[0]), query, (hand_in,)))

    def list_only(self, hand_ins: Collection[str]) -> None:
        """List only these in the class files. The others are kept, and count again once they are listed."""
        listed = dict(self._database.read(lambda row: (str(row[0]), row[1]), "SELECT id, listed FROM results", ()))
        wrong = [name for name, known in listed.items() if bool(known) != (name in hand_ins)]
        changes = [("UPDATE results SET listed = ? WHERE id = ?", (name in hand_ins, name)) for name in wrong]
        if changes:
            self._database.write_all([*changes, (FACT, (CHANGED, json.dumps(True)))])

    def grade_again(self, hand_ins: Collection[str]) -> None:
        """Note that these are to be graded again."""
        self._database.write_all([("UPDATE results SET again = 1 WHERE id = ?", (name,)) for name in hand_ins])

    def rename(self, hand_ins: Mapping[str, tuple[str, Owner]]) -> None:
        """Give hand-ins other ids and owners, by the old id, with all that is kept of them."""
        changes: list[tuple[str, tuple[object, ...]]] = []
        for old in hand_ins:  # first out of the way: two may exchange theirs
            changes += [(f"UPDATE {table} SET id = ? WHERE id = ?", (f"\0{old}", old)) for table in OF_HAND_INS]
        for old, (new, owner) in hand_ins.items():
            away, text = f"\0{old}", (new, owner.learner, owner.name, json.dumps(owner.together))
            changes += [
                ("UPDATE overrides SET id = ? WHERE id = ?", (new, away)),
                (RENAME_RECORDS, (new, *text, away)),
                (RENAME_RESULT, (new, owner.learner, *text, away)),
            ]
        self._database.write_all([*changes, (FACT, (CHANGED, json.dumps(True)))])

    def results(self) -> list[Result]:
        """Return what is listed, without the records, ordered by learner and attempt."""
        query = f"SELECT id, learner, attempt, feedback, at, settings, digest FROM results {ORDER}"
        return self._database.read(_to_result, query, ())

    def summaries(self, parse: Callable[[str], T]) -> list[T]:
        """Return the summaries of what is listed, in that order."""
        return self._database.read(lambda row: parse(row[0]), f"SELECT summary FROM results {ORDER}", ())

    def owners(self) -> dict[str, Owner]:
        """Return the owner of each hand-in that was ever graded here, by id."""
        judged = dict(self._database.read(lambda row: (str(row[0]), str(row[1] or "")), JUDGED, ()))
        query = (
            "SELECT id, learner, json_extract(summary, '$.name', '$.account', '$.together') FROM results ORDER BY id"
        )
        owners = self._database.convert(dict, self._database.read(_to_owner, query, ()))
        return {name: replace(one, judged=judged.get(name, "")) for name, one in owners.items()}

    def records(self, parse: Callable[[str], T]) -> Iterator[T]:
        """Iterate over the records of what is listed, in that order; one is in memory at a time."""
        for hand_in in self._database.read(lambda row: str(row[0]), f"SELECT id FROM results {ORDER}", ()):
            yield from self._parsed(parse, RECORD_OF, hand_in)

    def _parsed(self, parse: Callable[[str], T], query: str, parameter: object) -> list[T]:
        return self._database.read(lambda row: parse(row[0]), query, (parameter,))


def _to_fact(row: tuple[Any, ...]) -> tuple[str, Any]:
    """Read one fact. What is not of its type is let go at once: JSON takes twenty times the memory of its text."""
    name, text, chars = row
    if chars > MAX_FACTS_CHARS:
        raise ValueError("these are more facts than a run has")
    return name, validated(parse_json(text), FACTS[name])


def _to_facts(facts: dict[str, Any]) -> dict[str, Any]:
    """Raise ValueError for facts of which some are lacking, or of people, parts, lessons or pairs that no class has."""
    for number, of in facts.get("parts", ()):
        if not 0 < number <= of <= MAX_PARTS:
            raise ValueError(f"there is no part {number} of {of}")
    if len(facts.get("similar", ())) > MAX_PAIRS:
        raise ValueError("these are more pairs than a run keeps")
    lists = [facts.get("expected", ()), *(facts.get("found", {}).get(name, ()) for name in get_type_hints(Found))]
    if max(map(len, lists)) > MAX_PEOPLE:
        raise ValueError(f"these are more than {MAX_PEOPLE:,} people, for whom a run of their own is needed")
    lessons = facts.get("settings", {}).get("lessons", ())
    titles = facts.get("titles", {}).get("lessons", ())
    if len(set(lessons)) < len(lessons) or max(len(lessons), len(titles)) > MAX_LESSONS:
        raise ValueError("these are no lessons of a course")
    return validated(facts, Facts if "settings" in facts else Noted)


def _to_result(row: tuple[Any, ...]) -> Result:
    id, learner, attempt, feedback, *rest = row
    return validated(Result(id, learner, attempt, file_name(feedback, MAX_NUMBERED_BYTES), *rest), Result)


def _to_override(row: tuple[Any, ...]) -> tuple[str, str, Override]:
    hand_in, lesson, *rest = row
    override = validated(Override(*rest), Override)
    if not 0 <= (override.score or 0.0) <= 10 or max(len(override.says), len(override.by)) > MAX_SAID_CHARS:
        raise ValueError("this is no score of a human")
    return str(hand_in), str(lesson), override


def _with_own_files(states: list[tuple[str, State]]) -> dict[str, State]:
    """Raise ValueError where the feedback of one hand-in would be written in the place of another's."""
    files = [state.feedback.casefold() for _, state in states if state.listed]
    if len(set(files)) < len(files):
        raise ValueError("two hand-ins have one name for their feedback")
    return dict(states)


def _to_owner(row: tuple[Any, ...]) -> tuple[str, Owner]:
    name, account, together = parse_json(row[2])
    return str(row[0]), validated(Owner(str(row[1]), name or "", account or "", tuple(together or ())), Owner)


def _to_state(row: tuple[Any, ...]) -> tuple[str, State]:
    id, settings, digest, feedback, at, listed, again = row
    name = file_name(feedback, MAX_NUMBERED_BYTES)
    return str(id), validated(State(settings, digest, name, at, bool(listed), bool(again)), State)
