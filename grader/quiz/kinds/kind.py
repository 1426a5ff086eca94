"""The base of all kinds of questions, and helpers that kinds share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from grader.quiz.model import Family, Mark, Option, Question, Unreadable, Wrong

if TYPE_CHECKING:
    from grader.quiz.expressions import Expression

TYPED_GUESS = 0.02  # the credit that a random typed answer earns on average
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Draft:
    """A family with its placeholders filled, from which a kind makes a question. `random` only shuffles."""

    family: Family
    data: Mapping[str, Any]
    values: Mapping[str, Any]
    attempt: int
    random: Random

    def question(self, answer: Any, guess: float, **more: Any) -> Question:
        """Make the question; `more` are the fields of its kind."""
        family = self.family
        return Question(
            family=family.id,
            topic=family.topic,
            kind=family.kind,
            attempt=self.attempt,
            text=str(self.data["text"]).strip(),
            answer=answer,
            guess=guess,
            explain=str(self.data["explain"]).strip(),
            code=str(self.data.get("code", "")).strip("\n"),
            feedback=self.data.get("feedback", {}),
            values=self.values,
            prove=str(self.data.get("prove", "")).strip("\n"),
            **more,
        )

    def wrong_answers(self) -> tuple[Wrong, ...]:
        """Return the wrong answers with a misconception, from a table of `misconception = answer`."""
        return tuple(Wrong(tag, value) for tag, value in dict(self.data.get("wrong", {})).items())


class Kind(ABC):
    """One kind of question. `required` and `optional` are keys of its families, besides those of all families."""

    name: ClassVar[str]
    required: ClassVar[frozenset[str]]
    optional: ClassVar[frozenset[str]] = frozenset({"code"})

    @abstractmethod
    def build(self, draft: Draft) -> Question:
        """Make the question. Raises KeyError, TypeError, ValueError for wrong data."""

    @abstractmethod
    def instructions(self, question: Question) -> str:
        """Return how to answer, in a few words."""

    def right_answer(self, question: Question) -> str:
        """Return the right answer as it is shown."""
        return str(question.answer)

    @abstractmethod
    def mark(self, question: Question, typed: str) -> Mark:
        """Mark an answer. Raises Unreadable."""

    def read(self, question: Question, typed: str) -> Expression | None:
        """Return the expression that is read in what was typed; None if none is asked for. Raises NotAnExpression."""
        return None

    def find_problems(self, question: Question) -> list[str]:
        """Return what makes the question ambiguous or unfair: two equal options, wrong ones without a misconception."""
        twice = find_duplicates(option.text for option in question.options)
        untagged = [option.text for option in question.options if not option.right and not option.tag]
        return [f'the option "{text}" stands there twice' for text in twice] + [
            f'the wrong option "{text}" names no misconception' for text in untagged
        ]


class WholeKind(Kind):
    """A kind that is marked all or nothing."""

    def mark(self, question: Question, typed: str) -> Mark:
        given, right = self.parse(question, typed), self.right_answer(question)
        if self.is_equal(question, given, question.answer):
            return make_mark(question, 1.0, right)
        tags = [wrong.tag for wrong in question.wrong if self.is_equal(question, given, wrong.value)]
        return make_mark(question, 0.0, right, tags[:1])

    @abstractmethod
    def parse(self, question: Question, typed: str) -> Any:
        """Parse what was typed. Raises Unreadable."""

    @abstractmethod
    def is_equal(self, question: Question, given: Any, target: Any) -> bool:
        """Return True if what was parsed is this right or wrong answer."""


class PartsKind(Kind):
    """A kind with credit for each part of its answer; wrong answers are (index of the part, answer)."""

    def mark(self, question: Question, typed: str) -> Mark:
        given = self.parse(question, typed)
        hits = [mine == answer for mine, answer in zip(given, question.answer, strict=True)]
        return make_mark(question, sum(hits) / len(hits), self.right_answer(question), tags_of_parts(question, given))

    @abstractmethod
    def parse(self, question: Question, typed: str) -> Sequence[Any]:
        """Parse what was typed into an answer for each part. Raises Unreadable."""


def make_mark(question: Question, credit: float, right: str, tags: Iterable[str] = ()) -> Mark:
    """Make a mark, with the family's feedback on each misconception."""
    found = tuple(dict.fromkeys(tag for tag in tags if tag))
    return Mark(credit, right, found, tuple(question.feedback[tag] for tag in found if tag in question.feedback))


def tags_of_parts(question: Question, given: Sequence[Any]) -> list[str]:
    """Return the misconceptions whose wrong answers are among the given parts."""
    return [wrong.tag for wrong in question.wrong if given[wrong.value[0]] == wrong.value[1]]


def letter_options(options: Sequence[Option]) -> list[tuple[str, Option]]:
    """Pair each option with its letter."""
    return list(zip(LETTERS, options, strict=False))


def parse_letters(typed: str, count: int, *, one: bool = False) -> list[int]:
    """Parse letters typed as `b`, `a c`, `a,c` or `ac` into indexes; with `one` exactly one. Raises Unreadable."""
    known = LETTERS[:count]
    found = re.findall(r"[a-z]", typed.lower())
    wrong = not found or any(letter not in known for letter in found) or re.search(r"[^\sa-zA-Z,;.>()-]", typed)
    if one and (wrong or len(found) != 1):
        raise Unreadable(f"type one letter: {', '.join(known[:-1])} or {known[-1]}")
    if wrong:
        raise Unreadable(f"type letters from {known[0]} to {known[-1]}")
    if len(set(found)) != len(found):
        raise Unreadable("each letter counts once: you typed one twice")
    return [known.index(letter) for letter in found]


def find_duplicates(texts: Iterable[str]) -> list[str]:
    """Return the texts that are there twice, ignoring case and spaces."""
    plain = [" ".join(text.lower().split()) for text in texts]
    return sorted({text for text in plain if plain.count(text) > 1})
