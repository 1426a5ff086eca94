"""The log of a learner's quizzes: what was asked, answered, predicted and claimed.

Answers and claims are never changed; a session can be planned anew and finished, an open answer can be written on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from grader.model import Answered, Claimed, QuizSession
from grader.model.validate import parse_json, validated
from grader.store.learner_database import LearnerDatabase
from grader.store.rows import format_time, parse_time

SALT = "salt"
ANSWER = "family, topic, kind, attempt, session, mode, typed, credit, guess, certainty, tags, first, at, seconds"
CLAIM = "topic, point, mark, trap, session, at"
SESSION = "id, mode, topics, started, finished, predicted, predicted_after"
OF_SESSION = "WHERE ? IN ('', session) ORDER BY id"


class PlannedSession(NamedTuple):
    """A session with its plan: questions as (family, attempt), in order."""

    session: QuizSession
    plan: tuple[tuple[str, int], ...]


class QuizLog:
    """The quiz tables of a learner's progress file. Every method raises StoreError if the file cannot be used."""

    def __init__(self, database: LearnerDatabase) -> None:
        self.database = database

    def salt(self) -> str:
        """Return the salt that makes this learner's variants different from others', drawing it once."""
        found = self.fact(SALT)
        if not found:
            self.database.write("INSERT OR IGNORE INTO quiz_facts VALUES (?, ?)", SALT, os.urandom(8).hex())
            found = self.fact(SALT)
        return found

    def fact(self, name: str) -> str:
        """Return a fact about the quiz by its name; "" if it was never set."""
        return self._text("SELECT value FROM quiz_facts WHERE name = ?", name)

    def set_fact(self, name: str, value: str) -> None:
        self.database.write("INSERT OR REPLACE INTO quiz_facts VALUES (?, ?)", name, value)

    # ---- sessions

    def begin(self, session: QuizSession, plan: Sequence[tuple[str, int]]) -> None:
        """Log a new session and its plan."""
        sql = "INSERT INTO quiz_sessions VALUES (?, ?, ?, ?, ?, NULL, ?, NULL)"
        lists = (json.dumps(session.topics), json.dumps(plan))
        self.database.write(sql, session.id, session.mode, *lists, format_time(session.started), session.predicted)

    def begin_session(
        self, mode: str, topics: Sequence[str], plan: Sequence[tuple[str, int]], predicted: float | None = None
    ) -> PlannedSession:
        """Log a session that begins now, before its first question is asked."""
        session = QuizSession(os.urandom(8).hex(), mode, tuple(topics), datetime.now(UTC), predicted=predicted)
        self.begin(session, plan)
        return PlannedSession(session, tuple(plan))

    def finish(self, session: str, when: datetime) -> None:
        """Log the end of a session."""
        self.database.write("UPDATE quiz_sessions SET finished = ? WHERE id = ?", format_time(when), session)

    def set_plan(self, session: str, plan: Sequence[tuple[str, int]]) -> None:
        """Replace the plan of a session that began before it could be planned."""
        self.database.write("UPDATE quiz_sessions SET plan = ? WHERE id = ?", json.dumps(plan), session)

    def set_prediction_after(self, session: str, predicted: float) -> None:
        """Log the score that a learner expects after answering, before the marks are shown."""
        self.database.write("UPDATE quiz_sessions SET predicted_after = ? WHERE id = ?", predicted, session)

    def sessions(self) -> list[QuizSession]:
        """Return all sessions, oldest first."""
        return self.database.read(_to_session, f"SELECT {SESSION} FROM quiz_sessions ORDER BY started")

    def session(self, id: str) -> PlannedSession | None:
        """Return a session by its id; None if there is none."""
        sql = f"SELECT {SESSION}, plan FROM quiz_sessions WHERE id = ?"
        return next(iter(self.database.read(_to_planned, sql, id)), None)

    def unfinished(self) -> list[PlannedSession]:
        """Return the sessions that are not finished, the latest first."""
        sql = f"SELECT {SESSION}, plan FROM quiz_sessions WHERE finished IS NULL ORDER BY started DESC"
        return self.database.read(_to_planned, sql)

    # ---- answers

    def add_answer(self, answer: Answered) -> None:
        """Log an answer durably.

        Of two first tries at a family in a session, as from two terminals, only one is logged as first.
        """
        sql = (
            f"INSERT INTO quiz_answers ({ANSWER}) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            "? AND NOT EXISTS (SELECT 1 FROM quiz_answers WHERE family = ? AND session = ? AND first), ?, ?"
        )
        question = (answer.family, answer.topic, answer.kind, answer.attempt, answer.session, answer.mode)
        mark = (answer.typed, answer.credit, answer.guess, answer.certainty, json.dumps(answer.tags), answer.first)
        at = format_time(answer.when)
        self.database.write(sql, *question, *mark, answer.family, answer.session, at, answer.seconds)

    def answers(self, session: str = "") -> list[Answered]:
        """Return all answers, or those of one session, oldest first."""
        return self.database.read(_to_answer, f"SELECT {ANSWER} FROM quiz_answers {OF_SESSION}", session)

    def tried(self) -> dict[str, int]:
        """Return how often each family was answered at a first try."""
        return self._by_family("SELECT family, COUNT(*) FROM quiz_answers WHERE first GROUP BY family")

    def asked(self) -> dict[str, int]:
        """Return the number of each family's last variant that was planned or answered.

        A plan takes two variants: if the first is missed, the second is asked at the end of the session.
        """
        found = self._by_family("SELECT family, MAX(attempt) FROM quiz_answers GROUP BY family")
        for plan in self.database.read(lambda row: _to_plan(row[0]), "SELECT plan FROM quiz_sessions"):
            for family, attempt in plan:
                found[family] = max(attempt + 1, found.get(family, 0))
        return found

    # ---- open questions

    def save_text(self, session: str, topic: str, text: str, when: datetime) -> None:
        """Save an open answer as it is now."""
        sql = "INSERT OR REPLACE INTO quiz_texts VALUES (?, ?, ?, ?)"
        self.database.write(sql, session, topic, text, format_time(when))

    def text(self, session: str) -> str:
        """Return the open answer of a session; "" before it is begun."""
        return self._text("SELECT text FROM quiz_texts WHERE session = ?", session)

    def texts(self) -> list[tuple[str, str, str, datetime]]:
        """Return open answers as (session, topic, text, when), oldest first."""
        sql = "SELECT session, topic, text, at FROM quiz_texts ORDER BY at"
        return self.database.read(lambda row: (str(row[0]), str(row[1]), str(row[2]), parse_time(row[3])), sql)

    def written(self) -> frozenset[str]:
        """Return the sessions with a written open answer; a skipped one has an empty text."""
        sql = "SELECT session FROM quiz_texts WHERE TRIM(text) <> ''"
        return frozenset(self.database.read(lambda row: str(row[0]), sql))

    def add_claims(self, claims: Sequence[Claimed]) -> None:
        """Log what a learner marked in their own answer, all of it or nothing."""
        sql = f"INSERT INTO quiz_claims ({CLAIM}) VALUES (?, ?, ?, ?, ?, ?)"
        rows = [(each.topic, each.point, each.mark, each.trap, each.session, format_time(each.when)) for each in claims]
        self.database.write_all([(sql, row) for row in rows])

    def claims(self, session: str = "") -> list[Claimed]:
        """Return all claims, or those of one session, oldest first."""
        return self.database.read(_to_claim, f"SELECT {CLAIM} FROM quiz_claims {OF_SESSION}", session)

    def _by_family(self, sql: str) -> dict[str, int]:
        return dict(self.database.read(lambda row: (str(row[0]), int(row[1])), sql))

    def _text(self, sql: str, key: str) -> str:
        return next(iter(self.database.read(lambda row: str(row[0]), sql, key)), "")


