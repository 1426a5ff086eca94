"""From a family to a question: the same thing asked with other numbers each time, and the same ones again on demand."""

from __future__ import annotations

from random import Random

from grader.errors import CourseError
from grader.quiz.bank.bank import AUDIT, Bank
from grader.quiz.kinds import KINDS, Draft
from grader.quiz.model import Family, Question
from grader.quiz.placeholders import NoSuchValue, fill_all


def variant(bank: Bank, family: Family, salt: str, attempt: int) -> Question:
    """The question that whoever has this salt is asked the `attempt`-th time, counted from 1.

    Raises CourseError where the family or its generator is wrong.
    """
    seed = f"{family.id}\0{salt}\0{attempt}"  # of which Random takes the SHA-512, the same on every machine
    kind = KINDS[family.kind]
    try:
        values = dict(bank.generator(family)(Random(seed))) if family.generator else {}
        drawn = {key: value for key, value in values.items() if key in kind.needs | kind.may or key == "code"}
        data = {**fill_all(family.fields, values), **drawn}
        return kind.build(Draft(family, data, values, attempt, Random(f"{seed}\0order")))
    except (NoSuchValue, KeyError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        what = f"no question can be made of {family.id}: {type(error).__name__}: {error}"
        raise CourseError(what, where=str(bank.paths[family.topic]), next_step=AUDIT) from error
