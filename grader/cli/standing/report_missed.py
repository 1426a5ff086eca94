"""Show every question that was missed, whole: as it was asked, your answer, the right one, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from grader.cli.quiz.render import answer_line, header, mark_lines, next_lines, question_lines, wrap_paragraphs
from grader.model import Answered, QuizSession
from grader.quiz.bank.bank import Bank
from grader.quiz.bank.variants import make_variant
from grader.quiz.model import Unreadable
from grader.quiz.session.schedule import missed_answers
from grader.quiz.session.session import mark_answer

RULE = "-" * 20


def missed_lines(bank: Bank, answers: Sequence[Answered], sessions: Sequence[QuizSession], salt: str) -> Iterator[str]:
    """Yield the questions whose latest first try was not wholly right: sure but wrong first, then the latest."""
    wrong = missed_answers(bank, answers, sessions)
    for number, answer in enumerate(wrong, 1):
        yield from [RULE, ""] * (number > 1)
        yield from _missed(bank, answer, salt, f"{number} of {len(wrong)}")
    if not wrong:
        yield "There is nothing that you missed."
        yield ""
    yield from next_lines([("learn review", "asks it again") if wrong else ("learn quiz", "asks more")])


def _missed(bank: Bank, answer: Answered, salt: str, place: str) -> Iterator[str]:
    question = make_variant(bank, bank.family(answer.family), salt, answer.attempt)
    yield header(bank.topic(question.topic).title, place)
    yield ""
    yield from question_lines(question)
    yield ""
    yield from wrap_paragraphs(answer_line(answer))
    with suppress(Unreadable):  # the question is another one since
        yield from mark_lines(bank, question, mark_answer(question, answer.typed), answer, prove=False)
    yield ""
