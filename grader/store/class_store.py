"""The results of a class: one row for each hand-in, and every result that was ever given.

Each result is written in one transaction. Replaced results are kept: `records` only grows, and `results` says which of
them count. The texts are the caller's JSON, which the store does not read.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import UsageError
from grader.store.migrations import CLASS_MIGRATIONS
from grader.store.sqlite import Database

BUSY_SECONDS = 60.0  # a run may be writing, or the file system be slow
HOLDS = "the store of results"
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
ORDER = "WHERE listed ORDER BY learner, attempt, id"


@dataclass(frozen=True)
class Result:
    """The result that counts for one hand-in."""

    id: str
    learner: str
    attempt: int
    feedback: str
    at: str  # UTC
    settings: str
    digest: str  # of the hand-in; "" if it is to be graded again in any case
    summary: Mapping[str, Any]  # the record without its details


@dataclass(frozen=True)
class State:
    """What decides whether a hand-in is graded again."""

    settings: str
    digest: str
    feedback: str
    at: str
    listed: bool  # in the class files
    again: bool  # a regrade has begun and is not done


class ClassStore:
    """The database of a run. Every method raises StoreError if the file cannot be used; nothing is saved then."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = Database(path, BUSY_SECONDS, CLASS_MIGRATIONS, HOLDS, replace_damaged=False)

    @classmethod
    def existing(cls, path: Path) -> ClassStore:
        """Open the store at `path`. Raises UsageError if there is no such file, StoreError if it is of another kind."""
        if not path.is_file():
            raise UsageError("there are no results of a run here", where=str(path), next_step="grader run SUBMISSIONS")
        store = cls(path)
        store.facts()
        return store

    def close(self) -> None:
        self._database.close()

    # ---- facts about the run as a whole

    def facts(self) -> dict[str, Any]:
        """Return all facts."""
        return dict(self._database.read(lambda row: (str(row[0]), json.loads(row[1])), "SELECT * FROM facts", ()))

    def keep_facts(self, **facts: Any) -> None:
        """Keep facts, each under its name, in place of earlier ones."""
        self._database.write_all([(FACT, (name, json.dumps(value))) for name, value in facts.items()])

    # ---- one result

    def add(self, result: Result, record: str, fingerprints: str) -> None:
        """Keep a result as the one that counts for its hand-in; `record` and `fingerprints` are JSON."""
        of = (result.id, result.at, result.settings, result.digest)
        row = (result.id, result.learner, result.attempt, result.feedback, *of[1:], json.dumps(result.summary))
        self._database.write_all(
            [(RECORD, (*of, record)), (RESULT, (*row, fingerprints)), (FACT, (CHANGED, json.dumps(True)))]
        )

    def record(self, hand_in: str) -> str:
        """Return the record that counts for a hand-in, as JSON; "" for an unknown one."""
        query = "SELECT record FROM records WHERE number = (SELECT number FROM results WHERE id = ?)"
        return next(iter(self._texts(query, hand_in)), "")

    def fingerprint(self, hand_in: str) -> str:
        """Return the fingerprints of a hand-in, as JSON; "" for an unknown one."""
        return next(iter(self._texts("SELECT fingerprints FROM results WHERE id = ?", hand_in)), "")

    # ---- all of them

    def states(self) -> dict[str, State]:
        """Return the state of every hand-in that was ever graded here, by id."""
        query = "SELECT id, settings, digest, feedback, at, listed, again FROM results"
        return dict(self._database.read(lambda row: (row[0], State(*row[1:5], *map(bool, row[5:]))), query, ()))

    def list_only(self, hand_ins: Collection[str]) -> None:
        """List only these in the class files. The others are kept, and count again once they are listed."""
        wrong = [name for name, state in self.states().items() if state.listed != (name in hand_ins)]
        changes = [("UPDATE results SET listed = ? WHERE id = ?", (name in hand_ins, name)) for name in wrong]
        if changes:
            self._database.write_all([*changes, (FACT, (CHANGED, json.dumps(True)))])

    def grade_again(self, hand_ins: Collection[str]) -> None:
        """Note that these are to be graded again."""
        self._database.write_all([("UPDATE results SET again = 1 WHERE id = ?", (name,)) for name in hand_ins])

    def results(self) -> list[Result]:
        """Return what is listed, without the records, ordered by learner and attempt."""
        query = f"SELECT id, learner, attempt, feedback, at, settings, digest, summary FROM results {ORDER}"
        return self._database.read(lambda row: Result(*(*row[:-1], json.loads(row[-1]))), query, ())

    def records(self) -> Iterator[str]:
        """Iterate over the records of what is listed, in that order, as JSON; one is in memory at a time."""
        for number in self._database.read(lambda row: int(row[0]), f"SELECT number FROM results {ORDER}", ()):
            yield from self._texts("SELECT record FROM records WHERE number = ?", number)

    def fingerprints(self) -> Iterator[tuple[str, str]]:
        """Iterate over id and fingerprints of what is listed, in that order."""
        for name in self._texts(f"SELECT id FROM results {ORDER}"):
            yield name, self.fingerprint(name)

    def _texts(self, query: str, *parameters: object) -> list[str]:
        return self._database.read(lambda row: str(row[0]), query, parameters)
