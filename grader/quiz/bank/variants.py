"""Make questions from a family: other numbers for each attempt, the same ones for the same attempt."""

from __future__ import annotations

from collections.abc import Iterator
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
    return next(make_variants(bank, family, salt, range(attempt, attempt + 1)))


def make_variants(bank: Bank, family: Family, salt: str, attempts: range) -> Iterator[Question]:
    """Make the questions of these attempts that differ; one with options is another each time. Raises CourseError."""
    drawn: set[str] = set()
    kind = KINDS[family.kind]
    fields = kind.required | kind.optional | {"code"}
    try:
        generate = bank.generator(family) if family.generator else None
        for attempt in attempts:
            seed = f"{family.id}\0{salt}\0{attempt}"  # Random hashes it with SHA-512: the same on every machine
            values = dict(generate(Random(seed))) if generate else {}
            if (key := repr(values)) in drawn:
                continue
            own = {name: value for name, value in values.items() if name in fields}
            data = {**fill_all(family.fields, values), **own}
            question = kind.build(Draft(family, data, values, attempt, Random(f"{seed}\0order")))
            if not question.options:
                drawn.add(key)
            yield question
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        what = f"no question can be made of {family.id}: {type(error).__name__}: {error}"
        raise CourseError(what, where=str(bank.paths[family.topic]), next_step=AUDIT) from error
