"""Things to put together in pairs, with credit for each pair."""

from __future__ import annotations

import re

from grader.quiz.kinds.kind import LETTERS, Draft, alike, marked
from grader.quiz.model import Mark, Option, Question, Unreadable, Wrong


class Match:
    """`pairs` is a list of {left, right}; `extra` are right sides that belong to none; `wrong` is a list of
    {left, right, tag}."""

    name = "match"
    needs = frozenset({"pairs"})
    may = frozenset({"extra", "wrong", "code"})

    def build(self, draft: Draft) -> Question:
        pairs = [(str(pair["left"]), str(pair["right"])) for pair in draft.data["pairs"]]
        if not 3 <= len(pairs) <= 7:
            raise ValueError("there must be 3 to 7 pairs")
        rights = list(
            dict.fromkeys([right for _, right in pairs] + [str(each) for each in draft.data.get("extra", [])])
        )
        draft.random.shuffle(pairs)
        draft.random.shuffle(rights)
        lefts = [left for left, _ in pairs]
        wrong = []
        for each in draft.data.get("wrong", []):
            place = (lefts.index(str(each["left"])), rights.index(str(each["right"])))
            wrong.append(Wrong(str(each["tag"]), place))
        return draft.question(
            [rights.index(right) for _, right in pairs], 1 / len(rights), wrong=tuple(wrong),
            options=tuple(map(Option, rights)), details={"lefts": lefts},
        )  # fmt: skip

    def how(self, question: Question) -> str:
        return "A letter for each number, as 1b 2a 3c."

    def right(self, question: Question) -> str:
        return " ".join(f"{left}{LETTERS[place]}" for left, place in enumerate(question.answer, 1))

    def mark(self, question: Question, typed: str) -> Mark:
        given = self._read(question, typed)
        hits = [mine == right for mine, right in zip(given, question.answer, strict=True)]
        tags = [wrong.tag for wrong in question.wrong if given[wrong.value[0]] == wrong.value[1]]
        return marked(question, sum(hits) / len(hits), self.right(question), tags)

    def problems(self, question: Question) -> list[str]:
        texts = [*alike(option.text for option in question.options), *alike(question.details["lefts"])]
        found = [f'"{text}" stands there twice' for text in texts]
        return found + [
            f'"{wrong.tag}" is a right pair'
            for wrong in question.wrong
            if question.answer[wrong.value[0]] == wrong.value[1]
        ]

    def _read(self, question: Question, typed: str) -> list[int]:
        lefts, rights = len(question.answer), LETTERS[: len(question.options)]
        text = typed.strip().lower()
        letters = re.findall(r"[a-z]", text) if re.fullmatch(r"[a-z\s,;]+", text) else []
        pairs = dict(enumerate(letters, 1)) if letters else {int(n): c for n, c in re.findall(r"(\d)\W*([a-z])", text)}
        if sorted(pairs) != list(range(1, lefts + 1)) or any(letter not in rights for letter in pairs.values()):
            raise Unreadable(f"type one letter from {rights[0]} to {rights[-1]} for each of 1 to {lefts}, as 1b 2a 3c")
        return [rights.index(pairs[left]) for left in sorted(pairs)]
