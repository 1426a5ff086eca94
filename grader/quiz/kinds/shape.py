"""Questions for the shapes in a few lines of code, with credit for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from grader.quiz.kinds.kind import TYPED_GUESS, Draft, PartsKind, tags_of_parts
from grader.quiz.model import Question, Unreadable, Wrong
from grader.quiz.placeholders import format_value

Sizes = tuple[int, ...]


class Shape(PartsKind):
    """Shapes: `blanks` name them, `answer` has each, `wrong` is a list of {tag, blank, shape}, `blank` from 1."""

    name = "shape"
    required = frozenset({"answer", "blanks"})
    optional = frozenset({"wrong", "code"})

    def build(self, draft: Draft) -> Question:
        answer = [_require_shape(shape) for shape in draft.data["answer"]]
        blanks = [str(blank) for blank in draft.data["blanks"]]
        if not answer or len(blanks) != len(answer):
            raise ValueError("there must be as many blanks as answers, and at least one")
        wrong = []
        for each in draft.data.get("wrong", []):
            if not 1 <= int(each["blank"]) <= len(blanks):
                raise ValueError(f"there is no blank {each['blank']}")
            wrong.append(Wrong(each["tag"], (int(each["blank"]) - 1, _require_shape(each["shape"]))))
        return draft.question(answer, TYPED_GUESS, wrong=tuple(wrong), details={"blanks": blanks})

    def instructions(self, question: Question) -> str:
        if len(question.answer) == 1:
            return "A shape, as 2, 3, 5 or (2, 3, 5)."
        return f"{len(question.answer)} shapes with ; between them, as (2, 3); (3, 5). A ? skips one."

    def right_answer(self, question: Question) -> str:
        return "; ".join(map(format_value, question.answer))

    def find_problems(self, question: Question) -> list[str]:
        return [f'the wrong shape "{tag}" is the right one' for tag in tags_of_parts(question, question.answer)]

    def parse(self, question: Question, typed: str) -> list[Sizes | None]:
        count = len(question.answer)
        text = typed.strip().strip(";")
        parts = re.split(r"[;\n]|(?<=[)\]])\s*,?\s*(?=[(\[])", text)
        shapes = [_parse_shape(part) for part in parts]
        if len(parts) != count:
            raise Unreadable(
                f"{count} shape{'s' * (count > 1)} needed, and {len(parts)} can be read: use ; between them"
            )
        return shapes


def _require_shape(shape: Sequence[Any]) -> Sizes:
    if isinstance(shape, str) or any(isinstance(size, bool) or not isinstance(size, int) for size in shape):
        raise TypeError(f"{shape!r} is no shape")
    return tuple(shape)


def _parse_shape(part: str) -> Sizes | None:
    text = part.strip()
    if text in ("?", "-"):
        return None
    text = re.sub(r"^(torch\.)?size\b", "", text, flags=re.I)
    inside = text.strip("()[] \t")
    if inside == "" and text != "":
        return ()
    if not re.fullmatch(r"\d{1,9}(\s*[,x×\s]\s*\d{1,9})*\s*,?", inside):
        raise Unreadable(f'"{part.strip()[:40]}" is no shape: type numbers, as (2, 3, 5)')
    return tuple(map(int, re.findall(r"\d+", inside)))
