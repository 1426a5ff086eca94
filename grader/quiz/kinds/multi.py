"""All that apply. Each option is judged by itself: taken and right, or left and wrong."""

from __future__ import annotations

from grader.quiz.kinds.kind import LETTERS, Draft, letters_in, marked, option_problems
from grader.quiz.model import Mark, Option, Question, Unreadable

NONE = ("none", "-", "0")


class Multi:
    """`options` is a list of {text, right, tag}: `tag` is the misconception of whoever judges this one wrongly."""

    name = "multi"
    needs = frozenset({"options"})
    may = frozenset({"code"})

    def build(self, draft: Draft) -> Question:
        options = [
            Option(str(each["text"]), bool(each["right"]), str(each.get("tag", ""))) for each in draft.data["options"]
        ]
        if not 3 <= len(options) <= 8:
            raise ValueError("there must be 3 to 8 options")
        draft.random.shuffle(options)
        answer = [place for place, option in enumerate(options) if option.right]
        return draft.question(answer, 0.5, options=tuple(options))

    def how(self, question: Question) -> str:
        return "The letters of all that apply, as a c; or none."

    def right(self, question: Question) -> str:
        return " ".join(LETTERS[place] for place in question.answer) or NONE[0]

    def mark(self, question: Question, typed: str) -> Mark:
        if not typed.strip():
            raise Unreadable("type letters, or none")
        taken = [] if typed.strip().lower() in NONE else letters_in(typed, len(question.options))
        missed = [option for place, option in enumerate(question.options) if (place in taken) != option.right]
        credit = 1 - len(missed) / len(question.options)
        return marked(question, credit, self.right(question), [option.tag for option in missed])

    def problems(self, question: Question) -> list[str]:
        return option_problems(question)
