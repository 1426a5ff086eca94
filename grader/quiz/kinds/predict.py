"""What a few lines print. Spaces do not count, and numbers may be as close as they were printed."""

from __future__ import annotations

import re

from grader.quiz.kinds.kind import TYPED_GUESS, Draft, marked
from grader.quiz.model import Mark, Question, Unreadable

LONGEST = 300
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[+-]?\d+)?")


class Predict:
    name = "predict"
    needs = frozenset({"answer", "code"})
    may = frozenset({"wrong", "atol"})

    def build(self, draft: Draft) -> Question:
        answer = str(draft.data["answer"])
        if not _plain(answer):
            raise ValueError("the answer is empty")
        return draft.question(
            answer, TYPED_GUESS, wrong=draft.wrong(), details={"atol": float(draft.data.get("atol", 0.0))}
        )

    def how(self, question: Question) -> str:
        return "What it prints, as you would see it; spaces do not count."

    def right(self, question: Question) -> str:
        return str(question.answer)

    def mark(self, question: Question, typed: str) -> Mark:
        if not _plain(typed) or len(typed) > LONGEST:
            raise Unreadable("type what the code prints")
        if self._same(question, typed, question.answer):
            return marked(question, 1.0, question.answer)
        tags = [wrong.tag for wrong in question.wrong if self._same(question, typed, str(wrong.value))]
        return marked(question, 0.0, question.answer, tags[:1])

    def problems(self, question: Question) -> list[str]:
        return [
            f'the wrong output "{wrong.tag}" is as good as the right one'
            for wrong in question.wrong
            if self._same(question, str(wrong.value), question.answer)
        ]

    def _same(self, question: Question, typed: str, target: str) -> bool:
        given, wanted = _plain(typed), _plain(target)
        if given == wanted or (given and given == _bare(wanted)):
            return True
        mine, theirs = _NUMBER.findall(given), _NUMBER.findall(wanted)
        atol = question.details["atol"]
        if not atol or len(mine) != len(theirs) or _NUMBER.sub("#", given) != _NUMBER.sub("#", wanted):
            return False
        return all(abs(float(one) - float(other)) <= atol for one, other in zip(mine, theirs, strict=True))


def _bare(plain: str) -> str:
    """One list without its brackets, which nobody need type; "" for anything else."""
    return plain[1:-1] if re.fullmatch(r"\[[^\[\]]*\]|\([^()]*\)", plain) else ""


def _plain(text: str) -> str:
    """What outputs that read the same have in common: commas and spaces part things, 1.0 is 1, .5 is 0.5."""
    text = re.sub(r"(\d)\.0*(?!\d)", r"\1", re.sub(r"(?<![\d.])\.(?=\d)", "0.", text.lower()))
    text = re.sub(r" ?([\[\]()]) ?", r"\1", re.sub(r"[\s,]+", " ", text).strip(" '\""))
    return re.sub(r"^tensor\((.*)\)$", r"\1", text)
