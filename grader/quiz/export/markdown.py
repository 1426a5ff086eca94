"""Questions to read or to print: first all of them, then all answers, so that one can be had without the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.quiz.bank.bank import Bank
from grader.quiz.export.cards import Card, Exported, how, numbered, right, wrong
from grader.quiz.kinds.kind import lettered
from grader.quiz.model import OpenQuestion, Question

_CODE = re.compile(r"(`[^`\n]+`)")
_SPECIAL = re.compile(r"([\\*<\[\]]|(?<!\w)_|_(?!\w))")
_BEGINS = re.compile(r"^(\d*)([#>+=]|(?<=\d)[.)](?=\s))", re.M)  # a heading, a quotation, a list


def markdown(_bank: Bank, cards: Sequence[Card]) -> Exported:
    """One document; questions are numbered through, and answers have the same numbers."""
    lines = ["# Questions", ""]
    answers = ["# Answers", ""]
    title = ""
    for number, card in enumerate(cards, 1):
        if card.topic.title != title:
            title = card.topic.title
            lines += [f"## {_plain(title)}", ""]
            answers += [f"## {_plain(title)}: answers", ""]
        lines += [f"### {number}", "", *_asked(card)]
        answers += [f"### {number}: answer", "", *_answered(_bank, card), f"`{card.id}`", ""]
    return Exported("\n".join([*lines, *answers]).rstrip() + "\n", len(cards))


def _asked(card: Card) -> Iterator[str]:
    if card.opened:
        yield from (_prose(card.opened.asks), "", "*In your own words.*", "")
        return
    assert card.question is not None
    question = card.question
    yield from (_prose(question.text), "")
    yield from _fenced(numbered(question.code) if question.kind == "bug" else question.code, question.kind != "bug")
    named = question.details.get("blanks", ()) or question.details.get("lefts", ())
    yield from _listed(f"{number}. {_plain(text)}" for number, text in enumerate(named, 1))
    yield from _listed(f"- **{letter}** {_plain(option.text)}" for letter, option in lettered(question.options))
    yield from (f"*{_plain(how(question))}*", "")


def _answered(bank: Bank, card: Card) -> Iterator[str]:
    if card.opened:
        yield from _open(card.opened)
        return
    assert card.question is not None
    yield from _right(card.question)
    yield from (_prose(card.question.explain), "")
    yield from _listed(f"- {_plain(answer)}: {_plain(text)}" for answer, text in wrong(bank, card.question))
    yield from _fenced(card.question.prove, True)


def _right(question: Question) -> Iterator[str]:
    parts = right(question)
    if len(parts) == 1:
        yield from (f"**{_plain(parts[0])}**", "")
    else:
        yield from _listed(f"- {_plain(part)}" for part in parts)


def _open(question: OpenQuestion) -> Iterator[str]:
    yield from ("A full answer", "")
    yield from _listed(f"- {_plain(point.says)}" for point in question.key_points)
    yield from (_prose(question.model_answer), "")


def _listed(lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    yield from [*found, ""] if found else []


def _fenced(code: str, python: bool) -> Iterator[str]:
    if code:
        fence = "````" if "```" in code else "```"
        yield from (f"{fence}{'python' if python else 'text'}", code, fence, "")


def _prose(text: str) -> str:
    """Paragraphs and lists as they stand, with nothing in them that Markdown would take for its own."""
    pieces = _CODE.split(text.strip())
    return "".join(each if at % 2 else _escaped(each) for at, each in enumerate(pieces))


def _plain(text: str) -> str:
    """A text in one line."""
    return _prose(" ".join(text.split()))


def _escaped(text: str) -> str:
    return _BEGINS.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", text))
