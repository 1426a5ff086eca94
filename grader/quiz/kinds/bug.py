"""A wrong line in a piece of code, to be found by its number."""

from __future__ import annotations

import re

from grader.quiz.kinds.kind import Draft, marked
from grader.quiz.model import Mark, Question, Unreadable


class Bug:
    """`answer` is the number of the wrong line, from 1; `fix` is what should stand there. `wrong` maps a misconception
    to the line that someone who has it would blame."""

    name = "bug"
    needs = frozenset({"answer", "code", "fix"})
    may = frozenset({"wrong"})

    def build(self, draft: Draft) -> Question:
        lines = str(draft.data["code"]).strip("\n").split("\n")
        answer = int(draft.data["answer"])
        if not 1 <= answer <= len(lines) or not lines[answer - 1].strip():
            raise ValueError(f"there is no line {answer}")
        guess = 1 / sum(bool(line.strip()) for line in lines)
        details = {"lines": len(lines), "fix": str(draft.data["fix"]).strip()}
        return draft.question(answer, guess, wrong=draft.wrong(), details=details)

    def how(self, question: Question) -> str:
        return "The number of the line that is wrong."

    def right(self, question: Question) -> str:
        return f"line {question.answer}; it should be: {question.details['fix']}"

    def mark(self, question: Question, typed: str) -> Mark:
        found = re.fullmatch(r"(?:line\s*)?(\d{1,3})", typed.strip(), re.I)
        if found is None or not 1 <= int(found[1]) <= question.details["lines"]:
            raise Unreadable(f"type a line's number, from 1 to {question.details['lines']}")
        line = int(found[1])
        right = self.right(question)
        if line == question.answer:
            return marked(question, 1.0, right)
        return marked(question, 0.0, right, [wrong.tag for wrong in question.wrong if wrong.value == line])

    def problems(self, question: Question) -> list[str]:
        lines = question.code.split("\n")
        found = []
        if lines[question.answer - 1].strip() == question.details["fix"]:
            found.append("the fix is the wrong line itself")
        return found + [
            f'"{wrong.tag}" blames the line that is wrong' for wrong in question.wrong if wrong.value == question.answer
        ]
