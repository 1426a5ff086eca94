"""One of three. Each wrong option is a misconception with its own feedback."""

from __future__ import annotations

from grader.quiz.kinds.kind import LETTERS, Draft, letters_in, marked, option_problems
from grader.quiz.model import Mark, Option, Question


class Choice:
    """`right` is the right option; `wrong` is a list of {tag, text}. A longer list gives each question two of them."""

    name = "choice"
    needs = frozenset({"right", "wrong"})
    may = frozenset({"code"})

    def build(self, draft: Draft) -> Question:
        wrong = [Option(str(each["text"]), False, str(each["tag"])) for each in draft.data["wrong"]]
        if len(wrong) < 2:
            raise ValueError("there must be two wrong options at least")
        options = [Option(str(draft.data["right"]), True), *draft.random.sample(wrong, 2)]
        draft.random.shuffle(options)
        answer = next(place for place, option in enumerate(options) if option.right)
        return draft.question(answer, 1 / len(options), options=tuple(options))

    def how(self, question: Question) -> str:
        return f"A letter: {', '.join(LETTERS[: len(question.options)])}."

    def right(self, question: Question) -> str:
        return f"{LETTERS[question.answer]}: {question.options[question.answer].text}"

    def mark(self, question: Question, typed: str) -> Mark:
        chosen = question.options[letters_in(typed, len(question.options), one=True)[0]]
        return marked(question, float(chosen.right), self.right(question), [chosen.tag])

    def problems(self, question: Question) -> list[str]:
        return option_problems(question)
