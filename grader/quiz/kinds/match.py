"""Questions for pairs, with credit for each pair."""

from __future__ import annotations

import re

from grader.quiz.kinds.kind import LETTERS, Draft, PartsKind, find_duplicates, tags_of_parts
from grader.quiz.model import Option, Question, Unreadable, Wrong


class Match(PartsKind):
    """Pairs: a list of {left, right}; `extra` are further right sides, `wrong` is a list of {left, right, tag}."""

    name = "match"
    required = frozenset({"pairs"})
    optional = frozenset({"extra", "wrong", "code"})

    def build(self, draft: Draft) -> Question:
        pairs = [(str(pair["left"]), str(pair["right"])) for pair in draft.data["pairs"]]
        if not 3 <= len(pairs) <= 7:
            raise ValueError("there must be 3 to 7 pairs")
        extra = map(str, draft.data.get("extra", []))
        rights = list(dict.fromkeys([*(right for _, right in pairs), *extra]))
        draft.random.shuffle(pairs)
        draft.random.shuffle(rights)
        lefts = [left for left, _ in pairs]
        wrong = tuple(
            Wrong(str(each["tag"]), (lefts.index(str(each["left"])), rights.index(str(each["right"]))))
            for each in draft.data.get("wrong", [])
        )
        answer = [rights.index(right) for _, right in pairs]
        options = tuple(map(Option, rights))
        return draft.question(answer, 1 / len(rights), wrong=wrong, options=options, details={"lefts": lefts})

    def instructions(self, question: Question) -> str:
        return "A letter for each number, as 1b 2a 3c."

    def right_answer(self, question: Question) -> str:
        return " ".join(f"{left}{LETTERS[index]}" for left, index in enumerate(question.answer, 1))

    def find_problems(self, question: Question) -> list[str]:
        sides = ([option.text for option in question.options], question.details["lefts"])
        found = [f'"{text}" stands there twice' for side in sides for text in find_duplicates(side)]
        return found + [f'"{tag}" is a right pair' for tag in tags_of_parts(question, question.answer)]

    def parse(self, question: Question, typed: str) -> list[int]:
        lefts, rights = len(question.answer), LETTERS[: len(question.options)]
        text = typed.strip().lower()
        letters = re.findall(r"[a-z]", text) if re.fullmatch(r"[a-z\s,;]+", text) else []
        pairs = dict(enumerate(letters, 1)) if letters else {int(n): c for n, c in re.findall(r"(\d)\W*([a-z])", text)}
        if sorted(pairs) != list(range(1, lefts + 1)) or any(letter not in rights for letter in pairs.values()):
            raise Unreadable(f"type one letter from {rights[0]} to {rights[-1]} for each of 1 to {lefts}, as 1b 2a 3c")
        return [rights.index(pairs[left]) for left in sorted(pairs)]
