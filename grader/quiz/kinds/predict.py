"""Questions for what a few lines print. Spaces do not count, and numbers may be within a tolerance."""

from __future__ import annotations

import re

from grader.quiz.kinds.kind import TYPED_GUESS, Draft, WholeKind
from grader.quiz.model import Question, Unreadable

MAX_CHARACTERS = 300
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[+-]?\d+)?")


class Predict(WholeKind):
    """An output: `wrong` maps misconceptions to outputs; `atol` is the tolerance of its numbers."""

    name = "predict"
    required = frozenset({"answer", "code"})
    optional = frozenset({"wrong", "atol"})

    def build(self, draft: Draft) -> Question:
        answer = str(draft.data["answer"])
        if not _normalize(answer):
            raise ValueError("the answer is empty")
        details = {"atol": float(draft.data.get("atol", 0.0))}
        return draft.question(answer, TYPED_GUESS, wrong=draft.wrong_answers(), details=details)

    def instructions(self, question: Question) -> str:
        return "What it prints, as you would see it; spaces do not count."

    def parse(self, question: Question, typed: str) -> str:
        if not _normalize(typed) or len(typed) > MAX_CHARACTERS:
            raise Unreadable("type what the code prints")
        return _normalize(typed)

    def find_problems(self, question: Question) -> list[str]:
        return [
            f'the wrong output "{wrong.tag}" is as good as the right one'
            for wrong in question.wrong
            if self.is_equal(question, _normalize(str(wrong.value)), question.answer)
        ]

    def is_equal(self, question: Question, given: str, target: object) -> bool:
        wanted = _normalize(str(target))
        if given == wanted or (given and given == _strip_brackets(wanted)):
            return True
        mine, theirs = _NUMBER.findall(given), _NUMBER.findall(wanted)
        atol = question.details["atol"]
        if not atol or len(mine) != len(theirs) or _NUMBER.sub("#", given) != _NUMBER.sub("#", wanted):
            return False
        return all(abs(float(one) - float(other)) <= atol for one, other in zip(mine, theirs, strict=True))


def _strip_brackets(text: str) -> str:
    """Return a single list without its brackets, which need not be typed; "" for anything else."""
    return text[1:-1] if re.fullmatch(r"\[[^\[\]]*\]|\([^()]*\)", text) else ""


def _normalize(text: str) -> str:
    """Normalize an output: commas are spaces, 1.0 is 1, .5 is 0.5, `tensor( )` is left out."""
    text = re.sub(r"(\d)\.0*(?!\d)", r"\1", re.sub(r"(?<![\d.])\.(?=\d)", "0.", text.lower()))
    text = re.sub(r" ?([\[\]()]) ?", r"\1", re.sub(r"[\s,]+", " ", text).strip(" '\""))
    return re.sub(r"^tensor\((.*)\)$", r"\1", text)
