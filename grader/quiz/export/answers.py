"""Export a learner's answers for an instructor: under a random id, without times, and without what was typed.

Each answer comes with the values drawn for it, by which variants can be told apart, and the misconceptions that its
options offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from grader.model import Answered
from grader.quiz.bank.bank import Bank
from grader.quiz.bank.variants import make_variant

MAX_VALUES = 12  # of one question
MAX_VALUE_CHARACTERS = 24


def answer_records(
    bank: Bank, answers: Sequence[Answered], *, learner: str, salt: str, with_answers: bool
) -> Iterator[dict[str, Any]]:
    """Yield an object for each answer, oldest first, numbered by `n`.

    Args:
        bank: The questions; an answer to a family that it does not have any more comes without drawn values.
        answers: The log of a learner.
        learner: The random id.
        salt: The salt of the learner's variants.
        with_answers: Whether to include what was typed.

    Raises:
        CourseError: A topic cannot be read.
    """
    for n, answer in enumerate(answers, 1):
        yield {
            "learner": learner,
            "n": n,
            "family": answer.family,
            "topic": answer.topic,
            "kind": answer.kind,
            "variant": answer.attempt,
            "mode": answer.mode,
            "first": answer.first,
            "credit": round(answer.credit, 6),
            "guess": round(answer.guess, 6),
            "certainty": answer.certainty,
            "tags": list(answer.tags),
            "seconds": round(answer.seconds, 1),
            **_drawn(bank, answer, salt),
            **({"typed": answer.typed} if with_answers else {}),
        }


def _drawn(bank: Bank, answer: Answered, salt: str) -> dict[str, Any]:
    family = bank.find_family(answer.family)
    if family is None:  # it was removed from the course
        return {"drawn": {}, "offered": []}
    question = make_variant(bank, family, salt, answer.attempt)
    offered = [option.tag for option in question.options if option.tag and not option.right]
    return {"drawn": _short_values(question.values), "offered": offered if question.kind == "choice" else []}


def _short_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the drawn values that are short, and may be drawn for another learner too."""
    kept = (
        (name, value)
        for name, value in values.items()
        if isinstance(value, int) or (isinstance(value, str) and 0 < len(value) <= MAX_VALUE_CHARACTERS)
    )
    return dict(islice(kept, MAX_VALUES))
