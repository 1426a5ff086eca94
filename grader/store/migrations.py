"""The database schemas, as lists of migrations. Append only: never edit a migration that was released.

`PRAGMA user_version` is the number of migrations a file has been through. Times are UTC, ISO 8601, always of one width,
so that their order as text is their order in time.
"""

from __future__ import annotations

Migrations = tuple[tuple[str, ...], ...]

# A learner's progress.
MIGRATIONS: Migrations = (
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
    # 2: the quiz
    (
        "CREATE TABLE quiz_facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
        """CREATE TABLE quiz_sessions (
            id TEXT PRIMARY KEY,
            mode TEXT NOT NULL,
            topics TEXT NOT NULL,
            plan TEXT NOT NULL,
            started TEXT NOT NULL,
            finished TEXT,
            predicted REAL,
            predicted_after REAL
        )""",
        # nothing is ever deleted from this one: it is the evidence
        """CREATE TABLE quiz_answers (
            id INTEGER PRIMARY KEY,
            session TEXT NOT NULL,
            family TEXT NOT NULL,
            topic TEXT NOT NULL,
            kind TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            mode TEXT NOT NULL,
            typed TEXT NOT NULL,
            credit REAL NOT NULL,
            guess REAL NOT NULL,
            certainty TEXT NOT NULL,
            tags TEXT NOT NULL,
            first INTEGER NOT NULL,
            at TEXT NOT NULL,
            seconds REAL NOT NULL
        )""",
        "CREATE INDEX quiz_answers_by_family ON quiz_answers (family, attempt)",
        """CREATE TABLE quiz_texts (
            session TEXT NOT NULL,
            topic TEXT NOT NULL,
            text TEXT NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (session, topic)
        )""",
        """CREATE TABLE quiz_claims (
            id INTEGER PRIMARY KEY,
            session TEXT NOT NULL,
            topic TEXT NOT NULL,
            point TEXT NOT NULL,
            mark TEXT NOT NULL,
            trap INTEGER NOT NULL,
            at TEXT NOT NULL
        )""",
    ),
)

# The results of a class.
CLASS_MIGRATIONS: Migrations = (
    # 1: every result ever given, and which of them count
    (
        "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
        # nothing is ever deleted from this one
        """CREATE TABLE records (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            at TEXT NOT NULL,
            settings TEXT NOT NULL,
            digest TEXT NOT NULL,
            record TEXT NOT NULL
        )""",
        # long columns come last: queries for the others do not read them
        """CREATE TABLE results (
            id TEXT PRIMARY KEY,
            number INTEGER NOT NULL REFERENCES records (number),
            learner TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            feedback TEXT NOT NULL,
            at TEXT NOT NULL,
            settings TEXT NOT NULL,
            digest TEXT NOT NULL,
            listed INTEGER NOT NULL,
            again INTEGER NOT NULL,
            summary TEXT NOT NULL,
            fingerprints TEXT NOT NULL
        )""",
        "CREATE INDEX results_in_order ON results (listed, learner, attempt, id, number)",
    ),
    # 2: what a human said in place of a score; the last word on a lesson counts, and nothing is ever deleted
    (
        """CREATE TABLE overrides (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            lesson TEXT NOT NULL,
            score REAL,
            says TEXT NOT NULL,
            by TEXT NOT NULL,
            at TEXT NOT NULL,
            digest TEXT NOT NULL
        )""",
    ),
)
