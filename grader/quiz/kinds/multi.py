"""Questions for all options that apply. Each option is marked by itself."""

from __future__ import annotations

from grader.quiz.kinds.kind import LETTERS, Draft, Kind, make_mark, parse_letters
from grader.quiz.model import Mark, Option, Question, Unreadable

NONE = ("none", "-", "0")


class Multi(Kind):
    """All that apply: `options` is a list of {text, right, tag}; `tag` is shown by a wrong decision on this option.

    Who leaves out a right option may just not know. So its tag is shown only by an answer that takes something, and
    leaves out every right option with this tag. A tag among `whole` is shown only by an answer that it explains: wrong
    on all options with this tag, on no other.
    """

    name = "multi"
    required = frozenset({"options"})
    optional = frozenset({"code", "whole"})

    def build(self, draft: Draft) -> Question:
        options = [
            Option(str(each["text"]), bool(each["right"]), str(each.get("tag", ""))) for each in draft.data["options"]
        ]
        if not 3 <= len(options) <= 8:
            raise ValueError("there must be 3 to 8 options")
        draft.random.shuffle(options)
        answer = [index for index, option in enumerate(options) if option.right]
        details = {"whole": list(draft.data.get("whole", ()))}
        return draft.question(answer, 0.5, options=tuple(options), details=details)

    def instructions(self, question: Question) -> str:
        return "The letters of all that apply, as a c; or none."

    def right_answer(self, question: Question) -> str:
        return " ".join(LETTERS[index] for index in question.answer) or NONE[0]

    def mark(self, question: Question, typed: str) -> Mark:
        if not typed.strip():
            raise Unreadable("type letters, or none")
        taken = [] if typed.strip().lower() in NONE else parse_letters(typed, len(question.options))
        missed = [option for index, option in enumerate(question.options) if (index in taken) != option.right]
        credit = 1 - len(missed) / len(question.options)
        tags = [option.tag for option in missed if self._shows(question, option.tag, missed, taken)]
        return make_mark(question, credit, self.right_answer(question), tags)

    def _shows(self, question: Question, tag: str, missed: list[Option], taken: list[int]) -> bool:
        """Return True if these wrong decisions show the misconception."""
        tagged = [option for option in question.options if option.tag == tag]
        if tag in question.details["whole"]:
            return bool(taken) and missed == tagged
        if any(option in missed and not option.right for option in tagged):
            return True
        return bool(taken) and all(option in missed for option in tagged if option.right)
