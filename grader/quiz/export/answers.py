"""A learner's answers as they are handed to an instructor: under a random id, without what was typed and without times.

With each goes what was drawn for it, so that variants can be told apart that no two learners share, and the
misconceptions that were on offer among its options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.errors import CourseError, UsageError
from grader.model import Answered
from grader.quiz.bank.bank import Bank
from grader.quiz.bank.variants import variant
from grader.quiz.model import Question

MOST_VALUES = 12  # of one question
LONGEST_VALUE = 24  # characters


def lines(
    bank: Bank, answers: Sequence[Answered], *, learner: str, salt: str, with_answers: bool
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """One object an answer, oldest first; `n` counts them, so that a later export can be told from another learner's.

    Raises CourseError for a topic that cannot be read. A family that the course has no more says nothing of what was
    drawn.
    """
    for n, answer in enumerate(answers, 1):
        found: dict[str, Any] = {
            "learner": learner, "n": n,
            "family": answer.family, "topic": answer.topic, "kind": answer.kind, "variant": answer.attempt,
            "mode": answer.mode, "first": answer.first, "credit": round(answer.credit, 6),
            "guess": round(answer.guess, 6), "certainty": answer.certainty, "tags": list(answer.tags),
            "seconds": round(answer.seconds, 1), **_drawn(bank, answer, salt),
        }  # fmt: skip
        if with_answers:
            found["typed"] = answer.typed
        yield found


def _drawn(bank: Bank, answer: Answered, salt: str) -> dict[str, Any]:
    question = _question(bank, answer, salt)
    if question is None:
        return {"drawn": {}, "offered": []}
    offered = [option.tag for option in question.options if option.tag and not option.right]
    return {"drawn": _values(question.values), "offered": offered if question.kind == "choice" else []}


def _question(bank: Bank, answer: Answered, salt: str) -> Question | None:
    try:
        return variant(bank, bank.family(answer.family), salt, answer.attempt)
    except CourseError:
        raise
    except UsageError:  # it was taken out of the course
        return None


def _values(values: Mapping[str, Any]) -> dict[str, Any]:
    """What was drawn, as far as it is short and may come again with somebody else."""
    kept = {
        name: value
        for name, value in values.items()
        if isinstance(value, (bool, int)) or (isinstance(value, str) and 0 < len(value) <= LONGEST_VALUE)
    }
    return dict(list(kept.items())[:MOST_VALUES])
