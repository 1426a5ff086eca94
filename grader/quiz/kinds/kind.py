"""What every kind of question can do, and what they share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from grader.quiz.model import Family, Mark, Option, Question, Unreadable, Wrong

TYPED_GUESS = 0.02  # what typing something at random earns
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Draft:
    """A family with its texts filled in, from which a kind makes the question. `random` only orders things."""

    family: Family
    data: Mapping[str, Any]
    values: Mapping[str, Any]
    attempt: int
    random: Random

    def question(self, answer: Any, guess: float, **more: Any) -> Question:
        """The question, with what all kinds have in common."""
        family = self.family
        return Question(
            family.id, family.topic, family.kind, self.attempt, str(self.data["text"]).strip(), answer, guess,
            str(self.data["explain"]).strip(), values=self.values, audits=family.audits,
            **{"code": str(self.data.get("code", "")).strip("\n"), "feedback": self.data.get("feedback", {}),
               "prove": str(self.data.get("prove", "")).strip("\n"), **more},
        )  # fmt: skip

    def wrong(self) -> tuple[Wrong, ...]:
        """The wrong answers that have a name: a table of `misconception = answer`."""
        return tuple(Wrong(tag, value) for tag, value in dict(self.data.get("wrong", {})).items())


class Kind(Protocol):
    """One kind of question. `needs` and `may` are the keys of its family, besides those that all families have."""

    name: str
    needs: frozenset[str]
    may: frozenset[str]

    def build(self, draft: Draft) -> Question:
        """The question. Raises KeyError, TypeError, ValueError for data that make none."""

    def how(self, question: Question) -> str:
        """How to answer, in a few words, shown under the question."""

    def right(self, question: Question) -> str:
        """The right answer, as it is shown."""

    def mark(self, question: Question, typed: str) -> Mark:
        """What the answer earns. Raises Unreadable."""

    def problems(self, question: Question) -> list[str]:
        """What makes this question ambiguous or unfair; empty if nothing does."""


def marked(question: Question, credit: float, right: str, tags: Iterable[str] = ()) -> Mark:
    """A mark with what the family says about each misconception."""
    found = tuple(dict.fromkeys(tag for tag in tags if tag))
    return Mark(credit, right, found, tuple(question.feedback[tag] for tag in found if tag in question.feedback))


def lettered(options: Sequence[Option]) -> list[tuple[str, Option]]:
    """The options with the letters by which they are chosen."""
    return list(zip(LETTERS, options, strict=False))


def letters_in(typed: str, count: int, *, one: bool = False) -> list[int]:
    """Indexes of the letters that were typed: `b`, `a c`, `a,c`, `ac`; with `one` a single one. Raises Unreadable."""
    known = LETTERS[:count]
    found = re.findall(r"[a-z]", typed.lower())
    if not found or any(letter not in known for letter in found) or re.search(r"[^\sa-zA-Z,;.>()-]", typed):
        raise Unreadable(_one_of(known) if one else f"type letters from {known[0]} to {known[-1]}")
    if one and len(found) != 1:
        raise Unreadable(_one_of(known))
    if len(set(found)) != len(found):
        raise Unreadable("each letter counts once: you typed one twice")
    return [known.index(letter) for letter in found]


def _one_of(letters: str) -> str:
    return f"type one letter: {', '.join(letters[:-1])} or {letters[-1]}"


def alike(texts: Iterable[str]) -> list[str]:
    """Texts that stand there twice, spaces and capitals apart."""
    plain = [" ".join(text.lower().split()) for text in texts]
    return sorted({text for text in plain if plain.count(text) > 1})


def option_problems(question: Question) -> list[str]:
    """Options that are equal, and wrong ones behind which there is no wrong idea."""
    found = [f'the option "{text}" stands there twice' for text in alike(option.text for option in question.options)]
    untagged = [option.text for option in question.options if not option.right and not option.tag]
    return found + [f'the wrong option "{text}" names no misconception' for text in untagged]
