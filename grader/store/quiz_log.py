"""The log of a learner's quizzes: what was asked, answered, predicted and claimed. Nothing in it is ever changed, but
that a sitting ends and an open answer is written on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from grader.model import Answered, Claimed, QuizSession
from grader.store.learner_database import ProgressFile
from grader.store.rows import to_text, to_time

SALT = "salt"
ANSWERS = (
    "SELECT family, topic, kind, attempt, session, mode, typed, credit, guess, certainty, tags, first, at, seconds "
    "FROM quiz_answers"
)
CLAIMS = "SELECT topic, point, mark, trap, session, at FROM quiz_claims"
SESSIONS = "SELECT id, mode, topics, started, finished, predicted, predicted_after FROM quiz_sessions"


class Planned(NamedTuple):
    """A sitting that can be gone on with: its questions as (family, attempt), in order."""

    session: QuizSession
    plan: tuple[tuple[str, int], ...]


class QuizLog:
    """The quiz tables of a learner's progress file. Every method raises StoreError if the file cannot be used."""

    def __init__(self, file: ProgressFile) -> None:
        self.file = file

    def salt(self) -> str:
        """What makes this learner's variants their own: drawn once, then always the same."""
        found = self.fact(SALT)
        if not found:
            import secrets

            self.file.write("INSERT OR IGNORE INTO quiz_facts VALUES (?, ?)", SALT, secrets.token_hex(8))
            found = self.fact(SALT)
        return found

    def fact(self, name: str) -> str:
        """A setting of the quiz; "" where there is none."""
        return next(
            iter(self.file.read(lambda row: str(row[0]), "SELECT value FROM quiz_facts WHERE name = ?", name)), ""
        )

    def keep_fact(self, name: str, value: str) -> None:
        self.file.write("INSERT OR REPLACE INTO quiz_facts VALUES (?, ?)", name, value)

    # ---- sittings

    def begin(self, session: QuizSession, plan: Sequence[tuple[str, int]]) -> None:
        """Keep a sitting and what will be asked in it."""
        import json

        self.file.write(
            "INSERT INTO quiz_sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", session.id, session.mode,
            json.dumps(session.topics), json.dumps(plan), to_text(session.started), None, session.predicted, None,
        )  # fmt: skip

    def finish(self, session: str, when: datetime, predicted_after: float | None = None) -> None:
        """A sitting is over."""
        self.file.write("UPDATE quiz_sessions SET finished = ? WHERE id = ?", to_text(when), session)
        if predicted_after is not None:
            self.predict_after(session, predicted_after)

    def replan(self, session: str, plan: Sequence[tuple[str, int]]) -> None:
        """What will be asked in a sitting that was begun before that could be known."""
        import json

        self.file.write("UPDATE quiz_sessions SET plan = ? WHERE id = ?", json.dumps(plan), session)

    def predict_after(self, session: str, predicted: float) -> None:
        """What the learner expects once all is answered, and before the marks are shown."""
        self.file.write("UPDATE quiz_sessions SET predicted_after = ? WHERE id = ?", predicted, session)

    def sessions(self) -> list[QuizSession]:
        """All sittings, oldest first."""
        return self.file.read(_to_session, f"{SESSIONS} ORDER BY started")

    def unfinished(self) -> list[Planned]:
        """Sittings that were not ended, the latest first."""
        sql = f"{SESSIONS.replace(' FROM', ', plan FROM')} WHERE finished IS NULL ORDER BY started DESC"
        return self.file.read(_to_planned, sql)

    # ---- answers

    def record(self, answer: Answered) -> None:
        """Keep an answer: once this returns it is not lost.

        There is one first try at a family in a sitting: of two, as from two terminals at once, the second is none.
        """
        import json

        self.file.write(
            "INSERT INTO quiz_answers (family, topic, kind, attempt, session, mode, typed, credit, guess, certainty, "
            "tags, first, at, seconds) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            "? AND NOT EXISTS (SELECT 1 FROM quiz_answers WHERE family = ? AND session = ? AND first), ?, ?",
            answer.family, answer.topic, answer.kind, answer.attempt, answer.session, answer.mode, answer.typed,
            answer.credit, answer.guess, answer.certainty, json.dumps(answer.tags), answer.first,
            answer.family, answer.session, to_text(answer.when), answer.seconds,
        )  # fmt: skip

    def answers(self, session: str = "") -> list[Answered]:
        """All answers, or those of one sitting, oldest first."""
        if session:
            return self.file.read(_to_answer, f"{ANSWERS} WHERE session = ? ORDER BY id", session)
        return self.file.read(_to_answer, f"{ANSWERS} ORDER BY id")

    def tried(self) -> dict[str, int]:
        """How often each family was answered at a first try."""
        sql = "SELECT family, COUNT(*) FROM quiz_answers WHERE first GROUP BY family"
        return dict(self.file.read(lambda row: (str(row[0]), int(row[1])), sql))

    def asked(self) -> dict[str, int]:
        """The number of the last variant of each family that was planned or answered: a fresh one comes after it.

        A plan takes two variants: if the first is missed, the second comes at the end of the sitting.
        """
        import json

        found = dict(self.file.read(lambda row: (str(row[0]), int(row[1])),
                                    "SELECT family, MAX(attempt) FROM quiz_answers GROUP BY family"))  # fmt: skip
        for plan in self.file.read(lambda row: json.loads(row[0]), "SELECT plan FROM quiz_sessions"):
            for family, attempt in plan:
                found[family] = max(int(attempt) + 1, found.get(family, 0))
        return found

    # ---- open questions

    def keep_text(self, session: str, topic: str, text: str, when: datetime) -> None:
        """Keep an open answer as it stands."""
        self.file.write("INSERT OR REPLACE INTO quiz_texts VALUES (?, ?, ?, ?)", session, topic, text, to_text(when))

    def text(self, session: str) -> str:
        """The open answer of a sitting; "" where there is none yet."""
        sql = "SELECT text FROM quiz_texts WHERE session = ?"
        return next(iter(self.file.read(lambda row: str(row[0]), sql, session)), "")

    def texts(self) -> list[tuple[str, str, str, datetime]]:
        """Open answers as (session, topic, text, when), oldest first."""
        sql = "SELECT session, topic, text, at FROM quiz_texts ORDER BY at"
        return self.file.read(lambda row: (row[0], row[1], row[2], to_time(row[3])), sql)

    def written(self) -> frozenset[str]:
        """The sittings in which an open answer was written: one that was skipped has an empty text."""
        sql = "SELECT session FROM quiz_texts WHERE TRIM(text) <> ''"
        return frozenset(self.file.read(lambda row: str(row[0]), sql))

    def claim(self, claim: Claimed) -> None:
        """Keep what the learner marked in their own answer."""
        self.claim_all([claim])

    def claim_all(self, claims: Sequence[Claimed]) -> None:
        """Keep several such marks, all of them or none."""
        sql = "INSERT INTO quiz_claims (session, topic, point, mark, trap, at) VALUES (?, ?, ?, ?, ?, ?)"
        self.file.write_all([
            (sql, (each.session, each.topic, each.point, each.mark, each.trap, to_text(each.when))) for each in claims
        ])  # fmt: skip

    def claims(self, session: str = "") -> list[Claimed]:
        """All claims, or those of one sitting, oldest first."""
        if session:
            return self.file.read(_to_claim, f"{CLAIMS} WHERE session = ? ORDER BY id", session)
        return self.file.read(_to_claim, f"{CLAIMS} ORDER BY id")


def _to_answer(row: tuple[Any, ...]) -> Answered:
    import json

    family, topic, kind, attempt, session, mode, typed, credit, guess, certainty, tags, first, at, seconds = row
    return Answered(
        family, topic, kind, attempt, session, mode, typed, credit, guess, certainty, tuple(json.loads(tags)),
        bool(first), to_time(at), seconds,
    )  # fmt: skip


def _to_claim(row: tuple[Any, ...]) -> Claimed:
    topic, point, mark, trap, session, at = row
    return Claimed(topic, point, mark, bool(trap), session, to_time(at))


def _to_session(row: tuple[Any, ...]) -> QuizSession:
    import json

    session, mode, topics, started, finished, predicted, after = row
    ended = to_time(finished) if finished else None
    return QuizSession(session, mode, tuple(json.loads(topics)), to_time(started), ended, predicted, after)


def _to_planned(row: tuple[Any, ...]) -> Planned:
    import json

    return Planned(_to_session(row[:7]), tuple((str(family), int(attempt)) for family, attempt in json.loads(row[7])))
