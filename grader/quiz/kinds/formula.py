"""Questions for a formula, right if it has the right value at points drawn at random."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grader.quiz.expressions import Expression, NotAnExpression
from grader.quiz.kinds.kind import TYPED_GUESS, Draft, mark_whole
from grader.quiz.model import Mark, Question, Unreadable

POINTS = 5
RTOL = 1e-9
Values = Mapping[str, float]


class Formula:
    """A formula: `symbols` maps each symbol to the range of its values, `wrong` each misconception to its formula."""

    name = "formula"
    required = frozenset({"answer", "symbols"})
    optional = frozenset({"wrong", "code"})

    def build(self, draft: Draft) -> Question:
        symbols = {str(name): (float(low), float(high)) for name, (low, high) in draft.data["symbols"].items()}
        points = [{name: draft.random.uniform(*ends) for name, ends in symbols.items()} for _ in range(POINTS)]
        for text in (draft.data["answer"], *(wrong.value for wrong in draft.wrong_answers())):
            for point in points:
                Expression(str(text), symbols).evaluate(point)
        details = {"symbols": list(symbols), "points": points}
        return draft.question(str(draft.data["answer"]), TYPED_GUESS, wrong=draft.wrong_answers(), details=details)

    def instructions(self, question: Question) -> str:
        return f"A formula in {', '.join(question.details['symbols'])}; signs as 4*n**2 or 4n^2, sqrt(n), log(n)."

    def right_answer(self, question: Question) -> str:
        return str(question.answer)

    def mark(self, question: Question, typed: str) -> Mark:
        try:
            given = Expression(typed, question.details["symbols"])
        except NotAnExpression as error:
            raise Unreadable(f"this cannot be read: {error}") from None
        return mark_whole(question, question.answer, lambda target: self._is_equal(question, given, str(target)))

    def find_problems(self, question: Question) -> list[str]:
        found = []
        for index, wrong in enumerate(question.wrong):
            formula = Expression(str(wrong.value), question.details["symbols"])
            if self._is_equal(question, formula, question.answer):
                found.append(f'the wrong formula "{wrong.tag}" is equal to the right one')
            if any(self._is_equal(question, formula, str(other.value)) for other in question.wrong[:index]):
                found.append(f'the wrong formula "{wrong.tag}" is equal to another')
        return found

    def _is_equal(self, question: Question, given: Expression, target: str) -> bool:
        wanted = Expression(target, question.details["symbols"])
        return all(_is_equal_at(given, wanted, point) for point in question.details["points"])


def _is_equal_at(given: Expression, wanted: Expression, point: Values) -> bool:
    try:
        return math.isclose(given.evaluate(point), wanted.evaluate(point), rel_tol=RTOL, abs_tol=RTOL)
    except NotAnExpression:
        return False
