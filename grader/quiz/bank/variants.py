"""Make questions from a family: other numbers for each attempt, the same ones for the same attempt."""

from __future__ import annotations

from random import Random

from grader.errors import CourseError
from grader.quiz.bank.bank import AUDIT, Bank
from grader.quiz.kinds import KINDS, Draft
from grader.quiz.model import Family, Question
from grader.quiz.placeholders import fill_all


def make_variant(bank: Bank, family: Family, salt: str, attempt: int) -> Question:
    """Make the question of a family that a learner is asked the `attempt`-th time.

    Args:
        salt: The learner's own; another salt gives other numbers.
        attempt: Counted from 1.

    Raises:
        CourseError: The family or its generator is wrong.
    """
    seed = f"{family.id}\0{salt}\0{attempt}"  # Random hashes it with SHA-512: the same on every machine
    kind = KINDS[family.kind]
    try:
        values = dict(bank.generator(family)(Random(seed))) if family.generator else {}
        drawn = {key: value for key, value in values.items() if key in kind.required | kind.optional or key == "code"}
        data = {**fill_all(family.fields, values), **drawn}
        return kind.build(Draft(family, data, values, attempt, Random(f"{seed}\0order")))
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        what = f"no question can be made of {family.id}: {type(error).__name__}: {error}"
        raise CourseError(what, where=str(bank.paths[family.topic]), next_step=AUDIT) from error
