"""The schema, as the steps that lead to it. Append only: a step that was released is never edited.

`PRAGMA user_version` is the number of steps a file has been through. Times are UTC, ISO 8601, always of one width,
so that their order as text is their order in time.
"""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    # 1: attempts, hints and solutions shown
    (
        """CREATE TABLE attempts (
            id INTEGER PRIMARY KEY,
            lesson TEXT NOT NULL,
            at TEXT NOT NULL,
            state TEXT NOT NULL,
            score REAL,
            passed INTEGER NOT NULL,
            mistakes INTEGER NOT NULL,
            source_sha256 TEXT NOT NULL,
            result TEXT NOT NULL
        )""",
        # the summary reads this index alone, not the long results
        "CREATE INDEX attempts_by_lesson ON attempts (lesson, passed, score, at)",
        """CREATE TABLE hints (
            lesson TEXT NOT NULL,
            function TEXT NOT NULL,
            rung INTEGER NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (lesson, function, rung)
        )""",
        """CREATE TABLE solutions_shown (
            id INTEGER PRIMARY KEY,
            lesson TEXT NOT NULL,
            gave_up INTEGER NOT NULL,
            at TEXT NOT NULL
        )""",
    ),
)
