"""A number, with the tolerance that the question can bear. Every wrong formula that people use has its own number."""

from __future__ import annotations

import math

from grader.quiz.kinds.kind import TYPED_GUESS, Draft, marked
from grader.quiz.model import Mark, Question, Unreadable
from grader.quiz.placeholders import shown

RTOL = 0.01  # for answers that are no whole numbers


class Numeric:
    name = "numeric"
    needs = frozenset({"answer"})
    may = frozenset({"wrong", "unit", "rtol", "atol"})

    def build(self, draft: Draft) -> Question:
        data = draft.data
        answer = _number(data["answer"])
        whole = float(answer).is_integer()
        details = {
            "unit": str(data.get("unit", "")),
            "rtol": float(data.get("rtol", 0.0 if whole else RTOL)),
            "atol": float(data.get("atol", 1e-9)),
        }
        for wrong in draft.wrong():
            _number(wrong.value)
        return draft.question(answer, TYPED_GUESS, wrong=draft.wrong(), details=details)

    def how(self, question: Question) -> str:
        unit = question.details["unit"]
        return "A number; 3/4, 2**6 and 1e-3 can be read too" + (f". In {unit}." if unit else ".")

    def right(self, question: Question) -> str:
        unit = question.details["unit"]
        return shown(question.answer) + (f" {unit}" if unit else "")

    def mark(self, question: Question, typed: str) -> Mark:
        value = self._read(question, typed)
        right = self.right(question)
        if _close(question, value, question.answer):
            return marked(question, 1.0, right)
        return marked(question, 0.0, right, [w.tag for w in question.wrong if _close(question, value, w.value)][:1])

    def problems(self, question: Question) -> list[str]:
        found = [] if math.isfinite(question.answer) else ["the answer is no finite number"]
        for wrong in question.wrong:
            if _close(question, wrong.value, question.answer) or _close(question, question.answer, wrong.value):
                found.append(f'the wrong answer "{wrong.tag}" is as good as the right one')
        values = [wrong.value for wrong in question.wrong]
        for place, wrong in enumerate(question.wrong):
            if any(_close(question, wrong.value, other) for other in values[:place]):
                found.append(f'the wrong answer "{wrong.tag}" cannot be told from another')
        return found

    def _read(self, question: Question, typed: str) -> float:
        from grader.quiz.expressions import NotAnExpression, number  # here: a quiz starts without it

        unit = question.details["unit"]
        typed = typed.strip()
        if unit and typed.lower().endswith(unit.lower()):
            typed = typed[: -len(unit)]
        try:
            return number(typed)
        except NotAnExpression as error:
            raise Unreadable(f"this is no number: {error}") from None


def _number(value: object) -> float | int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is no number")
    return value


def _close(question: Question, value: float, target: float) -> bool:
    return bool(abs(value - target) <= question.details["atol"] + question.details["rtol"] * abs(target))
