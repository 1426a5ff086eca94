"""The questions of a site, and the log of the learner's answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from starlette.exceptions import HTTPException

from grader.quiz.bank.bank import Bank
from grader.store.quiz_log import QuizLog
from grader.web.site import Site


class Quiz(NamedTuple):
    bank: Bank
    log: QuizLog


@contextmanager
def open_quiz(site: Site) -> Iterator[Quiz]:
    """Open the questions and the log. Raises HTTPException for a course without questions."""
    with site.open_store() as store:
        bank = Bank(site.course.root / "lessons")
        if not bank.names:
            raise HTTPException(404, "This course has no questions.")
        yield Quiz(bank, QuizLog(store.database))
