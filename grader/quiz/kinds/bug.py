"""Questions for the number of the wrong line in a piece of code."""

from __future__ import annotations

import re

from grader.quiz.kinds.kind import Draft, Kind, make_mark
from grader.quiz.model import Mark, Question, Unreadable


class Bug(Kind):
    """A wrong line: `answer` is its number, from 1, `fix` what it should be; `wrong` maps misconceptions to lines."""

    name = "bug"
    required = frozenset({"answer", "code", "fix"})
    optional = frozenset({"wrong"})

    def build(self, draft: Draft) -> Question:
        lines = str(draft.data["code"]).strip("\n").split("\n")
        answer = int(draft.data["answer"])
        if not 1 <= answer <= len(lines) or not lines[answer - 1].strip():
            raise ValueError(f"there is no line {answer}")
        guess = 1 / sum(bool(line.strip()) for line in lines)
        details = {"lines": len(lines), "fix": str(draft.data["fix"]).strip()}
        return draft.question(answer, guess, wrong=draft.wrong_answers(), details=details)

    def instructions(self, question: Question) -> str:
        return "The number of the line that is wrong."

    def right_answer(self, question: Question) -> str:
        return f"line {question.answer}; it should be: {question.details['fix']}"

    def mark(self, question: Question, typed: str) -> Mark:
        found = re.fullmatch(r"(?:line\s*)?(\d{1,3})", typed.strip(), re.I)
        if found is None or not 1 <= int(found[1]) <= question.details["lines"]:
            raise Unreadable(f"type a line's number, from 1 to {question.details['lines']}")
        line = int(found[1])
        credit = float(line == question.answer)
        return make_mark(question, credit, self.right_answer(question), () if credit else _tags_of(question, line))

    def find_problems(self, question: Question) -> list[str]:
        lines = question.code.split("\n")
        found = []
        if lines[question.answer - 1].strip() == question.details["fix"]:
            found.append("the fix is the wrong line itself")
        return found + [f'"{tag}" blames the line that is wrong' for tag in _tags_of(question, question.answer)]


def _tags_of(question: Question, line: int) -> list[str]:
    return [wrong.tag for wrong in question.wrong if wrong.value == line]
