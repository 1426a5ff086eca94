"""Questions with one right option of three. Each wrong option stands for a misconception."""

from __future__ import annotations

from grader.quiz.kinds.kind import LETTERS, Draft, Kind, make_mark, parse_letters
from grader.quiz.model import Mark, Option, Question


class Choice(Kind):
    """One of three: `right` is the right option, `wrong` a list of {tag, text} of which each question draws two."""

    name = "choice"
    required = frozenset({"right", "wrong"})

    def build(self, draft: Draft) -> Question:
        wrong = [Option(str(each["text"]), False, str(each["tag"])) for each in draft.data["wrong"]]
        if len(wrong) < 2:
            raise ValueError("there must be two wrong options at least")
        options = [Option(str(draft.data["right"]), True), *draft.random.sample(wrong, 2)]
        draft.random.shuffle(options)
        answer = next(index for index, option in enumerate(options) if option.right)
        return draft.question(answer, 1 / len(options), options=tuple(options))

    def instructions(self, question: Question) -> str:
        return f"A letter: {', '.join(LETTERS[: len(question.options)])}."

    def right_answer(self, question: Question) -> str:
        return f"{LETTERS[question.answer]}: {question.options[question.answer].text}"

    def mark(self, question: Question, typed: str) -> Mark:
        chosen = question.options[parse_letters(typed, len(question.options), one=True)[0]]
        return make_mark(question, float(chosen.right), self.right_answer(question), [chosen.tag])
