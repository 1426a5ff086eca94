"""Questions for a number, within a tolerance. Each wrong formula that people use has its own number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.quiz.kinds.kind import TYPED_GUESS, Draft, WholeKind
from grader.quiz.model import Question, Unreadable
from grader.quiz.placeholders import format_value

if TYPE_CHECKING:
    from grader.quiz.expressions import Expression

RTOL = 0.01  # for answers that are not whole numbers


class Numeric(WholeKind):
    """A number: `wrong` maps misconceptions to numbers; `rtol` and `atol` are tolerances."""

    name = "numeric"
    required = frozenset({"answer"})
    optional = frozenset({"wrong", "unit", "rtol", "atol"})

    def build(self, draft: Draft) -> Question:
        data = draft.data
        answer = _require_number(data["answer"])
        whole = float(answer).is_integer()
        details = {
            "unit": str(data.get("unit", "")),
            "rtol": float(data.get("rtol", 0.0 if whole else RTOL)),
            "atol": float(data.get("atol", 1e-9)),
        }
        for wrong in draft.wrong_answers():
            _require_number(wrong.value)
        return draft.question(answer, TYPED_GUESS, wrong=draft.wrong_answers(), details=details)

    def instructions(self, question: Question) -> str:
        unit = question.details["unit"]
        return "A number; 3/4, 2**6 and 1e-3 can be read too" + (f". In {unit}." if unit else ".")

    def right_answer(self, question: Question) -> str:
        unit = question.details["unit"]
        return format_value(question.answer) + (f" {unit}" if unit else "")

    def find_problems(self, question: Question) -> list[str]:
        answer = question.answer
        found = [] if math.isfinite(answer) else ["the answer is no finite number"]
        for wrong in question.wrong:
            if self.is_equal(question, wrong.value, answer) or self.is_equal(question, answer, wrong.value):
                found.append(f'the wrong answer "{wrong.tag}" is as good as the right one')
        for index, wrong in enumerate(question.wrong):
            if any(self.is_equal(question, wrong.value, other.value) for other in question.wrong[:index]):
                found.append(f'the wrong answer "{wrong.tag}" cannot be told from another')
        return found

    def parse(self, question: Question, typed: str) -> float:
        from grader.quiz.expressions import NotAnExpression  # here, because a quiz starts without it

        try:
            return self.read(question, typed).evaluate({})
        except NotAnExpression as error:
            raise Unreadable(f"this is no number: {error}") from None

    def read(self, question: Question, typed: str) -> Expression:
        from grader.quiz.expressions import read_number

        unit = question.details["unit"]
        typed = typed.strip()
        if unit and typed.lower().endswith(unit.lower()):
            typed = typed[: -len(unit)]
        return read_number(typed)

    def is_equal(self, question: Question, given: float, target: float) -> bool:
        return bool(abs(given - target) <= question.details["atol"] + question.details["rtol"] * abs(target))


def _require_number(value: object) -> float | int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is no number")
    return value
