"""Store a learner's attempts, the hints taken and the solutions shown, by the names of lessons and functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader.store.learner_database import BUSY_SECONDS, LearnerDatabase
from grader.store.rows import format_time, result_to_json, to_attempt, to_mistakes, to_progress

if TYPE_CHECKING:
    from grader.model import Attempt, LessonProgress, LessonResult

ATTEMPT = "SELECT lesson, at, state, score, passed, source_sha256, result FROM attempts"

# `renamed` has a row for each former name of a lesson; its first row matches nothing, so that there may be no others.
SUMMARY = """
WITH renamed (old, new) AS (VALUES (NULL, NULL){former}),
solved AS (
    SELECT COALESCE(new, lesson) AS name, MIN(id) AS first, MIN(at) AS solved
    FROM attempts LEFT JOIN renamed ON old = lesson WHERE passed GROUP BY name
),
tried AS (
    SELECT COALESCE(new, lesson) AS name, COUNT(CASE WHEN id <= IFNULL(first, id) THEN 1 END) AS attempts,
        MAX(score) AS best, MAX(id) AS last
    FROM attempts LEFT JOIN renamed ON old = lesson LEFT JOIN solved ON name = COALESCE(new, lesson)
    GROUP BY COALESCE(new, lesson)
),
helped AS (
    SELECT COALESCE(new, lesson) AS name, COUNT(DISTINCT function || ' ' || rung) AS taken,
        COUNT(DISTINCT CASE WHEN at <= IFNULL(solved, at) THEN function || ' ' || rung END) AS hints
    FROM hints LEFT JOIN renamed ON old = lesson LEFT JOIN solved ON name = COALESCE(new, lesson)
    GROUP BY COALESCE(new, lesson)
),
shown AS (
    SELECT COALESCE(new, lesson) AS name, MAX(gave_up) AS gave_up
    FROM solutions_shown LEFT JOIN renamed ON old = lesson GROUP BY name
)
SELECT name, attempts, best, solved, latest.score, latest.at, latest.result, hints, taken, gave_up
FROM (SELECT name FROM tried UNION SELECT name FROM helped UNION SELECT name FROM shown)
LEFT JOIN tried USING (name) LEFT JOIN solved USING (name) LEFT JOIN helped USING (name) LEFT JOIN shown USING (name)
LEFT JOIN attempts AS latest ON latest.id = tried.last
"""


class Store:
    """One learner's progress, in one file, which the first write makes.

    Every method raises StoreError if the file cannot be used; a method that writes has then saved nothing.
    """

    def __init__(self, path: Path, aliases: Mapping[str, str], busy_seconds: float) -> None:
        self.database = LearnerDatabase(path, busy_seconds)
        self._aliases = dict(aliases)

    @classmethod
    def open(cls, path: Path, *, aliases: Mapping[str, str] | None = None, busy_seconds: float = BUSY_SECONDS) -> Store:
        """Open the store at `path`. A damaged file is set aside, and `notices` says so.

        Args:
            path: The file; it need not exist.
            aliases: Former names of lessons, each with today's name, for which its progress counts.
            busy_seconds: How long to wait for another process that is writing.

        Raises:
            StoreError: The file cannot be used.
        """
        store = cls(path, aliases or {}, busy_seconds)
        store.database.read_number("PRAGMA user_version")  # to find a bad file at once
        return store

    @property
    def notices(self) -> tuple[str, ...]:
        """Messages about the file for the learner."""
        return self.database.notices

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ---- attempts

    def record_attempt(self, result: LessonResult, source_sha256: str, when: datetime) -> None:
        """Store a result, and the digest of the source that was checked."""
        self.database.write(
            "INSERT INTO attempts (lesson, at, state, score, passed, mistakes, source_sha256, result) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            result.lesson,
            format_time(when),
            result.state,
            result.score,
            result.passed,
            len(result.mistakes),
            source_sha256,
            result_to_json(result),
        )

    def attempts(self, lesson: str, last: int = -1) -> list[Attempt]:
        """Return the last attempts at a lesson, as many as asked for or all, oldest first."""
        names = self._names(lesson)
        query = f"{ATTEMPT} WHERE {_is_in(names)} ORDER BY id DESC LIMIT ?"
        return self.database.read(to_attempt, query, *names, last)[::-1]

    def is_passing(self, lesson: str, source_sha256: str) -> bool:
        """Return True if the last attempt of this very source passed, whatever was tried of the lesson since.

        An attempt may be of another file: of a notebook's cells, say, while the lesson's own file stays solved.
        """
        names = self._names(lesson)
        query = f"SELECT passed FROM attempts WHERE {_is_in(names)} AND source_sha256 = ? ORDER BY id DESC LIMIT 1"
        return self.database.read(lambda row: row[0], query, *names, source_sha256) == [1]

    def recent_mistakes(self, limit: int) -> list[tuple[str, str, str, datetime]]:
        """Return the latest mistakes as (lesson, id, says, when), each once, the latest first.

        Only the last hundred attempts with mistakes are searched.
        """
        query = f"{ATTEMPT} WHERE mistakes > 0 ORDER BY id DESC LIMIT 100"
        found: dict[tuple[str, str], tuple[str, str, str, datetime]] = {}
        for attempt in self.database.read(to_attempt, query):
            lesson = self._aliases.get(attempt.lesson, attempt.lesson)
            for mistake in to_mistakes(attempt.result):
                found.setdefault((lesson, mistake.id), (lesson, mistake.id, mistake.says, attempt.when))
        return list(found.values())[:limit]

    def summary(self) -> dict[str, LessonProgress]:
        """Return each lesson's progress by its name."""
        former = [name for pair in self._aliases.items() for name in pair]
        rows = self.database.read(to_progress, SUMMARY.format(former=", (?, ?)" * len(self._aliases)), *former)
        return {progress.lesson: progress for progress in rows}

    # ---- hints and solutions

    def record_hint(self, lesson: str, function: str, rung: int, when: datetime) -> None:
        """Store that a hint was shown, once. `rung` counts from 1."""
        names = self._names(lesson)
        self.database.write(
            "INSERT INTO hints (lesson, function, rung, at) SELECT ?, ?, ?, ? WHERE NOT EXISTS "
            f"(SELECT 1 FROM hints WHERE {_is_in(names)} AND function = ? AND rung = ?)",
            *(lesson, function, rung, format_time(when)),
            *(*names, function, rung),
        )

    def next_hint(self, lesson: str, function: str) -> int:
        """Return the rung after the highest one shown for this function: 1 if none was."""
        names = self._names(lesson)
        return 1 + self.database.read_number(
            f"SELECT MAX(rung) FROM hints WHERE {_is_in(names)} AND function = ? AND rung > 0", *names, function
        )

    def hints(self, lesson: str) -> set[tuple[str, int]]:
        """Return the hints that were shown, as (function, rung)."""
        names = self._names(lesson)
        found = self.database.read(tuple, f"SELECT function, rung FROM hints WHERE {_is_in(names)}", *names)
        return {(str(function), int(rung)) for function, rung in found}

    def record_solution_shown(self, lesson: str, gave_up: bool, when: datetime) -> None:
        """Store that the reference was shown; `gave_up` if that was before the lesson was solved."""
        self.database.write(
            "INSERT INTO solutions_shown (lesson, gave_up, at) VALUES (?, ?, ?)", lesson, gave_up, format_time(when)
        )

    def _names(self, lesson: str) -> list[str]:
        return [lesson, *(old for old, new in self._aliases.items() if new == lesson)]


def _is_in(names: Sequence[str]) -> str:
    return f"lesson IN ({', '.join('?' * len(names))})"
