"""Steps to put in order. Credit is the share of steps in the longest run that is in the right order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from grader.quiz.kinds.kind import LETTERS, Draft, alike, letters_in, marked
from grader.quiz.model import Mark, Option, Question, Unreadable

# The share that a random order earns on average, by the number of steps; counted over all orders (see the tests).
RANDOM_SHARE = {3: 0.6667, 4: 0.6042, 5: 0.5583, 6: 0.5234, 7: 0.495, 8: 0.4713}


class Order:
    name = "order"
    needs = frozenset({"steps"})
    may = frozenset({"code"})

    def build(self, draft: Draft) -> Question:
        steps = [str(step) for step in draft.data["steps"]]
        if len(steps) not in RANDOM_SHARE:
            raise ValueError("there must be 3 to 8 steps")
        places = list(range(len(steps)))
        while places == sorted(places):  # an order that is shown as it should be would be no question
            draft.random.shuffle(places)
        options = tuple(Option(steps[place]) for place in places)
        answer = [places.index(step) for step in range(len(steps))]
        return draft.question(answer, RANDOM_SHARE[len(steps)], options=options)

    def how(self, question: Question) -> str:
        return "All letters in the right order, as b a d c."

    def right(self, question: Question) -> str:
        return " ".join(LETTERS[place] for place in question.answer)

    def mark(self, question: Question, typed: str) -> Mark:
        given = letters_in(typed, len(question.options))
        if len(given) != len(question.options):
            raise Unreadable(f"{len(question.options)} letters are needed, each once")
        ranks = [question.answer.index(option) for option in given]
        return marked(question, longest_rise(ranks) / len(ranks), self.right(question))

    def problems(self, question: Question) -> list[str]:
        return [f'the step "{text}" stands there twice' for text in alike(option.text for option in question.options)]


def longest_rise(ranks: Sequence[int]) -> int:
    """The length of the longest rising subsequence: what two orders have in common."""
    lengths: list[int] = []
    for place, rank in enumerate(ranks):
        lengths.append(1 + max((lengths[before] for before in range(place) if ranks[before] < rank), default=0))
    return max(lengths)


def random_share(count: int) -> float:
    """What a random order of `count` steps earns on average."""
    shares = [longest_rise(order) / count for order in permutations(range(count))]
    return sum(shares) / len(shares)
