"""Questions for the order of steps. The credit is the share of steps in the longest run in the right order."""

from __future__ import annotations

from collections.abc import Sequence

from grader.quiz.kinds.kind import LETTERS, Draft, Kind, find_duplicates, make_mark, parse_letters
from grader.quiz.model import Mark, Option, Question, Unreadable

# The credit of a random order on average, by the number of steps, counted over all orders (see the tests).
RANDOM_SHARE = {3: 0.6667, 4: 0.6042, 5: 0.5583, 6: 0.5234, 7: 0.495, 8: 0.4713}


class Order(Kind):
    """An order: `steps` are texts in the right order."""

    name = "order"
    required = frozenset({"steps"})

    def build(self, draft: Draft) -> Question:
        steps = [str(step) for step in draft.data["steps"]]
        if len(steps) not in RANDOM_SHARE:
            raise ValueError("there must be 3 to 8 steps")
        shuffled = list(range(len(steps)))
        while shuffled == sorted(shuffled):  # the right order would give the answer away
            draft.random.shuffle(shuffled)
        options = tuple(Option(steps[step]) for step in shuffled)
        answer = [shuffled.index(step) for step in range(len(steps))]
        return draft.question(answer, RANDOM_SHARE[len(steps)], options=options)

    def instructions(self, question: Question) -> str:
        return "All letters in the right order, as b a d c."

    def right_answer(self, question: Question) -> str:
        return " ".join(LETTERS[index] for index in question.answer)

    def mark(self, question: Question, typed: str) -> Mark:
        given = parse_letters(typed, len(question.options))
        if len(given) != len(question.options):
            raise Unreadable(f"{len(question.options)} letters are needed, each once")
        ranks = [question.answer.index(option) for option in given]
        return make_mark(question, longest_rise(ranks) / len(ranks), self.right_answer(question))

    def find_problems(self, question: Question) -> list[str]:
        twice = find_duplicates(option.text for option in question.options)
        return [f'the step "{text}" stands there twice' for text in twice]


def longest_rise(ranks: Sequence[int]) -> int:
    """Return the length of the longest rising subsequence."""
    lengths: list[int] = []
    for index, rank in enumerate(ranks):
        lengths.append(1 + max((lengths[before] for before in range(index) if ranks[before] < rank), default=0))
    return max(lengths)