def _to_answer(row: tuple[Any, ...]) -> Answered:
    tags, first, at, seconds = row[10:]
    answer = validated(Answered(*(*row[:10], _to_texts(tags), bool(first), parse_time(at), seconds)), Answered)
    if not (0 <= answer.credit <= 1 and 0 <= answer.guess < 1):
        raise ValueError("this is no share")
    return answer


def _to_claim(row: tuple[Any, ...]) -> Claimed:
    topic, point, mark, trap, session, at = row
    return validated(Claimed(topic, point, mark, bool(trap), session, parse_time(at)), Claimed)


def _to_session(row: tuple[Any, ...]) -> QuizSession:
    session, mode, topics, started, finished, predicted, after = row
    ended = parse_time(finished) if finished else None
    made = QuizSession(session, mode, _to_texts(topics), parse_time(started), ended, predicted, after)
    return validated(made, QuizSession)


def _to_planned(row: tuple[Any, ...]) -> PlannedSession:
    return PlannedSession(_to_session(row[:7]), _to_plan(row[7]))


def _to_texts(text: str) -> tuple[str, ...]:
    return tuple(validated(parse_json(text), list[str]))


def _to_plan(text: str) -> tuple[tuple[str, int], ...]:
    return tuple((str(family), validated(attempt, int)) for family, attempt in parse_json(text))
