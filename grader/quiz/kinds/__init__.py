"""The kinds of questions, one a module: how to make, answer and mark them."""

from __future__ import annotations

from grader.quiz.kinds.bug import Bug
from grader.quiz.kinds.choice import Choice
from grader.quiz.kinds.formula import Formula
from grader.quiz.kinds.kind import Draft as Draft
from grader.quiz.kinds.kind import Kind as Kind
from grader.quiz.kinds.match import Match
from grader.quiz.kinds.multi import Multi
from grader.quiz.kinds.numeric import Numeric
from grader.quiz.kinds.order import Order
from grader.quiz.kinds.predict import Predict
from grader.quiz.kinds.shape import Shape

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (Numeric(), Shape(), Predict(), Bug(), Order(), Choice(), Multi(), Formula(), Match())
}
