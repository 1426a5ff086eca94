"""The results of a class: one row for each hand-in that counts, and every result that was ever given.

A result is written in one transaction as soon as it is there. What is replaced is kept: `records` only grows, and
`results` says which of them count. Texts are JSON of whoever calls; nothing in here looks into them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import UsageError
from grader.store.migrations import CLASS_MIGRATIONS
from grader.store.sqlite import Database, Row

BUSY_SECONDS = 60.0  # for those who read while a run writes, and on network file systems
HOLDS = "the store of results"
CHANGED = "changed"  # the fact that the class files are not of these results

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
    """What counts for one hand-in. `at` is when it was graded (UTC); `settings` and `digest` say on what and of what,
    an empty `digest` that it is to be graded again in any case. `summary` is the record without its details."""

    id: str
    learner: str
    attempt: int
    feedback: str
    at: str
    settings: str
    digest: str
    summary: Mapping[str, Any]


@dataclass(frozen=True)
class State:
    """What decides whether a hand-in is graded again. `listed`: it is in the class files. `again`: a regrade of it was
    begun and is not done."""

    settings: str
    digest: str
    feedback: str
    at: str
    listed: bool
    again: bool


class ClassStore:
    """The file of a run. Every method raises StoreError if it cannot be used; nothing was saved then."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = Database(path, BUSY_SECONDS, CLASS_MIGRATIONS, HOLDS, replace_damaged=False)

    @classmethod
    def existing(cls, path: Path) -> ClassStore:
        """The store at `path`. Raises UsageError if there is no such file, StoreError if it is another kind of file."""
        if not path.is_file():
            raise UsageError("there are no results of a run here", where=str(path), next_step="grader run SUBMISSIONS")
        store = cls(path)
        store.facts()
        return store

    def close(self) -> None:
        self._database.close()

    # ---- facts about the run as a whole

    def facts(self) -> dict[str, Any]:
        """Everything that was said with `state`."""
        return dict(self._database.read(lambda row: (str(row[0]), json.loads(row[1])), "SELECT * FROM facts", ()))

    def state(self, **facts: Any) -> None:
        """Keep facts, each under its name; what it was before is gone."""
        self._database.write_all([(FACT, (name, json.dumps(value))) for name, value in facts.items()])

    # ---- one result

    def add(self, result: Result, record: str, fingerprints: str) -> None:
        """Keep a result as the one that counts for its hand-in. `record` and `fingerprints` are JSON."""
        of = (result.id, result.at, result.settings, result.digest)
        row = (result.id, result.learner, result.attempt, result.feedback, *of[1:], json.dumps(result.summary))
        self._database.write_all(
            [(RECORD, (*of, record)), (RESULT, (*row, fingerprints)), (FACT, (CHANGED, json.dumps(True)))]
        )

    def record(self, hand_in: str) -> str:
        """The record that counts for a hand-in, as JSON; "" if there is none."""
        query = "SELECT record FROM records WHERE number = (SELECT number FROM results WHERE id = ?)"
        return next(iter(self._texts(query, hand_in)), "")

    def fingerprint(self, hand_in: str) -> str:
        """The fingerprints of a hand-in, as JSON; "" if there is no such hand-in."""
        return next(iter(self._texts("SELECT fingerprints FROM results WHERE id = ?", hand_in)), "")

    # ---- all of them

    def states(self) -> dict[str, State]:
        """Every hand-in that was ever graded here, by its id."""
        query = "SELECT id, settings, digest, feedback, at, listed, again FROM results"

        def to_state(row: Row) -> tuple[str, State]:
            hand_in, settings, digest, feedback, at, listed, again = row
            return hand_in, State(settings, digest, feedback, at, bool(listed), bool(again))

        return dict(self._database.read(to_state, query, ()))

    def list_only(self, hand_ins: Collection[str]) -> None:
        """Let the class files hold these and no others. The rest is kept, and counts again once it is named here."""
        listed = {name: state.listed for name, state in self.states().items()}
        wrong = [name for name, is_listed in listed.items() if is_listed != (name in hand_ins)]
        changes = [("UPDATE results SET listed = ? WHERE id = ?", (name in hand_ins, name)) for name in wrong]
        if changes:
            self._database.write_all([*changes, (FACT, (CHANGED, json.dumps(True)))])

    def grade_again(self, hand_ins: Collection[str]) -> None:
        """Note that these are to be graded again, whatever happens before that is done."""
        self._database.write_all([("UPDATE results SET again = 1 WHERE id = ?", (name,)) for name in hand_ins])

    def results(self) -> list[Result]:
        """What is listed, without the records, in the order of learners and attempts."""
        columns = "id, learner, attempt, feedback, at, settings, digest, summary"

        def to_result(row: Row) -> Result:
            hand_in, learner, attempt, feedback, at, settings, digest, summary = row
            return Result(hand_in, learner, attempt, feedback, at, settings, digest, json.loads(summary))

        return self._database.read(to_result, f"SELECT {columns} FROM results {ORDER}", ())

    def records(self) -> Iterator[str]:
        """The record of each that is listed, in that order, as JSON. One is in memory at a time."""
        for number in self._database.read(lambda row: int(row[0]), f"SELECT number FROM results {ORDER}", ()):
            yield from self._texts("SELECT record FROM records WHERE number = ?", number)

    def fingerprints(self) -> Iterator[tuple[str, str]]:
        """Id and fingerprints of each that is listed, in that order."""
        for name in self._texts(f"SELECT id FROM results {ORDER}"):
            yield name, self.fingerprint(name)

    def _texts(self, query: str, *parameters: object) -> list[str]:
        return self._database.read(lambda row: str(row[0]), query, parameters)
