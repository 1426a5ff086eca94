"""Questions for a formula, right if it has the right value at points drawn at random."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grader.quiz.expressions import Expression, NotAnExpression
from grader.quiz.kinds.kind import TYPED_GUESS, Draft, WholeKind
from grader.quiz.model import Question, Unreadable

POINTS = 5
RTOL = 1e-9


class Formula(WholeKind):
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

    def parse(self, question: Question, typed: str) -> Expression:
        try:
            return self.read(question, typed)
        except NotAnExpression as error:
            raise Unreadable(f"this cannot be read: {error}") from None

    def read(self, question: Question, typed: str) -> Expression:
        return Expression(typed, question.details["symbols"])

    def find_problems(self, question: Question) -> list[str]:
        found = []
        for index, wrong in enumerate(question.wrong):
            formula = Expression(str(wrong.value), question.details["symbols"])
            if self.is_equal(question, formula, question.answer):
                found.append(f'the wrong formula "{wrong.tag}" is equal to the right one')
            if any(self.is_equal(question, formula, other.value) for other in question.wrong[:index]):
                found.append(f'the wrong formula "{wrong.tag}" is equal to another')
        return found

    def is_equal(self, question: Question, given: Expression, target: object) -> bool:
        wanted = Expression(str(target), question.details["symbols"])
        return all(_is_equal_at(given, wanted, point) for point in question.details["points"])


def _is_equal_at(given: Expression, wanted: Expression, point: Mapping[str, float]) -> bool:
    try:
        return math.isclose(given.evaluate(point), wanted.evaluate(point), rel_tol=RTOL, abs_tol=RTOL)
    except NotAnExpression:
        return False
