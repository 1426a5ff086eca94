"""Write questions to read or print: first all questions, then all answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.quiz.bank.bank import Bank
from grader.quiz.export.cards import Card, Export, number_lines, right_answer_lines, wrong_answers
from grader.quiz.kinds import KINDS
from grader.quiz.kinds.kind import letter_options
from grader.quiz.model import OpenQuestion, Question

_CODE = re.compile(r"(`[^`\n]+`)")
_SPECIAL = re.compile(r"([\\*<\[\]]|(?<!\w)_|_(?!\w))")
_BEGINS = re.compile(r"^(\d*)([#>+=]|(?<=\d)[.)](?=\s))", re.M)  # a heading, a quotation, a list


def to_markdown(bank: Bank, cards: Sequence[Card]) -> Export:
    """Write one document; a question and its answer have the same number."""
    lines = ["# Questions", ""]
    answers = ["# Answers", ""]
    title = ""
    for number, card in enumerate(cards, 1):
        if card.topic.title != title:
            title = card.topic.title
            lines += [f"## {_escape_line(title)}", ""]
            answers += [f"## {_escape_line(title)}: answers", ""]
        lines += [f"### {number}", "", *_question_lines(card)]
        answers += [f"### {number}: answer", "", *_answer_lines(bank, card), f"`{card.id}`", ""]
    return Export("\n".join([*lines, *answers]).rstrip() + "\n", len(cards))


def _question_lines(card: Card) -> Iterator[str]:
    if card.opened:
        yield from (_escape_text(card.opened.asks), "", "*In your own words.*", "")
        return
    assert card.question is not None
    question = card.question
    yield from (_escape_text(question.text), "")
    yield from _fence(number_lines(question.code) if question.kind == "bug" else question.code, question.kind != "bug")
    named = question.details.get("blanks", ()) or question.details.get("lefts", ())
    yield from _list_lines(f"{number}. {_escape_line(text)}" for number, text in enumerate(named, 1))
    yield from _list_lines(
        f"- **{letter}** {_escape_line(option.text)}" for letter, option in letter_options(question.options)
    )
    yield from (f"*{_escape_line(KINDS[question.kind].instructions(question))}*", "")


def _answer_lines(bank: Bank, card: Card) -> Iterator[str]:
    if card.opened:
        yield from _open_answer(card.opened)
        return
    assert card.question is not None
    yield from _right_answer(card.question)
    yield from (_escape_text(card.question.explain), "")
    yield from _list_lines(
        f"- {_escape_line(answer)}: {_escape_line(text)}" for answer, text in wrong_answers(bank, card.question)
    )
    yield from _fence(card.question.prove, True)


def _right_answer(question: Question) -> Iterator[str]:
    parts = right_answer_lines(question)
    if len(parts) == 1:
        yield from (f"**{_escape_line(parts[0])}**", "")
    else:
        yield from _list_lines(f"- {_escape_line(part)}" for part in parts)


def _open_answer(question: OpenQuestion) -> Iterator[str]:
    yield from ("A full answer", "")
    yield from _list_lines(f"- {_escape_line(point.says)}" for point in question.key_points)
    yield from (_escape_text(question.model_answer), "")


def _list_lines(lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    yield from [*found, ""] if found else []


def _fence(code: str, python: bool) -> Iterator[str]:
    if code:
        fence = "````" if "```" in code else "```"
        yield from (f"{fence}{'python' if python else 'text'}", code, fence, "")


def _escape_text(text: str) -> str:
    """Escape paragraphs and lists for Markdown, except `code`."""
    pieces = _CODE.split(text.strip())
    return "".join(each if at % 2 else _escape(each) for at, each in enumerate(pieces))


def _escape_line(text: str) -> str:
    """Escape a text, and put it into one line."""
    return _escape_text(" ".join(text.split()))


def _escape(text: str) -> str:
    return _BEGINS.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", text))
