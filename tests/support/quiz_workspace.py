"""A learner's folder of a small course with questions, and what stands in its log."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

from grader.model import Answered
from grader.quiz.bank.bank import Bank
from grader.store import Store
from grader.store.quiz_log import QuizLog
from support.course_maker import make_course
from support.learn_command import learn, start_workspace
from support.quiz_every_kind import write_every_kind
from support.quiz_maker import write_bank


class Workspace:
    """`learn` in a fresh folder, with a bank of ten topics, or with one of every kind of question."""

    def __init__(self, root: Path, *, every_kind: bool = False) -> None:
        self.course = make_course(root / "course")
        lessons = self.course / "lessons"
        self.bank: Bank = write_every_kind(lessons) if every_kind else write_bank(lessons)
        self.folder = root / "work"
        start_workspace(self.folder, self.course)
        self.progress = self.folder / ".selfattend" / "progress.db"

    def learn(self, *arguments: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return learn(*arguments, cwd=self.folder, course=self.course, stdin=stdin, **more)

    def events(self, *arguments: str, stdin: str = "", code: int | None = None) -> list[dict[str, Any]]:
        """What `learn ARGUMENTS --json` tells."""
        done = self.learn(*arguments, "--json", stdin=stdin)
        assert done.stderr == "", done.stderr
        assert code is None or done.returncode == code, done.stdout
        return [json.loads(line) for line in done.stdout.splitlines()]

    def log(self) -> list[Answered]:
        with Store.open(self.progress) as store:
            return QuizLog(store.database).answers()

    def answer(self, question: dict[str, Any]) -> str:
        """A right answer to a question of the ten topics, as --json told it."""
        if question["kind"] == "choice":
            return next(letter for letter, text in question["options"].items() if text == "this one")
        return question["text"].removeprefix("Type ").removesuffix(".")

    def days_pass(self, days: int) -> None:
        """Everything in the log happened so many days earlier."""
        with closing(sqlite3.connect(self.progress)) as connection, connection:
            for table, column in (("quiz_answers", "at"), ("quiz_sessions", "started"), ("quiz_sessions", "finished")):
                connection.execute(
                    f"UPDATE {table} SET {column} = strftime('%Y-%m-%dT%H:%M:%f', {column}, ?) || '+00:00' "
                    f"WHERE {column} IS NOT NULL",
                    (f"-{days} days",),
                )


def kinds(events: list[dict[str, Any]]) -> list[str]:
    """The names of events, in order."""
    return [event["event"] for event in events]


def of(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The events of one name."""
    return [event for event in events if event["event"] == name]
