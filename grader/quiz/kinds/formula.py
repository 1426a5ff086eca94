"""A formula in given symbols, right if it has the right value at points drawn at random."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grader.quiz.expressions import Expression, NotAnExpression
from grader.quiz.kinds.kind import TYPED_GUESS, Draft, marked
from grader.quiz.model import Mark, Question, Unreadable

POINTS = 5
RTOL = 1e-9
Values = Mapping[str, float]


class Formula:
    """`symbols` maps each symbol to the range of its values; `wrong` maps a misconception to its formula."""

    name = "formula"
    needs = frozenset({"answer", "symbols"})
    may = frozenset({"wrong", "code"})

    def build(self, draft: Draft) -> Question:
        symbols = {str(name): (float(low), float(high)) for name, (low, high) in draft.data["symbols"].items()}
        points = [{name: draft.random.uniform(*ends) for name, ends in symbols.items()} for _ in range(POINTS)]
        for text in (draft.data["answer"], *(wrong.value for wrong in draft.wrong())):
            for point in points:
                Expression(str(text), symbols).at(point)
        details = {"symbols": list(symbols), "points": points}
        return draft.question(str(draft.data["answer"]), TYPED_GUESS, wrong=draft.wrong(), details=details)

    def how(self, question: Question) -> str:
        return f"A formula in {', '.join(question.details['symbols'])}; signs as 4*n**2 or 4n^2, sqrt(n), log(n)."

    def right(self, question: Question) -> str:
        return str(question.answer)

    def mark(self, question: Question, typed: str) -> Mark:
        try:
            given = Expression(typed, question.details["symbols"])
        except NotAnExpression as error:
            raise Unreadable(f"this cannot be read: {error}") from None
        if self._equal(question, given, question.answer):
            return marked(question, 1.0, question.answer)
        tags = [wrong.tag for wrong in question.wrong if self._equal(question, given, str(wrong.value))]
        return marked(question, 0.0, question.answer, tags[:1])

    def problems(self, question: Question) -> list[str]:
        found = []
        for place, wrong in enumerate(question.wrong):
            formula = Expression(str(wrong.value), question.details["symbols"])
            if self._equal(question, formula, question.answer):
                found.append(f'the wrong formula "{wrong.tag}" is equal to the right one')
            if any(self._equal(question, formula, str(other.value)) for other in question.wrong[:place]):
                found.append(f'the wrong formula "{wrong.tag}" is equal to another')
        return found

    def _equal(self, question: Question, given: Expression, target: str) -> bool:
        wanted = Expression(target, question.details["symbols"])
        return all(_same(given, wanted, point) for point in question.details["points"])


def _same(given: Expression, wanted: Expression, point: Values) -> bool:
    try:
        return math.isclose(given.at(point), wanted.at(point), rel_tol=RTOL, abs_tol=RTOL)
    except NotAnExpression:
        return False
